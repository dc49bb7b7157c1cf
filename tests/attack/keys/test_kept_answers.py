"""Attacks on answers that others keep: forged in their place, taken to another collection, removed with a draft."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from agent_calls import call
from serving import running_server, wait_until

from propcite.app.errors import InUseError
from propcite.app.ingest.sources import Upload
from propcite.app.library.store import Scope
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer

QUESTION = "What does the gate weigh?"


@pytest.fixture
def parts(open_parts: Callable[..., Parts]) -> Parts:
    parts = open_parts(judge="none", splitter="rules", min_score=0.1, collection="ours")
    collection = parts.library.create_collection("ours")
    list(parts.ingester(collection).ingest([Upload("gate.txt", b"The gate is shut. It weighs 300 tonnes.")]))
    return parts


@pytest.fixture
def http(parts: Parts) -> Iterator[httpx.Client]:
    with running_server(parts, requires_keys=True) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def bearer(parts: Parts, name: str, scope: Scope) -> dict[str, str]:
    return {"Authorization": f"Bearer {parts.keys.create(name, scope, ['ours'])[1]}"}


def forged(answer: dict[str, Any]) -> dict[str, Any]:
    """Return a request whose answer has the id of another, and other quotes at the same places."""
    passages = [
        {"id": one["id"], "document_id": one["document_id"], "text": one["text"].replace("300", "999")}
        for one in answer["passages"]
    ]
    return {"answer": answer["text"], "question": answer["question"], "passages": passages, "collection": "ours"}


def test_a_reader_forges_no_answer_of_others(http: httpx.Client, parts: Parts) -> None:
    reader, owner = bearer(parts, "reader", Scope.READ), bearer(parts, "owner", Scope.WRITE)
    answer = http.post("/v1/ask", json={"question": QUESTION}, headers=owner).json()
    place = f"/v1/answers/{answer['id']}"
    before = http.get(place, headers=owner).json()
    body = forged(answer)
    refused = http.post("/v1/cite", json={**body, "keep": True}, headers=reader)
    assert refused.status_code == 409
    assert "a key of scope write" in refused.json()["detail"]
    key = reader["Authorization"].removeprefix("Bearer ")
    passages = [{"id": one["id"], "text": one["text"]} for one in body["passages"]]
    arguments = {"text": body["answer"], "question": QUESTION, "collection": "ours", "passages": passages, "keep": True}
    said = call(str(http.base_url), "cite", key, **arguments)
    assert said.is_error
    true = {**body, "passages": [{**p, "text": p["text"].replace("999", "300")} for p in body["passages"]]}
    same = http.post("/v1/cite", json={**true, "keep": True}, headers=reader)
    assert (same.status_code, same.json()["id"]) == (200, answer["id"])
    assert http.get(place, headers=owner).json() == before
    replaced = http.post("/v1/cite", json={**body, "keep": True}, headers=owner)
    assert replaced.status_code == 200
    assert "999" in http.get(place, headers=owner).text
    assert "sent by owner" in http.get(place, headers=owner).json()["notes"]


def test_a_reader_may_replace_what_it_kept_itself(http: httpx.Client, parts: Parts) -> None:
    reader = bearer(parts, "reader", Scope.READ)
    body = {"answer": "It weighs 300 tonnes.", "collection": "ours", "keep": True}
    first = http.post("/v1/cite", json={**body, "passages": ["It weighs 300 tonnes."]}, headers=reader).json()
    second = http.post("/v1/cite", json={**body, "passages": ["It weighs 301 tonnes."]}, headers=reader)
    assert (second.status_code, second.json()["id"]) == (200, first["id"])
    assert "301" in http.get(f"/v1/answers/{first['id']}", headers=reader).text


def test_an_answer_with_the_id_of_another_collections_takes_nothing_away(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An id has 48 bits: somebody may search for a text that has a given one."""
    monkeypatch.setattr(CitedAnswer, "id", property(lambda _: "0123456789ab"))
    library, theirs = parts.library, parts.library.create_collection("theirs")
    library.save_answer(theirs, CitedAnswer("It is theirs.", collection="theirs"))
    with pytest.raises(InUseError, match="another collection"):
        library.save_answer(library.collection("ours"), CitedAnswer("It is ours.", collection="ours"))
    assert library.answer("0123456789ab").text == "It is theirs."


@pytest.mark.parametrize("keeps_first", [True, False])
def test_an_answer_that_is_kept_outlives_a_draft_of_the_same_words(
    http: httpx.Client, parts: Parts, keeps_first: bool
) -> None:
    reader, owner = bearer(parts, "reader", Scope.READ), bearer(parts, "owner", Scope.WRITE)
    text = "The gate is shut."

    def keep() -> str:
        sent = {"answer": text, "collection": "ours", "keep": True}
        return str(http.post("/v1/cite", json=sent, headers=owner).json()["id"])

    def draft() -> str:
        id_ = http.post("/v1/reviews", files={"file": ("draft.txt", text.encode())}, headers=reader).json()["id"]
        wait_until(lambda: shown(id_)["state"] == "done", "the draft is not cited")
        return str(id_)

    def shown(id_: str) -> dict[str, Any]:
        found: dict[str, Any] = http.get(f"/v1/reviews/{id_}", headers=reader).json()
        return found

    if keeps_first:
        kept, review = keep(), draft()
    else:
        review, kept = draft(), keep()
    assert shown(review)["answer_id"] == kept
    harbour = parts.library.collection("ours")
    assert parts.library.find_answers(harbour, questions=False).total == 1
    assert http.delete(f"/v1/reviews/{review}", headers=owner).status_code == 204
    assert http.get(f"/v1/answers/{kept}", headers=owner).status_code == 200
    http.delete(f"/v1/reviews/{draft()}", headers=owner)
    assert http.get(f"/v1/answers/{kept}", headers=owner).status_code == 200
