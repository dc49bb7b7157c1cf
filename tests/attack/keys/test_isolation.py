"""Attacks with a key of one's own: on other collections, on other people's names, on rights that it lacks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import httpx
import pytest
from serving import running_server

from propcite.app.ingest.sources import Upload
from propcite.app.library.store import Scope
from propcite.app.parts import Parts
from propcite.app.server.application import create_app

QUICK = {"judge": "none", "splitter": "rules"}
SECRET = "zebra"  # what must not be learned: it is in every name of the other collection
OPEN = {"/healthz", "/readyz", "/v1/schemas/{of}"}
NEEDS = {  # the scope of each route; one that is not named here needs to read
    Scope.WRITE: {
        ("post", "/v1/documents"), ("post", "/v1/collections"), ("patch", "/v1/documents/{document_id}"),
        ("delete", "/v1/documents/{document_id}"), ("delete", "/v1/answers/{answer_id}"),
        ("post", "/v1/jobs/{job_id}/cancel"), ("delete", "/v1/reviews/{review_id}"),
    },
    Scope.ADMIN: {
        ("get", "/metrics"), ("get", "/v1/doctor"), ("get", "/v1/audit"), ("delete", "/v1/collections/{name}"),
    },
}  # fmt: skip


@pytest.fixture
def parts(open_parts: Callable[..., Parts]) -> Parts:
    parts = open_parts(**QUICK, collection="ours")
    for name in ("ours", f"{SECRET}-theirs"):
        collection = parts.library.create_collection(name)
        list(parts.ingester(collection).ingest([Upload(f"{name}.txt", f"The gate of {name} is shut.".encode())]))
    return parts


@pytest.fixture
def http(parts: Parts) -> Iterator[httpx.Client]:
    with running_server(parts, requires_keys=True) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def bearer(parts: Parts, name: str, scope: Scope, *collections: str, owner: str = "") -> dict[str, str]:
    return {"Authorization": f"Bearer {parts.keys.create(name, scope, collections, owner)[1]}"}


def damage(parts: Parts, collection: str) -> None:
    """Make the doctor find something in a collection."""
    folder = parts.workspace(parts.library.collection(collection)).folder
    next(folder.glob("*manifest*")).write_text("damaged")


def test_every_route_refuses_a_key_of_a_lesser_scope_and_no_other(http: httpx.Client, parts: Parts) -> None:
    keys = {scope: bearer(parts, scope.value, scope) for scope in Scope}
    refused = 0
    for path, methods in create_app(parts).openapi()["paths"].items():
        for method in methods:
            needed = next((scope for scope, routes in NEEDS.items() if (method, path) in routes), Scope.READ)
            place = re.sub(r"{\w+}", "1", path)
            for scope, key in keys.items():
                is_refused = http.request(method, place, headers=key, json={}).status_code == 403
                assert is_refused is not scope.covers(needed), (method, path, scope)
                refused += is_refused
            if path not in OPEN:
                assert http.request(method, place, json={}).status_code == 401
    assert refused == sum(map(len, NEEDS.values())) + len(NEEDS[Scope.ADMIN])  # a key of scope write too


def test_an_admin_of_one_collection_learns_nothing_of_another(http: httpx.Client, parts: Parts) -> None:
    damage(parts, f"{SECRET}-theirs")
    whole = http.get("/v1/doctor", headers=bearer(parts, "all", Scope.ADMIN)).json()
    assert SECRET in str(whole["findings"])
    for key in (
        bearer(parts, "ours", Scope.ADMIN, "ours"),
        bearer(parts, "gone", Scope.ADMIN, "no-such-collection"),
        bearer(parts, "owner", Scope.ADMIN, owner="an owner without collections"),
    ):
        seen = http.get("/v1/doctor", headers=key)
        assert seen.json() == {"healthy": True, "findings": []}
        assert http.get("/metrics", headers=key).status_code == 403
        assert SECRET not in http.get("/v1/collections", headers=key).text
    damage(parts, "ours")
    mended = http.get("/v1/doctor", headers=bearer(parts, "ours", Scope.ADMIN, "ours")).json()
    assert {finding["where"] for finding in mended["findings"]} == {"collection ours"}
    assert http.get("/metrics", headers=bearer(parts, "all", Scope.ADMIN)).status_code == 200


def test_a_reader_speaks_for_its_owner_alone(http: httpx.Client, parts: Parts) -> None:
    parts.library.create_collection("anas", "Ana")
    list(parts.ingester(parts.library.collection("anas")).ingest([Upload("a.txt", b"It rained.")]))
    reader, writer = bearer(parts, "chatbot", Scope.READ, owner="Ana"), bearer(parts, "app", Scope.WRITE)
    kept = http.post("/v1/cite", json={"answer": "It rained.", "collection": "anas", "keep": True}, headers=reader)
    assert "sent by Ana" in kept.json()["notes"]
    place = f"/v1/answers/{kept.json()['id']}/feedback"

    def give(opinion: str, key: dict[str, str], **more: str) -> httpx.Response:
        return http.post(place, json={"fact": 1, "opinion": opinion, **more}, headers=key)

    assert give("right", reader).json()["by"] == "Ana"
    assert give("wrong", reader, by="Ana").json()["by"] == "Ana"
    assert give("wrong", reader, by="Ben").status_code == 403
    assert give("right", writer, by="Ben").json()["by"] == "Ben"
    opinions = {one["by"]: one["opinion"] for one in http.get(place, headers=reader).json()["feedback"]}
    assert opinions == {"Ana": "wrong", "Ben": "right"}


def test_passages_do_not_name_documents_of_another_collection(http: httpx.Client, parts: Parts) -> None:
    """A caller says which document a passage is of; an answer shows what the library knows of it."""
    theirs = parts.library.documents(parts.library.collection(f"{SECRET}-theirs"))[0].id
    key = bearer(parts, "ours", Scope.READ, "ours")
    passage = {"text": "The gate is shut.", "id": f"{theirs}:0", "document_id": theirs}
    body = {"answer": "The gate is shut.", "passages": [passage], "collection": "ours", "keep": True}
    answer = http.post("/v1/cite", json=body, headers=key).json()["id"]
    for form in ("json", "html", "markdown", "csv", "bibtex"):
        shown = http.get(f"/v1/answers/{answer}", params={"format": form}, headers=key)
        assert shown.status_code == 200
        assert SECRET not in shown.text


def test_no_spelling_of_a_name_opens_another_collection(http: httpx.Client, parts: Parts) -> None:
    key, theirs = bearer(parts, "ours", Scope.ADMIN, "ours"), f"{SECRET}-theirs"
    for name in (
        theirs,
        theirs.upper(),
        f"{theirs} ",
        f" {theirs}",
        f"ours/../{theirs}",
        f"ours,{theirs}",
        f"{theirs}%00",
    ):
        assert http.get("/v1/documents", params={"collection": name}, headers=key).status_code in (404, 422)
        assert http.post("/v1/search", json={"query": "gate", "collection": name}, headers=key).status_code in (
            404,
            422,
        )
    twice = http.get("/v1/documents", params=[("collection", "ours"), ("collection", theirs)], headers=key)
    assert twice.status_code == 404
    for where in (f"source={theirs}.txt", "title>a"):
        got = http.get("/v1/documents", params={"collection": "ours", "where": where}, headers=key)
        assert SECRET not in got.text.replace(where, "")


def test_nothing_that_is_served_may_be_kept_by_a_shared_cache(http: httpx.Client, parts: Parts) -> None:
    key = bearer(parts, "ours", Scope.READ)
    document = parts.library.documents(parts.library.collection("ours"))[0].id
    paths = [f"/v1/documents/{document}/{what}" for what in ("file", "reading")]
    for path in ("/v1/collections", "/v1/documents", "/v1/answers", "/v1/documents/x/file", *paths):
        for headers in (key, {}):
            got = http.get(path, headers=headers)
            assert got.headers["cache-control"].startswith(("no-store", "private"))
            assert got.headers["x-content-type-options"] == "nosniff"
            assert "frame-ancestors" in got.headers["content-security-policy"]
