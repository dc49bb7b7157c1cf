"""One choice of a streamed completion: its text is cited while it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from propcite.app.server.proxy.asked import OURS
from propcite.app.server.proxy.citing import Blanked, Citing, is_text, sentence_annotations, uncited
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import AnswerDone, SentenceCited
from propcite.attribution.formats.json import to_dict
from propcite.attribution.prose.unmarking import Unmarking

Tell = Callable[[int, Mapping[str, Any]], Awaitable[None]]  # puts what is added to a choice's message in the stream


class CitedChoice:
    """Text goes in with `add`; each sentence's citations are told once they are known, the whole at the `end`."""

    def __init__(self, index: int, citing: Citing, tell: Tell) -> None:
        self.index, self._citing, self._tell = index, citing, tell
        self.num_annotations = 0
        self._text: list[str] = []
        self._prose = Blanked()
        self._pieces: asyncio.Queue[str | None] = asyncio.Queue()
        self._unmarking = Unmarking() if citing.asked.extension.strip_markers else None
        self._stream = citing.stream(self._coming())
        self._task = asyncio.create_task(self._cite())

    def without_markers(self, text: str) -> str:
        """What is passed on of a text, now."""
        return self._unmarking.feed(text) if self._unmarking else text

    def add(self, text: str) -> None:
        """Text that has been passed on."""
        self._text.append(text)
        self._pieces.put_nowait(self._prose.feed(text))

    async def end(self, reason: str | None, *, broken: bool = False) -> None:
        """Once all is told: what was held back, the last sentences' citations, and the cited answer."""
        rest = self._unmarking.finish() if self._unmarking else ""
        if rest:
            await self._tell(self.index, {"content": rest})
            self.add(rest)
        self._pieces.put_nowait(self._prose.finish())
        self._pieces.put_nowait(None)
        answer = replace(await self._task, text="".join(self._text))
        if is_text(answer.text):
            finished = self._citing.finished(answer, reason, broken=broken)
            await self._tell(self.index, {OURS: to_dict(finished)})

    async def close(self) -> None:
        """Nothing runs any more."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._stream.aclose()

    async def _coming(self) -> AsyncIterator[str]:
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
            return replace(self._stream.so_far, notes=(uncited(error),))
        return self._stream.so_far

    async def _annotate(self, event: SentenceCited) -> None:
        found = sentence_annotations(event, self.num_annotations)
        self.num_annotations += len(found)
        if found:
            await self._tell(self.index, {"annotations": found})
