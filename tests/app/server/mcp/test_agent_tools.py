"""The tools over HTTP with the SDK's own client: what they return, structured and as text."""

from __future__ import annotations

import asyncio
import json

import jsonschema
import pytest
from agent_calls import COST, HEIGHT, MODES, OPENED, call, client_at, over_http, text_of
from mcp import Client
from mcp_types import ListToolsResult

from propcite.app.library.store import Action
from propcite.app.parts import Parts
from propcite.attribution.propcite import PropCite

WRONG = "Heron Bridge opens on 28 May 2025."


@pytest.fixture(scope="module")
def tools(address: str) -> ListToolsResult:
    return over_http(address, lambda client: client.list_tools())


def test_the_tools_say_what_they_do_and_whether_they_change_anything(tools: ListToolsResult) -> None:
    names = ["search", "check", "cite", "evidence", "explain", "ask", "compare", "list_notes", "add_note"]
    names += ["list_reviews", "begin_review", "read_review", "decide", "decide_all", "cancel_review"]
    assert [tool.name for tool in tools.tools] == names
    changing = {tool.name for tool in tools.tools if tool.annotations and not tool.annotations.read_only_hint}
    assert changing == {"cite", "ask", "compare", "add_note", "begin_review", "decide", "decide_all", "cancel_review"}
    adding = {tool.name for tool in tools.tools if tool.annotations and not tool.annotations.idempotent_hint}
    assert adding == {"add_note", "begin_review"}
    assert not any(tool.annotations.destructive_hint for tool in tools.tools if tool.annotations)
    for tool in tools.tools:
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert "$ref" not in json.dumps([tool.input_schema, tool.output_schema])
        assert all("description" in field or "items" in field for field in tool.input_schema["properties"].values())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search", {"query": "height of the barrier", "granularity": "proposition"}),
        ("check", {"text": f"{HEIGHT} {WRONG}"}),
        ("cite", {"text": HEIGHT, "keep": True, "question": "How high?"}),
        ("evidence", {"claim": WRONG}),
        ("explain", {"claim": HEIGHT}),
        ("ask", {"question": "How high is the flood barrier?"}),
        ("compare", {"question": "How high is the barrier?", "left": ["barrier.txt"], "right": ["bridge.txt"]}),
        ("add_note", {"text": HEIGHT}),
        ("list_notes", {}),
        ("begin_review", {"text": HEIGHT}),
        ("list_reviews", {"collection": "harbour"}),
    ],
)
def test_each_result_has_the_form_of_its_schema(
    address: str, tools: ListToolsResult, mode: str, name: str, arguments: dict[str, object]
) -> None:
    result = call(address, name, mode=mode, **arguments)
    assert not result.is_error, text_of(result)
    schema = next(tool.output_schema for tool in tools.tools if tool.name == name)
    jsonschema.validate(result.structured_content, schema)
    assert text_of(result).strip()


def test_a_search_returns_the_words_their_place_and_their_address(address: str) -> None:
    result = call(address, "search", query="How high is the barrier?", k=1)
    (hit,) = result.structured_content["hits"]
    assert (hit["words"], hit["context"]) == (HEIGHT, f"{HEIGHT} {COST}")
    assert hit["uri"].startswith("propcite://collections/harbour/documents/")
    assert HEIGHT in text_of(result)
    assert hit["uri"] in text_of(result)


def test_a_check_names_the_facts_to_correct_and_what_the_source_says(address: str) -> None:
    checked = call(address, "check", text=f"{HEIGHT} {WRONG}")
    result = checked.structured_content
    assert (result["passes"], result["to_correct"], result["num_facts"], result["num_supported"]) == (False, [2], 2, 1)
    right, wrong = result["facts"]
    assert (right["verdict"], right["citations"][0]["words"], right["nearest"]) == ("supported", HEIGHT, None)
    assert (wrong["verdict"], wrong["citations"], wrong["nearest"]["words"]) == ("contradicted", [], OPENED)
    assert "Correct fact 2" in text_of(checked)
    assert call(address, "check", text=HEIGHT).structured_content["passes"]


