"""Over HTTP: keys of people to whom collections are shared, and the audit log for admins."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from serving import running_server

from propcite.app.ingest.sources import Upload
from propcite.app.library.store import Action, Scope, Via
from propcite.app.parts import Parts

ADA = "ada@propcite.example"


@pytest.fixture
def parts(open_parts: Callable[..., Parts]) -> Parts:
    parts = open_parts(judge="none", splitter="rules", collection="ours")
    for name in ("ours", "theirs"):
        list(parts.ingester(parts.library.create_collection(name)).ingest([Upload("a.txt", b"The gate is shut.")]))
    return parts


@pytest.fixture
def http(parts: Parts) -> Iterator[httpx.Client]:
    with running_server(parts, requires_keys=True) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def bearer(parts: Parts, name: str, scope: Scope, *collections: str, owner: str = "") -> dict[str, str]:
    return {"Authorization": f"Bearer {parts.keys.create(name, scope, collections, owner)[1]}"}


def test_a_persons_key_opens_what_is_shared_with_them_as_far_as_their_role_goes(
    http: httpx.Client, parts: Parts
) -> None:
    ours, theirs = (parts.library.collection(name) for name in ("ours", "theirs"))
    key = bearer(parts, "ada's", Scope.ADMIN, owner=ADA)
    assert http.get("/v1/collections", headers=key).json() == {"collections": []}
    parts.people.grant(ADA, Scope.READ, ours)
    parts.people.grant(ADA, Scope.WRITE, theirs)
    names = [one["name"] for one in http.get("/v1/collections", headers=key).json()["collections"]]
    assert names == ["ours", "theirs"]
    document, other = (parts.library.documents(collection)[0].id for collection in (ours, theirs))
    place = {"params": {"collection": "ours"}, "headers": key}
    assert http.get(f"/v1/documents/{document}/reading", **place).status_code == 200
    for refused in (
        http.delete(f"/v1/documents/{document}", **place),
        http.patch(f"/v1/documents/{document}", json={"tags": ["x"]}, **place),
        http.post("/v1/documents", files={"files": ("b.txt", b"x")}, **place),
        http.delete("/v1/collections/ours", headers=key),
        http.delete("/v1/collections/theirs", headers=key),
    ):
        assert refused.status_code == 403
        assert "the owner of this key may" in refused.json()["detail"]
    kept = http.post("/v1/cite", json={"answer": "The gate is shut.", "keep": True}, headers=key).json()["id"]
    assert http.delete(f"/v1/answers/{kept}", headers=key).status_code == 403
    assert http.delete(f"/v1/documents/{other}", params={"collection": "theirs"}, headers=key).status_code == 200
    assert http.get("/v1/doctor", headers=key).json() == {"healthy": True, "findings": []}
    assert http.get("/metrics", headers=key).status_code == 403
    parts.people.revoke(ADA, ours)
    assert http.get("/v1/documents", **place).status_code == 404
    parts.people.grant(ADA, Scope.ADMIN)
    assert http.get("/metrics", headers=key).status_code == 200


def test_what_is_done_over_http_is_logged_and_listed_for_admins(http: httpx.Client, parts: Parts) -> None:
    writer, admin = bearer(parts, "chatbot", Scope.WRITE), bearer(parts, "boss", Scope.ADMIN)
    document = parts.library.documents(parts.library.collection("ours"))[0].id
    asked = http.post("/v1/ask", json={"question": "Is the gate shut?"}, headers=writer).json()["id"]
    cited = http.post("/v1/cite", json={"answer": "The gate is shut.", "keep": True}, headers=writer).json()["id"]
    http.post(f"/v1/answers/{cited}/feedback", json={"fact": 1, "opinion": "right"}, headers=writer)
    http.patch(f"/v1/documents/{document}", json={"tags": ["secret tag"]}, headers=writer)
    http.delete(f"/v1/documents/{document}", headers=writer)
    http.delete(f"/v1/answers/{cited}", headers=writer)
    http.post("/v1/collections", json={"name": "new"}, headers=writer)
    http.delete("/v1/collections/new", headers=admin)
    added = http.post("/v1/documents", files={"files": ("b.txt", b"x")}, headers=writer).json()["id"]
    found = http.get("/v1/audit", headers=admin)
    entries = found.json()["entries"][::-1]
    assert [(one["action"], one["collection"], one["subject"]) for one in entries] == [
        ("asked", "ours", asked), ("cited", "ours", cited), ("gave feedback", "ours", cited),
        ("changed document", "ours", document), ("removed document", "ours", document),
        ("removed answer", "ours", cited), ("created collection", "new", ""), ("removed collection", "new", ""),
        ("added documents", "ours", added),
    ]  # fmt: skip
    assert {one["via"] for one in entries} == {"http"}
    assert entries[0]["who"].startswith("chatbot (key ")
    for hidden in ("gate", "secret tag", writer["Authorization"].removeprefix("Bearer "), "b.txt"):
        assert hidden not in found.text
    assert http.get("/v1/audit", params={"action": "asked", "limit": 1}, headers=admin).json()["total"] == 1
    assert http.get("/v1/audit", params={"who": "boss"}, headers=admin).json()["total"] == 1
    assert http.get("/v1/audit", params={"who": "bos"}, headers=admin).json()["total"] == 0
    assert http.get("/v1/audit", params={"since": "2100-01-01T00:00:00Z"}, headers=admin).json()["total"] == 0
    assert http.get("/v1/audit", params={"action": "ate"}, headers=admin).status_code == 422
    assert http.get("/v1/audit", headers=writer).status_code == 403


def test_an_admin_of_one_collection_reads_the_log_of_that_one(http: httpx.Client, parts: Parts) -> None:
    for name in ("ours", "theirs", ""):
        parts.audit.record("ben", Via.PAGE, Action.SHARED, name, f"in {name}")
    key = bearer(parts, "ours", Scope.ADMIN, "ours")
    assert [one["subject"] for one in http.get("/v1/audit", headers=key).json()["entries"]] == ["in ours"]
    assert http.get("/v1/audit", params={"collection": "theirs"}, headers=key).status_code == 404
    parts.people.grant(ADA, Scope.READ, parts.library.collection("theirs"))
    parts.people.grant(ADA, Scope.ADMIN, parts.library.collection("ours"))
    person = bearer(parts, "ada's", Scope.ADMIN, owner=ADA)
    assert [one["subject"] for one in http.get("/v1/audit", headers=person).json()["entries"]] == ["in ours"]
    assert http.get("/v1/audit", params={"collection": "theirs"}, headers=person).status_code == 403
