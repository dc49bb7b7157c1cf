"""One choice of a streamed completion, whose text is cited while it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from propcite.app.server.proxy.chat_request import EXTENSION
from propcite.app.server.proxy.citing import (
    CompletionCiter,
    ReasoningMask,
    is_text,
    not_cited_note,
    sentence_annotations,
)
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import AnswerDone, SentenceCited
from propcite.attribution.formats.json import to_dict
from propcite.attribution.prose.marker_stripper import MarkerStripper

Send = Callable[[int, Mapping[str, Any]], Awaitable[None]]  # adds fields to a choice's message in the stream


class StreamedChoice:
    """Takes text by `add` and sends each sentence's annotations once it is cited, the cited answer at the `end`."""

    def __init__(self, index: int, citer: CompletionCiter, send: Send) -> None:
        self.index, self._citer, self._send = index, citer, send
        self.num_annotations = 0
        self._text: list[str] = []
        self._mask = ReasoningMask()
        self._pieces: asyncio.Queue[str | None] = asyncio.Queue()
        self._stripper = MarkerStripper() if citer.chat.extension.strip_markers else None
        self._stream = citer.stream(self._queued_pieces())
        self._task = asyncio.create_task(self._cite())

    def strip(self, text: str) -> str:
        """Return the part of the text that can be passed on now; markers are removed if the request asks for it."""
        return self._stripper.feed(text) if self._stripper else text

    def add(self, text: str) -> None:
        """Add text that has been passed on."""
        self._text.append(text)
        self._pieces.put_nowait(self._mask.feed(text))

    async def end(self, reason: str | None, *, why_broken: str = "") -> None:
        """Send what is left: text that was held back, the last sentences' annotations, and the cited answer."""
        rest = self._stripper.finish() if self._stripper else ""
        if rest:
            await self._send(self.index, {"content": rest})
            self.add(rest)
        self._pieces.put_nowait(self._mask.finish())
        self._pieces.put_nowait(None)
        answer = replace(await self._task, text="".join(self._text))
        if is_text(answer.text):
            await self._send(
                self.index, {EXTENSION: to_dict(self._citer.finish(answer, reason, why_broken=why_broken))}
            )

    async def close(self) -> None:
        """Stop citing."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._stream.aclose()

    async def _queued_pieces(self) -> AsyncIterator[str]:
        while (piece := await self._pieces.get()) is not None:
            yield piece

    async def _cite(self) -> CitedAnswer:
        try:
            async for event in self._stream:
                if isinstance(event, SentenceCited):
                    await self._annotate(event)
                elif isinstance(event, AnswerDone):
                    return event.answer
        except Exception as error:  # the text goes on without citations
            return replace(self._stream.so_far, notes=(not_cited_note(error),))
        return self._stream.so_far

    async def _annotate(self, event: SentenceCited) -> None:
        annotations = sentence_annotations(event, self.num_annotations)
        self.num_annotations += len(annotations)
        if annotations:
            await self._send(self.index, {"annotations": annotations})
