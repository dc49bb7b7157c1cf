"""Drafts under review over HTTP: sent, watched, decided on, taken along; keys see the drafts of their collections."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

import docx
import httpx
import pytest

from propcite.app.library.store import Keys, Library, Scope

DOCUMENTS = {
    "harbour": {"ferry.txt": "The ferry crosses the estuary every 20 minutes."},
    "other": {"a.txt": "It rains."},
}
DRAFT = "The ferry crosses the estuary every 30 minutes. It is made of gold."


@pytest.fixture
def http(serve: Callable[..., str]) -> httpx.Client:
    return httpx.Client(base_url=serve(DOCUMENTS, collection="harbour"), timeout=60)


def word_file(text: str = DRAFT) -> bytes:
    document: Any = docx.Document()
    document.add_paragraph(text)
    saved = io.BytesIO()
    document.save(saved)
    return saved.getvalue()


def sent(http: httpx.Client, name: str = "draft.docx", data: bytes | None = None, **query: str) -> httpx.Response:
    return http.post("/v1/reviews", files={"file": (name, word_file() if data is None else data)}, params=query)


def ended(http: httpx.Client, place: str) -> dict[str, Any]:
    for _ in range(1200):
        info: dict[str, Any] = http.get(place).json()
        if info["state"] != "citing":
            return info
        time.sleep(0.05)
    pytest.fail("the citing does not end")


def test_a_draft_is_cited_decided_on_and_taken_along(http: httpx.Client) -> None:
    begun = sent(http)
    assert begun.status_code == 202, begun.text
    place = begun.headers["Location"]
    info = ended(http, place)
    assert (info["state"], info["share"], info["num_facts"], info["name"]) == ("done", 1.0, 2, "draft.docx")
    assert http.get(f"/v1/answers/{info['answer_id']}").json()["text"] == DRAFT
    facts = http.get(f"{place}/facts").json()["facts"]
    assert [fact["verdict"] for fact in facts] == ["contradicted", "unsupported"]
    assert facts[0]["quotes"][0]["quote"] == "The ferry crosses the estuary every 20 minutes."
    change = {"fact": 1, "choice": "changed", "words": "every 20 minutes", "by": "ada"}
    decided = http.post(f"{place}/decisions", json=change)
    assert decided.status_code == 201
    assert (decided.json()["choice"], decided.json()["by"]) == ("changed", "ada")
    assert [f["number"] for f in http.get(f"{place}/facts", params={"choice": "open"}).json()["facts"]] == [2]
    word = http.get(f"{place}/document")
    assert "draft-reviewed.docx" in word.headers["Content-Disposition"]
    document: Any = docx.Document(io.BytesIO(word.content))
    assert [paragraph.text for paragraph in document.paragraphs] == [DRAFT]
    assert "every 20 minutes" in next(iter(document.comments)).text
    markdown = http.get(f"{place}/document", params={"format": "markdown", "verdict": "unsupported"}).text
    assert "[^fact-2]:" in markdown
    assert "[^fact-1]:" not in markdown
    assert [one["id"] for one in http.get("/v1/reviews").json()["reviews"]] == [info["id"]]
    assert http.post(f"{place}/cancel").json()["state"] == "done"
    assert http.post(f"{place}/restart").status_code == 202
    assert ended(http, place)["num_decided"] == 1
    assert http.delete(place).status_code == 204
    assert http.get(place).status_code == 404


def test_all_facts_that_nobody_decided_on_are_decided_in_one_call(http: httpx.Client) -> None:
    place = sent(http, data=word_file(f"{DRAFT} The ferry crosses the estuary every 20 minutes.")).headers["Location"]
    assert ended(http, place)["num_facts"] == 3
    http.post(f"{place}/decisions", json={"fact": 1, "choice": "rejected"})
    supported = {"choice": "accepted", "verdicts": ["supported", "contradicted"], "note": "read", "by": "ada"}
    made = http.post(f"{place}/decisions/all", json=supported)
    assert (made.status_code, made.json()["decided"], made.json()["review"]["num_decided"]) == (201, 1, 2)
    assert http.post(f"{place}/decisions/all", json={"choice": "rejected"}).json()["decided"] == 1
    facts = http.get(f"{place}/facts").json()["facts"]
    assert [(fact["choice"], fact["note"]) for fact in facts] == [
        ("rejected", ""),
        ("rejected", ""),
        ("accepted", "read"),
    ]
    assert facts[2]["by"] == "ada"
    for wrong in ({"choice": "changed"}, {"choice": "open"}, {"choice": "accepted", "verdicts": ["green"]}):
        assert http.post(f"{place}/decisions/all", json=wrong).status_code == 422
    assert http.post("/v1/reviews/nothing/decisions/all", json={"choice": "accepted"}).status_code == 404


@pytest.mark.parametrize(
    ("name", "data", "query", "line"),
    [
        ("draft.zip", b"PK", {}, "send one of"),
        ("draft.docx", b"no word file", {}, "draft.docx"),
        ("draft.md", b"It rains.", {"collection": "nothing"}, "nothing"),
    ],
)
def test_bad_drafts_are_refused_and_not_kept(
    http: httpx.Client, name: str, data: bytes, query: dict[str, str], line: str
) -> None:
    refused = sent(http, name, data, **query)
    assert line in refused.json()["detail"]
    assert 400 <= refused.status_code < 500
    assert http.get("/v1/reviews").json()["reviews"] == []


def test_bad_decisions_are_refused(http: httpx.Client) -> None:
    place = sent(http).headers["Location"]
    ended(http, place)
    for body in ({"fact": 9, "choice": "accepted"}, {"fact": 1, "choice": "changed"}, {"fact": 1, "choice": "eaten"}):
        assert 400 <= http.post(f"{place}/decisions", json=body).status_code < 500


def test_keys_see_the_drafts_of_their_collections(serve: Callable[..., str], tmp_path: Any) -> None:
    address = serve(DOCUMENTS, requires_keys=True, collection="harbour")
    library = Library(f"sqlite:///{tmp_path / 'data' / 'propcite.sqlite'}")
    assert library.collections()
    keys = Keys(library)
    ours, theirs = (keys.create(name, Scope.READ, [name])[1] for name in ("harbour", "other"))
    us, them = (
        httpx.Client(base_url=address, timeout=60, headers={"Authorization": f"Bearer {key}"}) for key in (ours, theirs)
    )
    place = sent(us).headers["Location"]
    assert ended(us, place)["by"] == "harbour"
    assert them.get(place).status_code == 404
    assert them.get("/v1/reviews").json()["reviews"] == []
    assert sent(them).status_code == 404
    assert us.delete(place).status_code == 403
    library.close()
