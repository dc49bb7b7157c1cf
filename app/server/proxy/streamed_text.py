"""A text of a streamed answer, which is cited while it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

from propcite.app.server.proxy.citing import Citer, ReasoningMask, not_cited_note
from propcite.app.server.proxy.sentence_gate import SentenceGate
from propcite.app.server.proxy.source_list import SourceList
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import AnswerDone, SentenceCited
from propcite.attribution.formats.offsets import Unit
from propcite.attribution.prose.marker_stripper import MarkerStripper

OnCited = Callable[[SentenceCited | None], Awaitable[None]]


class StreamedText:
    """Takes a text by `take` and `add`; `on_cited` is called for each cited sentence, and with None after the last.

    With a `gate` text may wait for citations, and `source_list` is what the text itself says of its sources.
    """

    def __init__(self, citer: Citer, on_cited: OnCited, *, waits: bool = False) -> None:
        self.gate = SentenceGate() if waits or citer.client.sources_as_text else None
        self.source_list = SourceList() if citer.client.sources_as_text else None
        self.num_annotations = 0  # that were sent
        self._citer, self._on_cited = citer, on_cited
        self._text: list[str] = []
        self._sent: list[str] = []
        self._mask = ReasoningMask()
        self._pieces: asyncio.Queue[str | None] = asyncio.Queue()
        self._stripper = MarkerStripper() if citer.call.extension.strip_markers else None
        self._stream = citer.stream(self._queued_pieces())
        self._task = asyncio.create_task(self._cite())

    def take(self, text: str) -> tuple[str, str]:
        """Return the text without its markers, if the request asks for that, and the part that can be sent now."""
        text = self._stripper.feed(text) if self._stripper else text
        return text, self.sending(self.gate.feed(text) if self.gate else text)

    def add(self, text: str) -> None:
        """Add text without markers, once its sending has begun."""
        self._text.append(text)
        self._pieces.put_nowait(self._mask.feed(text))

    def rest(self) -> str:
        """Take the end of the text, and return what of it can be sent now."""
        rest = self._stripper.finish() if self._stripper else ""
        if rest:
            self.add(rest)
        return self.sending(self.gate.feed(rest) + self.gate.finish() if self.gate else rest)

    def released(self, event: SentenceCited | None) -> str:
        """Return what can be sent once a sentence is cited: its markers, and the text that waited for them."""
        if self.gate is None:
            return ""
        if event is None:
            return self.sending(self.gate.open())
        self.gate.cited()
        markers = self.source_list.markers(event.citations) if self.source_list else ""
        return self.sending(markers + self.gate.next())

    def sources(self) -> str:
        """Return the list of sources that ends the text; empty unless the client wants one."""
        return self.sending(self.source_list.text()) if self.source_list else ""

    def sending(self, text: str) -> str:
        """Return a text that is sent now."""
        self._sent.append(text)
        return text

    @property
    def sent(self) -> str:
        """Return what the client has of the text."""
        return "".join(self._sent)

    @property
    def text(self) -> str:
        """Return the text that is cited, so far."""
        return "".join(self._text)

    def answer_with(self, event: SentenceCited) -> CitedAnswer:
        """Return the text up to a sentence as an answer with its citations; blanks stand for what only has a length."""
        before = self.text[: event.sentence.span.start]
        if before.isascii() or self._citer.client.unit is Unit.CODE_POINTS:
            before = " " * len(before)
        return CitedAnswer(before + event.text, (event.sentence,))

    async def end(self, reason: str | None = None) -> CitedAnswer:
        """Return the cited answer, after `on_cited` has been called for all of its sentences."""
        self._pieces.put_nowait(self._mask.finish())
        self._pieces.put_nowait(None)
        return self._citer.finish(replace(await self._task, text=self.text), reason)

    async def close(self) -> None:
        """Stop citing."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._stream.aclose()

    async def _queued_pieces(self) -> AsyncIterator[str]:
        while (piece := await self._pieces.get()) is not None:
            yield piece

    async def _cite(self) -> CitedAnswer:
        answer = await self._cited()
        await self._on_cited(None)
        return answer

    async def _cited(self) -> CitedAnswer:
        try:
            async for event in self._stream:
                if isinstance(event, SentenceCited):
                    await self._on_cited(event)
                elif isinstance(event, AnswerDone):
                    return event.answer
        except Exception as error:  # the text goes on without citations
            return replace(self._stream.so_far, notes=(not_cited_note(error),))
        return self._stream.so_far
