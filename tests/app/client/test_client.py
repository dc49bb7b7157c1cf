"""The client against a real server: values of the library, streams, one error, and retries."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from breaking import breaking_after
from proxied import QUESTION, REPLY, TEXTS
from serving import parts_with, running_server

from propcite.app.library.store import Scope
from propcite.attribution.citations import Label
from propcite.attribution.citing.repaired import MarkerState, Repaired
from propcite.attribution.events import AnswerDone, SentenceCited, TextDelta
from propcite.attribution.judges import Case
from propcite.attribution.propcite import PropCite
from propcite.client import AsyncClient, Client, ServerError
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.text import Granularity, Passage

COST = "The barrier cost 410 million euros."
ODD = "It rained\u2028in \U0001f30a town.\x85 It snowed."  # what some readers of lines take for the end of one


@pytest.fixture(scope="module")
def address(loaded: dict[str, object], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("client")
    parts = parts_with(loaded, {"harbour": TEXTS}, data_dir=folder, public_address="https://propcite.example")
    with running_server(parts) as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client(address, collection="harbour") as client:
        yield client


def test_citing_over_passages_gives_what_the_library_gives(client: Client, loaded: dict[str, object]) -> None:
    propcite = loaded["propcite"]
    assert isinstance(propcite, PropCite)
    passages = [TEXTS["gates.txt"], {"id": "cost", "title": "Cost", "text": TEXTS["cost.txt"]}]
    here, there = propcite.cite(REPLY, passages, question=QUESTION), client.cite(REPLY, passages, question=QUESTION)
    assert there.sentences == here.sentences
    assert (there.id, there.coverage) == (here.id, here.coverage)
    assert client.cite(COST, []).coverage == 0


def test_a_streamed_text_has_the_events_of_the_library(client: Client) -> None:
    passages = [Passage("p", TEXTS["gates.txt"]), Passage("q", TEXTS["cost.txt"])]
    with client.cite_stream(REPLY, passages) as stream:
        events = list(stream)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == REPLY
    cited = [event for event in events if isinstance(event, SentenceCited)]
    assert [c.quote for event in cited for c in event.citations] == [TEXTS["gates.txt"].split(". ")[0] + ".", COST]
    done = events[-1]
    assert isinstance(done, AnswerDone)
    assert done.answer.sentences == tuple(event.sentence for event in cited)
    assert stream.so_far == done.answer
    assert done.answer.sentences == client.cite(REPLY, passages).sentences


def test_separators_inside_a_text_end_no_line_of_a_stream(client: Client) -> None:
    assert client.cite_stream(ODD, [ODD]).answer().text == ODD


def test_a_question_is_answered_whole_or_as_a_stream_and_followed(client: Client) -> None:
    whole = client.ask("What did the barrier cost?")
    assert {c.quote for c in whole.citations} == {COST}
    assert whole.citations[0].evidence.link.startswith("https://propcite.example/reading/")
    assert client.get_answer(whole.id) == whole
    assert client.ask_stream("What did the barrier cost?").answer().text == whole.text
    page = client.list_answers("barrier cost")
    assert [info.id for info in page.items] == [whole.id]
    assert client.explain(whole.id)["fact"]["text"]
    given = client.give_feedback(whole.id, 1, "right", by="Ana")
    assert (given.by, given.citation) == ("Ana", whole.citations[0].id)
    assert client.remove_answer(whole.id).removed == 1


@pytest.mark.parametrize("is_async", [False, True])
def test_a_repair_is_that_of_the_library(address: str, loaded: dict[str, object], is_async: bool) -> None:
    propcite = loaded["propcite"]
    assert isinstance(propcite, PropCite)
    text = "\U0001f30a Look. The barrier has fourteen steel gates [2]. It cost 410 million euros [2][9]. It is loved."
    passages = [TEXTS["gates.txt"], {"id": "cost", "title": "Cost", "text": TEXTS["cost.txt"]}, TEXTS["gates.txt"]]

    async def by_async() -> Repaired:
        async with AsyncClient(address) as client:
            return await client.repair(text, passages, question=QUESTION)

    here = propcite.repair(text, passages, question=QUESTION)
    there = asyncio.run(by_async()) if is_async else Client(address).repair(text, passages, question=QUESTION)
    assert (there.text, there.given, there.passages) == (here.text, here.given, here.passages)
    assert there.checks == here.checks
    assert there.answer.sentences == here.answer.sentences
    assert (there.numbers(MarkerState.UNKNOWN), there.changed) == ((9,), True)


def test_a_repair_looks_into_a_collection_only_if_the_call_names_it(client: Client) -> None:
    alone, beside = client.repair(COST, ["It rained."]), client.repair(COST, ["It rained."], collection="harbour")
    assert (alone.answer.coverage, beside.answer.coverage, beside.text) == (0.0, 1.0, COST)
    assert not beside.changed
    with pytest.raises(ServerError) as raised:
        client.repair(COST, [])
    assert (raised.value.status, raised.value.errors[0]["field"]) == (422, "passages")
    with pytest.raises(ServerError, match="no collection 'nowhere'"):
        client.repair(COST, ["It rained."], collection="nowhere")


def test_claims_are_judged(client: Client) -> None:
    verdicts = client.judge([Case(COST, (COST,)), Case("The barrier cost 400 million euros.", (COST,))])
    assert [verdict.label for verdict in verdicts] == [Label.SUPPORTED, Label.CONTRADICTED]


def test_hits_have_their_passages(client: Client) -> None:
    hit = client.search("cost of the barrier", granularity="sentence", k=3)[0]
    assert (hit.text, hit.granularity, hit.passage.text) == (COST, Granularity.SENTENCE, TEXTS["cost.txt"])


def test_documents_are_added_listed_shown_and_removed(client: Client, tmp_path: Path) -> None:
    (tmp_path / "ferry.txt").write_text("The ferry runs every hour.")
    client.create_collection("ferries")
    job = client.add_documents(
        tmp_path / "ferry.txt", ("bus.md", b"# Bus\n\nThe bus is late."), collection="ferries", wait=True
    )
    assert (job.state, [outcome.state for outcome in job.outcomes]) == ("done", ["added", "added"])
    assert client.get_job(job.id) == job == client.cancel_job(job.id)  # it has ended
    later = client.add_documents(("tram.md", b"# Tram\n\nThe tram is new."), collection="ferries", wait=True)
    listed = client.list_jobs(limit=1, collection="ferries")
    assert (listed.total, list(listed.items)) == (2, [later.model_copy(update={"outcomes": []})])
    (older,) = client.list_jobs(first=1, collection="ferries").items
    assert (older.id, older.state, older.done, older.total, older.outcomes) == (job.id, "done", 2, 2, [])
    client.remove_document(later.outcomes[0].document_id, collection="ferries")
    bus, ferry = client.list_documents(collection="ferries")
    assert (bus.source, ferry.source) == ("bus.md", "ferry.txt")
    (hit,) = client.search("When does the ferry run?", k=1, collection="ferries")
    assert "ferry runs" in client.read_document(
        ferry.id, cited=hit.passage.in_document(hit.spans[0]), collection="ferries"
    )
    assert client.remove_document(bus.id, collection="ferries").id == bus.id
    assert [c.num_documents for c in client.list_collections() if c.name == "ferries"] == [1]
    assert client.remove_collection("ferries").name == "ferries"


def test_what_the_server_refuses_is_one_error(client: Client) -> None:
    with pytest.raises(ServerError, match="no collection 'nowhere'") as raised:
        client.ask("What?", collection="nowhere")
    assert (raised.value.status, isinstance(raised.value, PropCiteError)) == (404, True)
    with pytest.raises(ServerError) as raised:
        client.ask("   ")
    assert (raised.value.status, raised.value.errors[0]["field"]) == (422, "question")
    with pytest.raises(ServerError, match="no collection"):
        next(client.ask_stream("What?", collection="nowhere"))


def test_a_server_that_is_not_there_is_the_same_error() -> None:
    with Client("http://127.0.0.1:9") as nowhere, pytest.raises(ServerError, match="propcite serve") as raised:
        nowhere.list_collections()
    assert raised.value.status == 0


def test_a_stream_that_breaks_off_keeps_what_has_come(address: str) -> None:
    with breaking_after(address, b"event: sentence") as broken, Client(broken) as client:
        stream = client.cite_stream(REPLY, list(TEXTS.values()))
        with pytest.raises(ServerError, match="the answer broke off"):
            list(stream)
        assert stream.so_far.text == REPLY


def test_leaving_a_stream_early_closes_it(client: Client) -> None:
    with client.cite_stream(REPLY * 20, list(TEXTS.values())) as stream:
        next(stream)
    assert list(stream) == []
    assert client.list_collections()


def test_a_key_is_sent(serve: Callable[..., str], open_parts: Callable[..., object]) -> None:
    address = serve({"harbour": TEXTS}, requires_keys=True)
    keys = open_parts().keys  # type: ignore[attr-defined]
    _, key = keys.create("reader", Scope.READ)
    assert [c.name for c in Client(address, key).list_collections()] == ["harbour"]
    with pytest.raises(ServerError, match="a key is required") as raised:
        Client(address).list_collections()
    assert raised.value.status == 401


def test_a_server_that_still_loads_is_tried_again(loaded: dict[str, object], tmp_path: Path) -> None:
    with running_server(parts_with(loaded, {}, data_dir=tmp_path / "data"), ready=False) as address:
        assert Client(address).cite(COST, [COST]).coverage == 1


def test_a_busy_server_is_tried_again_after_as_long_as_it_says(serve: Callable[..., str]) -> None:
    address = serve({}, serve_rate=2)
    with Client(address, retries=0) as client:
        client.list_collections()
        client.list_collections()
        with pytest.raises(ServerError) as raised:
            client.list_collections()
    assert (raised.value.status, 0 < (raised.value.retry_after or 0) <= 60) == (429, True)


def test_the_async_client_does_the_same(address: str) -> None:
    async def calls() -> None:
        async with AsyncClient(address, collection="harbour") as client:
            whole, hits = await asyncio.gather(client.cite(REPLY), client.search("cost", k=1))
            assert [c.quote for c in whole.citations][1:] == [COST]
            assert len(hits) == 1
            async with client.ask_stream("What did the barrier cost?") as stream:
                events = [event async for event in stream]
            assert [type(event) for event in events][-1] is AnswerDone
            assert (await client.cite_stream(REPLY).answer()).sentences == whole.sentences
            with pytest.raises(ServerError, match="404"):
                await client.get_answer("nothing")

    asyncio.run(calls())


def test_the_client_loads_no_model_and_no_server() -> None:
    heavy = "torch transformers scipy numba nltk sqlalchemy fastapi streamlit".split()
    script = f"import sys, propcite.client; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
