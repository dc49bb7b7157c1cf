"""Attacks on the page with sign-in by OpenID Connect: without a sign-in, with a forged or ended one, without a role."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from shared_library import ADA, BEN, EVE, OURS, SECRET, THEIRS, SharedLibrary, shared_library
from signing_in import cookies, drawn, is_refused, page_of, provider, sent, signed_in, stream, visitor
from sqlalchemy import update
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.exceptions import ConnectionClosed

from propcite.app.library.store import Scope
from propcite.app.library.store.tables import SignInRow
from propcite.ui.people.visitor import PERSON_HEADER

COOKIE = "_streamlit_user"
VIEWS = ("", "ask", "cite", "search", "library", "evaluate", "audit")
OPEN = "_stcore/health"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedLibrary]:
    with shared_library(tmp_path_factory.mktemp("people")) as library:
        yield library


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    unverified = {"mallory": {"email": ADA, "email_verified": False}}
    with provider(unverified) as address:
        yield address


@pytest.fixture(scope="module")
def address(library: SharedLibrary, issuer: str) -> Iterator[str]:
    with page_of(Path(library.parts.settings.data_dir), issuer) as address:
        yield address


def is_in(client: httpx.Client) -> bool:
    """Return whether the client gets the page, and not one line."""
    return client.get("/").status_code == 200


def test_nobody_gets_anything_without_a_sign_in(address: str, library: SharedLibrary) -> None:
    client = visitor(address)
    sources = [f"source/{library.documents[OURS]}/{what}" for what in ("file", "reading", "page/1")]
    for path in (
        *VIEWS, *sources, "_stcore/host-config", "_stcore/metrics", "_stcore/script-health-check", "media/x.pdf",
        "component/x/y", "_stcore/bidi-components/x/y", "app/static/x", "static/x.js", "_stcore/stream", "nothing",
        "./_stcore/health/../../library", "/_stcore/health", "_stcore/health/", "_stcore%2Fhealth/x", "auth/login/x",
        "oauth2callback/", "_stcore/upload_file/a/b", "AUTH/LOGIN",
    ):  # fmt: skip
        got = client.get(f"{address}/{path}")
        assert (got.status_code, path) == (401, path)
        assert "Sign in to use PropCite." in got.text
        assert OURS not in got.text
        plain = client.get(f"{address}/{path}", headers={"Accept": "*/*"})
        assert plain.text == "Sign in to use PropCite."
    for method in ("PUT", "POST", "DELETE", "OPTIONS", "HEAD"):
        assert client.request(method, "/_stcore/upload_file/a/b").status_code == 401
    assert is_refused(address, {})
    assert client.get(f"/{OPEN}").text == "ok"


def test_a_person_sees_what_is_shared_with_them_and_nothing_else(address: str, library: SharedLibrary) -> None:
    ada = signed_in(address, ADA)
    with stream(address, cookies(ada)) as page:
        shown = "".join(drawn(page, view) for view in VIEWS)
        assert OURS in shown
        assert SECRET not in shown
        for deed in ("Add documents", "Remove it for good", "New collection", "Delete permanently", "Shared with"):
            assert deed not in shown
        asked = f"answer={library.answers[THEIRS]}"
        for view, query in (("ask", asked), ("cite", asked), ("library", f"document={library.documents[THEIRS]}")):
            refusal = drawn(page, view, query)
            assert SECRET not in refusal
        never = drawn(page, "ask", "answer=feedbeef0123")
        foreign = drawn(page, "ask", asked)
        assert "is not shared with you" in foreign
        assert "is not shared with you" in never
        assert "Measure a file" not in drawn(page, "evaluate")
    with stream(address, cookies(signed_in(address, BEN))) as page:
        shown = "".join(drawn(page, view) for view in VIEWS)
        assert SECRET in shown
        assert "Measure a file" in shown
        assert "Shared with" in shown


def test_a_file_of_another_collection_is_as_one_that_never_was(address: str, library: SharedLibrary) -> None:
    ada, ben = signed_in(address, ADA), signed_in(address, BEN)
    for what in ("file", "reading", "page/1"):
        foreign, never = (f"/source/{id_}/{what}" for id_ in (library.documents[THEIRS], "feedbeef0123"))
        got, none = ada.get(foreign), ada.get(never)
        assert (got.status_code, none.status_code) == (404, 404)
        assert got.text.replace(library.documents[THEIRS], "") == none.text.replace("feedbeef0123", "")
    assert ada.get(f"/source/{library.documents[OURS]}/reading").status_code == 200
    assert SECRET in ben.get(f"/source/{library.documents[THEIRS]}/reading").text
    assert SECRET not in ada.get(f"/source/{library.documents[OURS]}/file").text


def test_somebody_without_a_role_gets_one_line(address: str, library: SharedLibrary) -> None:
    eve = signed_in(address, EVE)
    for path in ("/", "/library", f"/source/{library.documents[OURS]}/file", "/media/x", "/_stcore/host-config"):
        got = eve.get(path)
        assert got.status_code == 403
        assert f"{EVE} has no role here" in got.text
        assert OURS not in got.text
    assert is_refused(address, cookies(eve))


def test_the_header_of_the_gate_cannot_be_brought_along(address: str, library: SharedLibrary) -> None:
    forged = {PERSON_HEADER: BEN, PERSON_HEADER.lower(): BEN, "Remote-User": BEN, "X-Forwarded-User": BEN}
    assert visitor(address).get("/", headers=forged).status_code == 401
    assert is_refused(address, forged)
    ada = signed_in(address, ADA)
    theirs = f"/source/{library.documents[THEIRS]}/reading"
    assert ada.get(theirs, headers=forged).status_code == 404
    twice = [(PERSON_HEADER, BEN), (PERSON_HEADER, BEN), ("Cookie", cookies(ada)["Cookie"])]
    assert httpx.get(address + theirs, headers=twice).status_code == 404
    with stream(address, {**cookies(ada), **forged}) as page:
        assert SECRET not in drawn(page, "library")


def test_a_forged_cookie_opens_nothing(address: str) -> None:
    claims = f'{{"email": "{BEN}", "iat": {int(datetime.now(UTC).timestamp())}, "is_logged_in": true}}'
    real = signed_in(address, ADA).cookies[COOKIE]
    body, dot, rest = real.partition(".")
    for value in (
        claims,
        create_signed_value("", COOKIE, claims).decode(),
        create_signed_value("another key", COOKIE, claims).decode(),
        f"{create_signed_value('another key', COOKIE, claims).decode().partition('.')[0]}{dot}{rest}",
        f"{body[:-2]}AA{dot}{rest}",
        real[:-1],
        "chunks-999999999",
        "",
    ):
        assert not is_in(httpx.Client(base_url=address, headers={"Cookie": f"{COOKIE}={value}"}))
    assert is_in(httpx.Client(base_url=address, headers={"Cookie": f"{COOKIE}={real}"}))
    other = {"Cookie": f"{COOKIE}_tokens={real}; _streamlit_session={real}"}
    assert not is_in(httpx.Client(base_url=address, headers=other))


def began(client: httpx.Client) -> str:
    """Begin to sign in; return the address at the provider to which the page leads."""
    token = client.get("/sign-in", follow_redirects=False).headers["location"]
    return client.get(token, follow_redirects=False).headers["location"]


def back(at_provider: str, person: str) -> str:
    """Sign in at the provider; return the address of the page to which it leads back."""
    return httpx.post(at_provider, data={"sub": person}).headers["location"]


def changed(address: str, **fields: str) -> str:
    parts = urlsplit(address)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    return parts._replace(query=urlencode({**query, **fields})).geturl()


def test_a_sign_in_that_somebody_else_began_is_refused(address: str) -> None:
    """An attacker signs in and sends a victim the last step; or sends a code with a state of their own."""
    attacker, victim = visitor(address), visitor(address)
    step = back(began(attacker), BEN)
    victim.get(step)
    assert not is_in(victim)
    began(victim)
    victim.get(step)
    assert not is_in(victim)
    state = parse_qs(urlsplit(began(victim)).query)["state"][0]
    victim.get(changed(back(began(attacker), BEN), state=f"{state}x"))
    assert not is_in(victim)
    for query in ("", "?state=", "?code=x", "?code=x&state=y", "?error=access_denied&state=%0d%0aSet-Cookie:x"):
        victim.get(f"/oauth2callback{query}")
        assert not is_in(victim)


def test_a_token_with_a_foreign_nonce_or_audience_is_refused(address: str) -> None:
    for change in ({"nonce": "a nonce of another sign-in"}, {"client_id": "another application"}):
        client = visitor(address)
        client.get(back(changed(began(client), **change), BEN))
        assert not is_in(client)
    client = visitor(address)
    step = back(began(client), BEN)
    client.get(step)
    assert is_in(client)
    again = visitor(address)
    again.cookies.update({name: value for name, value in client.cookies.items() if "user" not in name})
    again.get(step)  # a code opens once
    assert not is_in(again)


def test_an_address_that_the_provider_has_not_verified_is_nobodys(address: str) -> None:
    mallory = signed_in(address, "mallory")
    got = mallory.get("/")
    assert got.status_code == 403
    assert "not verified" in got.text


def test_a_cookie_is_of_no_use_after_signing_out(address: str) -> None:
    ada = signed_in(address, ADA)
    stolen = cookies(ada)
    with stream(address, stolen) as page:
        drawn(page, "library")
        ada.get("/auth/logout")
        assert not is_in(ada)
        assert drawn(page, "library") == "away to /"
    assert httpx.get(address, headers=stolen).status_code == 401
    assert is_refused(address, stolen)


def test_a_sign_in_ends_without_use_also_on_an_open_page(address: str, library: SharedLibrary) -> None:
    ada = signed_in(address, ADA)
    with stream(address, cookies(ada)) as page:
        drawn(page, "library")
        with library.parts.library.session() as session:
            session.execute(update(SignInRow).values(last_used_at=datetime.now(UTC) - timedelta(minutes=61)))
        assert drawn(page, "library") == "away to /"
        with pytest.raises(ConnectionClosed):
            sent(page)
    got = ada.get("/")
    assert got.status_code == 401
    assert "Your sign-in has ended" in got.text
    assert not is_in(ada)  # asking again revives nothing


def test_a_role_that_is_taken_away_is_gone_at_once(address: str, library: SharedLibrary) -> None:
    people, ours = library.parts.people, library.parts.library.collection(OURS)
    who = "zoe@propcite.example"
    people.grant(who, Scope.ADMIN, ours)
    zoe = signed_in(address, who)
    with stream(address, cookies(zoe)) as page:
        assert "Delete the collection" in drawn(page, "library")
        people.grant(who, Scope.READ, ours)
        assert drawn(page, "library") == "away to /"
    with stream(address, cookies(zoe)) as page:
        assert "Delete the collection" not in drawn(page, "library")
        people.revoke(who, ours)
        assert sent(page) == "away to /"  # without any press
    assert zoe.get(f"/source/{library.documents[OURS]}/file").status_code == 403
    assert is_refused(address, cookies(zoe))


def test_what_people_do_is_logged_without_secrets(address: str, library: SharedLibrary) -> None:
    signed_in(address, EVE)
    signed_in(address, ADA).get("/auth/logout")
    found = library.parts.audit.find(limit=1000).items
    assert {(ADA, "signed in"), (ADA, "signed out"), (EVE, "signed in")} <= {(one.who, one.action) for one in found}
    log = (Path(library.parts.settings.data_dir) / "server.log").read_text()
    for said in (log, str(found)):
        assert "a secret of the provider" not in said
        assert not re.search(r"eyJ[\w-]{20,}", said)  # a token
        assert COOKIE + "=" not in said
