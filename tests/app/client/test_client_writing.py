"""The client's notes and drafts under review, against a real server."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import pytest
from proxied import TEXTS
from serving import parts_with, running_server

from propcite.attribution.citations import Label
from propcite.client import AsyncClient, Client, ServerError

COST = "The barrier cost 410 million euros."
DRAFT = "The barrier cost 400 million euros. It is made of gold."


@pytest.fixture(scope="module")
def address(loaded: dict[str, object], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    parts = parts_with(loaded, {"harbour": TEXTS}, data_dir=tmp_path_factory.mktemp("writing"))
    with running_server(parts) as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client(address, collection="harbour") as client:
        yield client


def test_a_note_is_pinned_written_cited_exported_and_removed(client: Client) -> None:
    answer = client.ask("What did the barrier cost?")
    pinned = client.notes.add(answer=answer.id, fact=1, quote=True)
    assert pinned.pinned is not None
    assert [citation.quote for citation in pinned.pinned.citations] == [COST]
    assert client.notes.add(answer=answer.id, fact=1, quote=True) == pinned
    assert pinned.answer == answer.id
    written = client.notes.change(client.notes.add("Ask again."), COST)
    assert (written.text, written.cited, written.version) == (COST, None, 2)
    cited = client.notes.cite(written.id)
    assert cited.cited is not None
    assert cited.cited.coverage == 1
    assert [note.id for note in client.notes.all()] == [pinned.id, written.id]
    assert COST in client.notes.export().decode()
    assert docx.Document(io.BytesIO(client.notes.export("docx"))).paragraphs
    with pytest.raises(ServerError, match="changed this note meanwhile") as raised:
        client.notes.change(pinned, "late") and client.notes.change(pinned, "later")
    assert raised.value.status == 409
    assert [client.notes.remove(note.id).id for note in client.notes.all()] == [pinned.id, written.id]
    assert "<html" in client.get_record(answer.id)


def test_a_note_on_an_answer_goes_to_its_collection(client: Client, address: str) -> None:
    answer = client.ask("What did the barrier cost?")
    client.create_collection("other")
    with Client(address, collection="other") as other:
        assert other.notes.add("Look.", answer=answer.id).collection == "harbour"
        assert other.notes.add("Look.").collection == "other"


def test_a_draft_is_sent_watched_decided_on_and_taken_along(client: Client, tmp_path: Path) -> None:
    (tmp_path / "draft.md").write_text(DRAFT)
    review = client.reviews.begin(tmp_path / "draft.md")
    while (now := client.reviews.get(review.id)).state == "citing":
        time.sleep(0.05)
    assert (now.state, now.name, now.num_facts) == ("done", "draft.md", 2)
    (wrong,) = client.reviews.list_facts(review.id, verdicts=[Label.CONTRADICTED])
    assert (wrong.number, wrong.quotes[0].quote) == (1, COST)
    decided = client.reviews.decide(review.id, wrong.number, "changed", words=COST, by="Ana")
    assert (decided.choice, decided.words, decided.by) == ("changed", COST, "Ana")
    assert [fact.number for fact in client.reviews.list_facts(review.id, choices=["open"])] == [2]
    accepted = client.reviews.decide_all(review.id, "accepted", verdicts=["unsupported"], by="Ana")
    assert (accepted.decided, accepted.review.num_decided) == (1, 2)
    assert "[^fact-1]" in client.reviews.export(review.id, "markdown").decode()
    document: Any = docx.Document(io.BytesIO(client.reviews.export(review.id, verdicts=["contradicted"])))
    assert len(list(document.comments)) == 1
    assert client.reviews.cancel(review.id).state == "done"
    assert client.reviews.restart(review.id).id == review.id
    assert [one.id for one in client.reviews.all()] == [review.id]
    client.reviews.remove(review.id)
    assert client.reviews.all() == []


def test_both_are_awaited_by_the_async_client(address: str) -> None:
    async def calls() -> None:
        async with AsyncClient(address, collection="harbour") as client:
            note = await client.notes.add(COST)
            assert (await client.notes.cite(note.id)).cited
            assert (await client.notes.remove(note.id)).id == note.id
            review = await client.reviews.begin(("draft.txt", DRAFT.encode()))
            while (await client.reviews.get(review.id)).state == "citing":
                await asyncio.sleep(0.05)
            assert len(await client.reviews.list_facts(review.id)) == 2
            assert (await client.reviews.decide_all(review.id, "rejected")).decided == 2
            await client.reviews.remove(review.id)
            with pytest.raises(ServerError, match="no draft"):
                await client.reviews.get(review.id)

    asyncio.run(calls())
