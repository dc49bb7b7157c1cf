"""Whatever a browser, a proxy or a provider sends as a name: a person or one line, never an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attacking import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import HTTPConnection
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from propcite.app.settings import load_settings
from propcite.ui.people.sign_in import OpenIdSignIn, ProxySignIn, SignIn, page_key

KEY = "the page's key"
COOKIE = "_streamlit_user"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def asking(headers: list[tuple[bytes, bytes]], client: tuple[str, int] | None = ("127.0.0.1", 1)) -> HTTPConnection:
    return HTTPConnection({"type": "http", "headers": headers, "client": client})


def cookie(content: str) -> list[tuple[bytes, bytes]]:
    return [(b"cookie", f"{COOKIE}=".encode() + create_signed_value(KEY, COOKIE, content))]


@settings(max_examples=EXAMPLES * 4, deadline=None)
@given(st.binary(max_size=200))
def test_no_cookie_breaks_the_sign_in_or_signs_in(value: bytes) -> None:
    for headers in ([(b"cookie", value)], [(b"cookie", f"{COOKIE}=".encode() + value)]):
        assert isinstance(OpenIdSignIn("email", KEY).person_of(asking(headers)), str)


@settings(max_examples=EXAMPLES * 4, deadline=None)
@given(JSON, JSON, JSON, JSON)
def test_claims_of_any_kind_name_a_person_or_nobody(email: Any, iat: Any, logged_in: Any, verified: Any) -> None:
    claims = {"email": email, "iat": iat, "is_logged_in": logged_in, "email_verified": verified}
    for content in (json.dumps(claims), json.dumps(email), json.dumps([claims])):
        found = OpenIdSignIn("email", KEY).person_of(asking(cookie(content)))
        if isinstance(found, SignIn):
            assert logged_in
            assert verified is not False
            assert found.person
            assert found.started is not None


@settings(max_examples=EXAMPLES * 4, deadline=None)
@given(st.binary(max_size=300), st.text(max_size=40))
def test_no_header_breaks_the_sign_in_and_only_the_proxy_signs_in(name: bytes, host: str) -> None:
    method = ProxySignIn(load_settings(page_proxies=["10.9.8.0/24"]))
    headers = [(b"remote-user", name)]
    assert isinstance(method.person_of(asking(headers, (host, 1))), str) or host.startswith("10.9.8.")
    assert isinstance(method.person_of(asking(headers, None)), str)
    found = method.person_of(asking(headers, ("::ffff:10.9.8.7", 1)))
    if isinstance(found, SignIn):
        assert found.person.isprintable()
        assert found.person == found.person.strip()


def test_the_key_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    key = page_key(tmp_path)
    assert len(key) == 64
    assert page_key(tmp_path) == key
    assert (tmp_path / "page.key").stat().st_mode & 0o077 == 0
    assert [file.name for file in tmp_path.iterdir()] == ["page.key"]
