"""The adapters of Haystack, Pydantic AI and OpenAI's Agents SDK, each in the real package, by a scripted model."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from scripted_llm import Reply, Request, ScriptedLlm

from propcite.attribution.errors import AttributionError
from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta
from propcite.attribution.propcite import PropCite
from propcite.retrieval.encoding.encoder import Encoder

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
if missing := [name for name in ("haystack", "pydantic_ai", "agents") if not find_spec(name)]:
    pytest.skip(f"adapters of {', '.join(missing)}: make test-clients installs them", allow_module_level=True)

COST = "The barrier cost 410 million euros."
GATES = "Fourteen steel gates close the barrier."
ANSWER = f"{COST} The museum opened in 1912."
QUESTION = "What did the barrier cost?"
CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"words": "cost"}'}}
FOUND = [GATES, {"id": "audit", "title": "Audit", "text": COST}]


def script(request: Request) -> Reply:
    """Call the tool first, if there is one; then answer."""
    if not request.body.get("tools") or any(m["role"] == "tool" for m in request.body["messages"]):
        return Reply(ANSWER)
    if request.body.get("stream"):
        return Reply("Let me see.", chunks=["Let me see.", {"tool_calls": [CALL]}], finish_reason="tool_calls")
    message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    choices = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": usage}
    return Reply(body=json.dumps(whole))


@pytest.fixture(scope="module")
def propcite(encoder: Encoder) -> PropCite:
    return PropCite(encoder)


@pytest.fixture
def llm(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedLlm]:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ScriptedLlm(script) as server:
        yield server


async def read(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


def check_stream(events: list[Event]) -> None:
    """The message before the call has no citation, the answer has that of the tool's output."""
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == f"Let me see.{ANSWER}"
    before, answer = (event.answer for event in events if isinstance(event, AnswerDone))
    assert (before.text, before.citations, answer.text) == ("Let me see.", (), ANSWER)
    cited = [c for event in events if isinstance(event, SentenceCited) for c in event.citations]
    assert [(c.passage.id, c.passage.title, c.quote) for c in cited] == [("audit", "Audit", COST)]


class TestHaystack:
    def documents(self) -> list[Any]:
        from haystack import Document

        return [Document(id="audit", content=COST, meta={"title": "Audit"}), Document(content=GATES)]

    def pipeline(self, propcite: PropCite | None, url: str) -> Any:
        from haystack import Pipeline
        from haystack.components.builders import ChatPromptBuilder
        from haystack.components.generators.chat import OpenAIChatGenerator
        from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
        from haystack.dataclasses import ChatMessage
        from haystack.document_stores.in_memory import InMemoryDocumentStore

        from propcite.attribution.adapters.haystack import CiteAnswers

        store = InMemoryDocumentStore()
        template = [ChatMessage.from_user("{{query}}{% for d in documents %} {{d.content}}{% endfor %}")]
        pipeline = Pipeline()
        pipeline.add_component("retriever", InMemoryBM25Retriever(store))
        pipeline.add_component("prompt", ChatPromptBuilder(template, required_variables="*"))
        pipeline.add_component("model", OpenAIChatGenerator(model="m", api_base_url=url))
        pipeline.add_component("cite", CiteAnswers(propcite, strip_markers=True))
        pipeline.connect("retriever.documents", "prompt.documents")
        pipeline.connect("prompt.prompt", "model.messages")
        pipeline.connect("model.replies", "cite.replies")
        pipeline.connect("retriever.documents", "cite.documents")
        return pipeline

    def test_a_pipeline_returns_answers_with_citations(self, propcite: PropCite, llm: ScriptedLlm) -> None:
        from haystack import Pipeline
        from haystack.document_stores.types import DuplicatePolicy

        llm.script = ANSWER.replace(".", " [3].")
        given = {"retriever": {"query": QUESTION}, "prompt": {"query": QUESTION}, "cite": {"query": QUESTION}}
        for pipeline in (
            self.pipeline(propcite, llm.base_url),
            Pipeline.loads(self.pipeline(None, llm.base_url).dumps(), allowed_modules=["propcite.*"]),
        ):
            store = pipeline.get_component("retriever").document_store
            store.write_documents(self.documents(), DuplicatePolicy.SKIP)  # one that was loaded is empty
            result = pipeline.run(given)["cite"]
            (answer,), (cited,) = result["answers"], result["cited"]
            assert (answer.data, answer.query, answer.meta["propcite"]["coverage"]) == (ANSWER, QUESTION, 0.5)
            (citation,) = answer.meta["citations"]
            assert (citation["passage_id"], citation["title"], citation["quote"]) == ("audit", "Audit", COST)
            assert [c.quote for c in cited.citations] == [COST]


