"""Attacks on links to documents: changed letters, borrowed signatures, words of other collections, nonsense."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from itsdangerous.encoding import base64_decode, base64_encode
from serving import running_server

from propcite.app.ingest.sources import Upload
from propcite.app.library.store import Scope
from propcite.app.parts import Parts

QUICK = {"judge": "none", "splitter": "rules"}
PUBLIC = "https://propcite.example"
SECRET = "zebra"
OURS, THEIRS = "ours", f"{SECRET}-theirs"
REUSED = {"suppress_health_check": [HealthCheck.function_scoped_fixture]}


@pytest.fixture
def parts(open_parts: Callable[..., Parts]) -> Parts:
    parts = open_parts(**QUICK, collection=OURS, public_address=PUBLIC)
    for name in (OURS, THEIRS):
        upload = Upload(f"{name}.txt", f"The gate of {name} is shut.".encode())
        list(parts.ingester(parts.library.create_collection(name)).ingest([upload]))
    return parts


@pytest.fixture
def address(parts: Parts) -> Iterator[str]:
    with running_server(parts, requires_keys=True) as address:
        yield address


def document(parts: Parts, name: str) -> str:
    return parts.library.documents(parts.library.collection(name))[0].id


def cite(parts: Parts, address: str, name: str, *collections: str, **more: object) -> str:
    """Return what a key for these collections gets when it cites a collection's own words."""
    key = parts.keys.create("attacker", Scope.READ, collections)[1]
    body = {"answer": f"The gate of {name} is shut.", **more}
    return httpx.post(f"{address}/v1/cite", json=body, headers={"Authorization": f"Bearer {key}"}, timeout=60).text


def token(parts: Parts, address: str, name: str) -> str:
    answer = json.loads(cite(parts, address, name, collection=name))
    link: str = answer["sentences"][0]["citations"][0]["link"]
    return link.removeprefix(f"{PUBLIC}/reading/").removesuffix("#cited")


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    """Keep one connection: a thousand altered links are opened."""
    with httpx.Client() as client:
        yield client


def opened(http: httpx.Client, address: str, token: str) -> httpx.Response:
    return http.get(f"{address}/reading/{token}")


def test_a_link_with_another_document_words_or_end_opens_nothing(
    parts: Parts, address: str, http: httpx.Client
) -> None:
    good, other = token(parts, address, OURS), token(parts, address, THEIRS)
    assert opened(http, address, good).status_code == 200
    payload, signature = good.split(".")
    fields = json.loads(base64_decode(payload))
    changes = [(0, document(parts, THEIRS)), (1, fields[1] + 1), (2, fields[2] + 1), (3, fields[3] + 86_400), (3, 0)]
    for place, value in changes:
        changed = [*fields[:place], value, *fields[place + 1 :]]
        forged = base64_encode(json.dumps(changed, separators=(",", ":"))).decode()
        response = opened(http, address, f"{forged}.{signature}")
        assert response.status_code == 403
        assert SECRET not in response.text
    assert opened(http, address, f"{payload}.{other.split('.')[1]}").status_code == 403
    for place in range(len(good)):
        for letter in "Aa0-_.":
            changed = good[:place] + letter + good[place + 1 :]
            if changed != good:
                assert opened(http, address, changed).status_code in (403, 404), changed


def test_no_key_gets_a_link_to_what_it_may_not_read(parts: Parts, address: str, http: httpx.Client) -> None:
    theirs = document(parts, THEIRS)
    passage = {"id": f"{theirs}:0", "document_id": theirs, "text": f"The gate of {THEIRS} is shut."}
    for more in ({"passages": [passage]}, {"passages": [passage], "collection": OURS}):
        for form in ("json", "markdown", "html", "openai", "openai-chat"):
            text = cite(parts, address, THEIRS, OURS, **more, format=form)
            links = [part.partition('"')[0] for part in text.split(f"{PUBLIC}/reading/")[1:]]
            assert not any(SECRET in opened(http, address, link.partition("#")[0]).text for link in links), form


@settings(**REUSED)
@given(nonsense=st.text(min_size=1, max_size=200))
def test_nonsense_opens_nothing(address: str, http: httpx.Client, nonsense: str) -> None:
    quoted = httpx.URL(address).copy_with(raw_path=b"/reading/" + quote(nonsense))
    response = http.get(quoted)
    assert 400 <= response.status_code < 500
    assert "\n" not in response.json()["detail"]


def quote(text: str) -> bytes:
    return "".join(f"%{byte:02X}" for byte in text.encode(errors="replace")).encode()