def test_a_text_is_cited_as_the_library_cites_it(address: str, harbour: Parts, loaded: dict[str, object]) -> None:
    text = f"{HEIGHT} {WRONG}"
    result = call(address, "cite", text=text).structured_content
    collection = harbour.library.collection("harbour")
    propcite = loaded["propcite"]
    assert isinstance(propcite, PropCite)
    answer = propcite.cite(text, harbour.pipeline(collection).retriever())
    assert result["cited_text"] == f"{HEIGHT[:-1]} [1]. {WRONG}"
    assert [fact["text"] for fact in result["facts"]] == [fact.proposition.text for fact in answer.facts]
    assert [source["words"] for source in result["sources"]] == [c.quote for c in answer.citations]
    assert (result["id"], result["uri"], result["coverage"]) == ("", "", 0.5)
    assert not harbour.library.has_answer(answer.id)


def test_given_passages_are_cited_without_a_collection(address: str) -> None:
    passages = [{"text": "The gate is green.", "title": "Paint"}, {"text": "It rained."}]
    result = call(address, "cite", text="The gate is green.", passages=passages).structured_content
    (source,) = result["sources"]
    assert (result["collection"], source["title"], source["words"], source["uri"]) == (
        "",
        "Paint",
        "The gate is green.",
        "",
    )


def test_a_kept_text_is_explained_and_weighed_by_its_id(address: str, harbour: Parts) -> None:
    kept = call(address, "cite", text=HEIGHT, keep=True).structured_content
    assert harbour.library.answer(kept["id"]).text == HEIGHT
    explained = call(address, "explain", answer=kept["id"]).structured_content
    assert (explained["claim"], explained["quote"]["words"], explained["quote"]["number"]) == (HEIGHT, HEIGHT, 1)
    assert {"word": "high", "source_word": "high", "match": "same"}.items() <= explained["words"][-1].items()
    near = call(address, "evidence", answer=kept["id"], k=2).structured_content["evidence"]
    assert (near[0]["words"], near[0]["verdict"], near[0]["number"]) == (HEIGHT, "supported", 1)


def test_a_claim_is_weighed_against_what_says_otherwise(address: str) -> None:
    result = call(address, "evidence", claim=WRONG, k=1).structured_content
    assert (result["claim"], result["evidence"][0]["words"]) == (WRONG, OPENED)
    assert result["evidence"][0]["verdict"] == "contradicted"


def test_an_answer_is_kept_and_follows_another(address: str, harbour: Parts) -> None:
    first = call(address, "ask", question="How high is the flood barrier?").structured_content
    assert HEIGHT[:-1] in first["cited_text"]
    assert first["answered"] == "yes"
    second = call(address, "ask", question="What did it cost?", after=first["id"]).structured_content
    assert harbour.library.answer(second["id"]).after == first["id"]
    assert Action.ASKED in [entry.action for entry in harbour.audit.find().items]


@pytest.mark.parametrize("mode", MODES)
def test_progress_of_a_long_text_counts_its_sentences(address: str, mode: str) -> None:
    seen: list[tuple[float, float | None]] = []

    async def heard(progress: float, total: float | None, _: str | None) -> None:
        seen.append((progress, total))

    text = " ".join(f"The flood barrier is {number} metres high." for number in range(80))

    async def check(client: Client) -> bool:
        return (await client.call_tool("check", {"text": text}, progress_callback=heard)).is_error

    assert not over_http(address, check, mode=mode)
    assert seen == [(number, 80) for number in range(1, 81)]


@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call_ends_its_work(address: str, mode: str) -> None:
    text = " ".join(f"The flood barrier is {number} metres high." for number in range(400))

    async def cancel() -> None:
        begun = asyncio.Event()

        async def heard(*_: object) -> None:
            begun.set()

        async with client_at(address, mode=mode) as client:
            call = asyncio.create_task(client.call_tool("check", {"text": text}, progress_callback=heard))
            await begun.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            again = await client.call_tool("check", {"text": text[:2500]}, progress_callback=heard)
            assert not again.is_error  # in the one thread that the cancelled text had

    asyncio.run(cancel())