class TestPydanticAi:
    def agent(self, url: str, **options: Any) -> Any:
        from pydantic_ai import Agent
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        agent = Agent(OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="none")), **options)

        @agent.tool_plain
        def look_up(words: str) -> list[Any]:
            """Find texts about these words."""
            assert words == "cost"
            return FOUND

        return agent

    def test_a_result_is_cited_over_what_tools_returned(self, propcite: PropCite, llm: ScriptedLlm) -> None:
        from propcite.attribution.adapters.pydantic_ai import acite_result, cite_result

        result = self.agent(llm.base_url).run_sync(QUESTION)
        cited = cite_result(propcite, result, question=QUESTION)
        assert [(c.passage.id, c.quote) for c in cited.citations] == [("audit", COST)]
        assert [p.proposition.text for p in cited.uncited] == ["The museum opened in 1912."]
        more = asyncio.run(acite_result(propcite, result, passages=["The museum opened in 1912."]))
        assert more.coverage == 1

    def test_a_stream_is_cited_while_it_is_written(self, propcite: PropCite, llm: ScriptedLlm) -> None:
        from propcite.attribution.adapters.pydantic_ai import stream_events

        async def run() -> list[Event]:
            async with self.agent(llm.base_url).run_stream_events(QUESTION) as events:
                return await read(stream_events(propcite, events))

        check_stream(asyncio.run(run()))

    def test_an_output_that_is_no_text_is_refused(self, propcite: PropCite, llm: ScriptedLlm) -> None:
        from propcite.attribution.adapters.pydantic_ai import cite_result

        llm.script = "410"
        result = self.agent(llm.base_url).run_sync(QUESTION)
        result.output = 410
        with pytest.raises(AttributionError, match="output is a int"):
            cite_result(propcite, result)


class TestOpenAiAgents:
    def agent(self, url: str) -> Any:
        from agents import Agent, OpenAIChatCompletionsModel, function_tool
        from openai import AsyncOpenAI

        @function_tool
        def look_up(words: str) -> str:
            """Find texts about these words."""
            assert words == "cost"
            return json.dumps(FOUND)

        model = OpenAIChatCompletionsModel("m", AsyncOpenAI(base_url=url, api_key="none"))
        return Agent("answers", model=model, tools=[look_up])

    def test_a_result_is_cited_over_what_tools_returned(self, propcite: PropCite, llm: ScriptedLlm) -> None:
        from agents import Runner

        from propcite.attribution.adapters.openai_agents import acite_result, cite_result

        async def run() -> None:
            result = await Runner.run(self.agent(llm.base_url), QUESTION)
            cited = await acite_result(propcite, result, question=QUESTION)
            assert [(c.passage.id, c.quote) for c in cited.citations] == [("audit", COST)]
            assert [p.proposition.text for p in cited.uncited] == ["The museum opened in 1912."]
            assert cite_result(propcite, result, passages=["The museum opened in 1912."]).coverage == 1

        asyncio.run(run())

    def test_a_stream_is_cited_while_it_is_written(self, propcite: PropCite, llm: ScriptedLlm) -> None:
        from agents import Runner

        from propcite.attribution.adapters.openai_agents import stream_result

        async def run() -> list[Event]:
            return await read(stream_result(propcite, Runner.run_streamed(self.agent(llm.base_url), QUESTION)))

        check_stream(asyncio.run(run()))
