"""The adapters in real chains and query engines of their frameworks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.errors import AttributionError
from propcite.attribution.events import AnswerDone, SentenceCited, TextDelta
from propcite.attribution.propcite import PropCite
from propcite.retrieval.encoding.encoder import Encoder

NEEDED = "The barrier cost 410 million euros. The museum opened in 1987."
ANSWER = "The barrier cost 410 million euros [2]. The museum opened in 1912."
QUESTION = "What did the barrier cost?"


@pytest.fixture(scope="module")
def propcite(encoder: Encoder) -> PropCite:
    return PropCite(encoder)


class TestLangChain:
    @pytest.fixture(autouse=True)
    def _needs_langchain(self) -> None:
        pytest.importorskip("langchain_core", reason="needs the extra langchain")

    def chain(self, propcite: PropCite, *, strip_markers: bool = False) -> Any:
        from langchain_core.documents import Document
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage
        from langchain_core.runnables import RunnableLambda, RunnablePassthrough

        from propcite.attribution.adapters.langchain import CiteAnswer

        model = GenericFakeChatModel(messages=iter([AIMessage(ANSWER)] * 9))
        documents = [Document(page_content=NEEDED, metadata={"source": "report.txt"}, id="report")]
        return (
            RunnablePassthrough.assign(context=RunnableLambda(lambda _: documents))
            .assign(answer=RunnableLambda(lambda values: values["question"]) | model)
            .pipe(CiteAnswer(propcite, strip_markers=strip_markers))
        )

    def test_a_chain_returns_a_message_with_citations(self, propcite: PropCite) -> None:
        values = self.chain(propcite).invoke({"question": QUESTION})
        assert isinstance(values["cited"], CitedAnswer)
        assert values["cited"].question == QUESTION
        assert values["answer"].content == ANSWER
        (citation,) = values["answer"].additional_kwargs["citations"]
        assert (citation["passage_id"], citation["document_id"]) == ("report", "report.txt")
        assert citation["quote"] == "The barrier cost 410 million euros."
        assert ANSWER[citation["answer_start"] : citation["answer_end"]] == "The barrier cost 410 million euros [2]."
        assert values["answer"].response_metadata["propcite"]["uncited"] == ["The museum opened in 1912."]
        assert [d.id for d in values["context"]] == ["report"]

    @pytest.mark.parametrize("strip_markers", [False, True])
    def test_the_chunks_of_a_stream_add_up_to_the_result_of_invoke(
        self, propcite: PropCite, strip_markers: bool
    ) -> None:
        chain = self.chain(propcite, strip_markers=strip_markers)
        whole = chain.invoke({"question": QUESTION})
        total: Any = None
        for values in chain.stream({"question": QUESTION}):
            total = values if total is None else total + values
        assert (
            total["answer"].content
            == whole["answer"].content
            == (ANSWER.replace(" [2]", "") if strip_markers else ANSWER)
        )
        streamed, expected = (v["answer"].additional_kwargs["citations"] for v in (total, whole))
        assert [(c["id"], c["number"], c["answer_start"]) for c in streamed] == [
            (c["id"], c["number"], c["answer_start"]) for c in expected
        ]
        assert total["answer"].response_metadata["propcite"] == whole["answer"].response_metadata["propcite"]
        assert total["cited"].id == whole["cited"].id
        assert total["context"] == whole["context"]

    def test_the_same_for_asyncio(self, propcite: PropCite) -> None:
        chain = self.chain(propcite)

        async def both() -> tuple[Any, list[Any]]:
            return await chain.ainvoke({"question": QUESTION}), [v async for v in chain.astream({"question": QUESTION})]

        whole, pieces = asyncio.run(both())
        total = pieces[0]
        for values in pieces[1:]:
            total = total + values
        assert total["cited"].id == whole["cited"].id
        assert "".join(v["answer"].content for v in pieces if "answer" in v) == ANSWER

    def test_documents_may_arrive_after_the_first_words(self, propcite: PropCite) -> None:
        from propcite.attribution.adapters.langchain import CiteAnswer

        chunks = [{"answer": "The barrier "}, {"documents": [NEEDED]}, {"answer": "cost 410 million euros."}]
        *_, last = CiteAnswer(propcite).transform(iter(chunks))
        assert [c.passage.id for c in last["cited"].citations] == ["1"]

    def test_stopping_early_leaves_no_thread(self, propcite: PropCite) -> None:
        stream = self.chain(propcite).stream({"question": QUESTION})
        for values in stream:
            if "answer" in values:
                break
        stream.close()
        assert [t for t in threading.enumerate() if t.name.startswith("propcite-stream")] == []

    @pytest.mark.parametrize(
        ("values", "line"),
        [
            ({"answer": "It rained."}, "no documents came with the answer"),
            ({"answer": 3, "documents": []}, "the answer is a int"),
            ("It rained.", "the input is a str"),
            ({"documents": []}, "there is no answer to cite"),
        ],
    )
    def test_invalid_input_is_an_error_in_one_line(self, propcite: PropCite, values: Any, line: str) -> None:
        from propcite.attribution.adapters.langchain import CiteAnswer

        step = CiteAnswer(propcite)
        with pytest.raises(AttributionError, match=line):
            step.invoke(values)
        with pytest.raises(AttributionError, match=line):
            list(step.stream(values))


class TestLlamaIndex:
    @pytest.fixture(autouse=True)
    def _needs_llama_index(self) -> None:
        pytest.importorskip("llama_index.core", reason="needs the extra llamaindex")

    def nodes(self) -> list[Any]:
        from llama_index.core.schema import NodeWithScore, TextNode

        node = TextNode(text=NEEDED, id_="report:1", metadata={"file_name": "report.txt", "page_label": "4"})
        return [NodeWithScore(node=node, score=0.5), NodeWithScore(node=node, score=0.4)]

    def engine(self, streaming: bool = False) -> Any:
        from llama_index.core import get_response_synthesizer
        from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
        from llama_index.core.query_engine import RetrieverQueryEngine
        from llama_index.core.retrievers import BaseRetriever

        nodes = self.nodes()

        class Writer(CustomLLM):
            @property
            def metadata(self) -> Any:
                return LLMMetadata()

            def complete(self, *_: Any, **__: Any) -> Any:
                return CompletionResponse(text=ANSWER)

            def stream_complete(self, *_: Any, **__: Any) -> Any:
                for end in range(1, len(ANSWER) + 1):
                    yield CompletionResponse(text=ANSWER[:end], delta=ANSWER[end - 1])

        class Nodes(BaseRetriever):
            def _retrieve(self, _: Any) -> Any:
                return nodes

        synthesizer = get_response_synthesizer(llm=Writer(), streaming=streaming)
        return RetrieverQueryEngine(Nodes(), response_synthesizer=synthesizer)

    @pytest.mark.parametrize("streaming", [False, True])
    def test_an_engine_returns_citations(self, propcite: PropCite, streaming: bool) -> None:
        from propcite.attribution.adapters.llamaindex import CitingQueryEngine

        response: Any = CitingQueryEngine(self.engine(streaming), propcite).query(QUESTION)
        assert str(response) == ANSWER
        assert response.cited.question == QUESTION
        (citation,) = response.metadata["citations"]
        assert (citation["passage_id"], citation["title"], citation["pages"]) == ("report:1", "report.txt", [4])
        assert response.metadata["report:1"]["file_name"] == "report.txt"
        assert response.metadata["propcite"]["uncited"] == ["The museum opened in 1912."]
        assert [n.node_id for n in response.source_nodes] == ["report:1"]

    def test_the_same_for_asyncio(self, propcite: PropCite) -> None:
        from propcite.attribution.adapters.llamaindex import CitingQueryEngine

        response: Any = asyncio.run(CitingQueryEngine(self.engine(), propcite).aquery(QUESTION))
        assert [c.passage.id for c in response.cited.citations] == ["report:1"]

    def test_a_streaming_response_is_cited_as_it_arrives(self, propcite: PropCite) -> None:
        from propcite.attribution.adapters.llamaindex import stream_response

        events = list(stream_response(propcite, self.engine(streaming=True).query(QUESTION), strip_markers=True))
        assert "".join(e.text for e in events if isinstance(e, TextDelta)) == ANSWER.replace(" [2]", "")
        assert sum(isinstance(e, SentenceCited) for e in events) == 2
        assert isinstance(events[-1], AnswerDone)

    def test_an_asynchronous_stream(self, propcite: PropCite) -> None:
        from llama_index.core.base.response.schema import AsyncStreamingResponse

        from propcite.attribution.adapters.llamaindex import astream_response

        async def pieces() -> AsyncIterator[str]:
            for piece in ANSWER.split(" "):
                yield piece + " "

        async def cite() -> list[Any]:
            response = AsyncStreamingResponse(pieces(), source_nodes=self.nodes())
            return [event async for event in astream_response(propcite, response)]

        events = asyncio.run(cite())
        assert [c.quote for c in events[-1].answer.citations] == ["The barrier cost 410 million euros."]

    def test_an_empty_response(self, propcite: PropCite) -> None:
        from llama_index.core.base.response.schema import Response

        from propcite.attribution.adapters.llamaindex import cite_response

        assert cite_response(propcite, Response(None)).metadata["citations"] == []


def test_citing_needs_no_framework() -> None:
    import subprocess
    import sys

    code = (
        "import sys\n"
        "from propcite import AnswerDone, PropCite, as_passages\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('langchain_core', 'llama_index', 'openai', 'torch')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
