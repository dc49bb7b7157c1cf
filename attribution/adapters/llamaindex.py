"""Cite LlamaIndex responses from the nodes that they were written from; needs the extra `llamaindex`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE, AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import QueryBundle

from propcite.attribution.adapters.citations import all_citations, summary
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.stream import AsyncCitedStream, CitedStream
from propcite.attribution.errors import AttributionError
from propcite.attribution.propcite import PropCite


@dataclass
class CitedResponse(Response):
    """A response with its CitedAnswer; `metadata` has the citations as plain values."""

    cited: CitedAnswer | None = None


def cite_response(propcite: PropCite, response: Response, *, question: str = "") -> CitedResponse:
    """Return the response with citations; its text stays as it is."""
    return _cited(response, propcite.cite(_text(response), response.source_nodes, question=question))


async def acite_response(propcite: PropCite, response: Response, *, question: str = "") -> CitedResponse:
    return _cited(response, await propcite.acite(_text(response), response.source_nodes, question=question))


def stream_response(
    propcite: PropCite, response: StreamingResponse, *, question: str = "", strip_markers: bool = False
) -> CitedStream:
    """Cite a response while it is written; return the stream of events."""
    nodes, texts = response.source_nodes, response.response_gen
    return propcite.stream(texts, nodes, question=question, strip_markers=strip_markers)


def astream_response(
    propcite: PropCite, response: AsyncStreamingResponse, *, question: str = "", strip_markers: bool = False
) -> AsyncCitedStream:
    texts: AsyncIterator[str] = response.async_response_gen()
    return propcite.astream(texts, response.source_nodes, question=question, strip_markers=strip_markers)


class CitingQueryEngine(BaseQueryEngine):
    """A query engine that cites the responses of another; a streamed response is cited once it is complete."""

    def __init__(self, engine: BaseQueryEngine, propcite: PropCite) -> None:
        self.engine = engine
        self.propcite = propcite
        super().__init__(callback_manager=engine.callback_manager or CallbackManager())

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {"engine": self.engine}

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        response = self.engine.query(query_bundle)
        whole = response.get_response() if isinstance(response, StreamingResponse) else response
        return cite_response(self.propcite, _plain(whole), question=query_bundle.query_str)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        response = await self.engine.aquery(query_bundle)
        whole = await response.get_response() if isinstance(response, AsyncStreamingResponse) else response
        return await acite_response(self.propcite, _plain(whole), question=query_bundle.query_str)


def _plain(response: object) -> Response:
    if isinstance(response, Response):
        return response
    raise AttributionError(
        f"the engine returned a {type(response).__name__}: use one that returns a Response with text"
    )


def _text(response: Response) -> str:
    return response.response or ""


def _cited(response: Response, answer: CitedAnswer) -> CitedResponse:
    citations = {"citations": all_citations(answer), "propcite": summary(answer)}
    metadata = {**(response.metadata or {}), **citations}
    return CitedResponse(response.response, response.source_nodes, metadata, answer)
