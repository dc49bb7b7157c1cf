"""LangChain: a step behind the model that cites its answer over the documents that it was given.

`pip install 'propcite[langchain]'`.  The step takes a dict with the answer (a text or a message, whole or in pieces)
and the documents, and gives the same dict with the answer as an AIMessage and the CitedAnswer as `cited`.
"""

# ruff: noqa: A002 - LangChain calls what it is given `input`
from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

from propcite.attribution.adapters.messages import Values, cited_values
from propcite.attribution.propcite import PropCite
from propcite.attribution.prose.unmarking import unmarked

Dict = dict[str, Any]


class CiteAnswer(Runnable[Dict, Dict]):
    """`chain | CiteAnswer(PropCite.default())`; the message's `additional_kwargs["citations"]` lists the citations."""

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
        arriving = Values()
        arriving.add(values)
        text = "".join(arriving.taken())
        return unmarked(text) if self.strip_markers else text, arriving.documents, arriving.question

    def _events(self, chunks: Iterator[Dict]) -> Iterator[Dict]:
        arriving = Values()
        for chunk in chunks:
            yield from arriving.add(chunk)
            if arriving.has_begun:
                break

        def texts() -> Iterator[str]:
            yield from arriving.taken()
            for chunk in chunks:
                arriving.others += arriving.add(chunk)
                yield from arriving.taken()

        with self.propcite.stream(
            texts(),
            arriving.documents,
            question=arriving.question,
            strip_markers=self.strip_markers,
        ) as stream:
            for event in stream:
                yield from arriving.told(event)

    async def _async_events(self, chunks: AsyncIterator[Dict]) -> AsyncIterator[Dict]:
        arriving = Values()
        async for chunk in chunks:
            for values in arriving.add(chunk):
                yield values
            if arriving.has_begun:
                break

        async def texts() -> AsyncIterator[str]:
            for text in arriving.taken():
                yield text
            async for chunk in chunks:
                arriving.others += arriving.add(chunk)
                for text in arriving.taken():
                    yield text

        async with self.propcite.astream(
            texts(),
            arriving.documents,
            question=arriving.question,
            strip_markers=self.strip_markers,
        ) as stream:
            async for event in stream:
                for values in arriving.told(event):
                    yield values
