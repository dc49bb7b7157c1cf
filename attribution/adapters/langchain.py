"""Cite the answers of a LangChain chain; needs the extra `langchain`.

The step takes a dict with the answer (a text or a message, whole or in pieces) and the documents that the model had.
It returns the same dict with the answer as an AIMessage and with the CitedAnswer as `cited`.
"""

# ruff: noqa: A002 - LangChain names this parameter `input`
from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

from propcite.attribution.adapters.messages import ChainValues, cited_values
from propcite.attribution.propcite import PropCite
from propcite.attribution.prose.marker_stripper import remove_markers

Dict = dict[str, Any]


class CiteAnswer(Runnable[Dict, Dict]):
    """A step that cites the answer of the chain before it: `chain | CiteAnswer(PropCite.default())`.

    The message lists its citations in `additional_kwargs["citations"]`.
    """

    def __init__(self, propcite: PropCite, *, strip_markers: bool = False) -> None:
        self.propcite = propcite
        self.strip_markers = strip_markers

    def invoke(self, input: Dict, config: RunnableConfig | None = None, **kwargs: Any) -> Dict:
        return self._call_with_config(self._cite, input, config, **kwargs)

    async def ainvoke(self, input: Dict, config: RunnableConfig | None = None, **kwargs: Any) -> Dict:
        return await self._acall_with_config(self._acite, input, config, **kwargs)

    def transform(
        self,
        input: Iterator[Dict],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Dict]:
        yield from self._transform_stream_with_config(input, self._events, config, **kwargs)

    async def atransform(
        self,
        input: AsyncIterator[Dict],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Dict]:
        async for values in self._atransform_stream_with_config(input, self._async_events, config, **kwargs):
            yield values

    def stream(self, input: Dict, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Dict]:
        yield from self.transform(iter([input]), config, **kwargs)

    async def astream(
        self,
        input: Dict,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Dict]:
        async def one() -> AsyncIterator[Dict]:
            yield input

        async for values in self.atransform(one(), config, **kwargs):
            yield values

    def _cite(self, values: Dict) -> Dict:
        text, documents, question = self._read(values)
        return cited_values(values, self.propcite.cite(text, documents, question=question))

    async def _acite(self, values: Dict) -> Dict:
        text, documents, question = self._read(values)
        return cited_values(values, await self.propcite.acite(text, documents, question=question))

    def _read(self, values: Dict) -> tuple[str, Iterable[object], str]:
        chain = ChainValues()
        chain.add(values)
        text = "".join(chain.take_texts())
        return remove_markers(text) if self.strip_markers else text, chain.documents, chain.question

    def _events(self, chunks: Iterator[Dict]) -> Iterator[Dict]:
        chain = ChainValues()
        for chunk in chunks:
            yield from chain.add(chunk)
            if chain.has_begun:
                break

        def texts() -> Iterator[str]:
            yield from chain.take_texts()
            for chunk in chunks:
                chain.others += chain.add(chunk)
                yield from chain.take_texts()

        with self.propcite.stream(
            texts(),
            chain.documents,
            question=chain.question,
            strip_markers=self.strip_markers,
        ) as stream:
            for event in stream:
                yield from chain.with_event(event)

    async def _async_events(self, chunks: AsyncIterator[Dict]) -> AsyncIterator[Dict]:
        chain = ChainValues()
        async for chunk in chunks:
            for values in chain.add(chunk):
                yield values
            if chain.has_begun:
                break

        async def texts() -> AsyncIterator[str]:
            for text in chain.take_texts():
                yield text
            async for chunk in chunks:
                chain.others += chain.add(chunk)
                for text in chain.take_texts():
                    yield text

        async with self.propcite.astream(
            texts(),
            chain.documents,
            question=chain.question,
            strip_markers=self.strip_markers,
        ) as stream:
            async for event in stream:
                for values in chain.with_event(event):
                    yield values
