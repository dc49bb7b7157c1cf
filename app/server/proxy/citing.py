"""Texts of a completion cited, whole or while they come.  A text is never lost because it could not be cited."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from propcite.app.server.problems import OWN_FAULT, one_line
from propcite.app.server.proxy.asked import Asked
from propcite.app.server.proxy.sources import Sources
from propcite.app.server.service import Service
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.stream import AsyncCitedStream
from propcite.attribution.events import SentenceCited
from propcite.attribution.formats.openai import chat_annotations
from propcite.attribution.llm.thoughts import Thoughts
from propcite.retrieval.errors import PropCiteError

log = logging.getLogger("propcite.server")

CUT_OFF = {"length": "the model stopped at its limit of tokens", "content_filter": "a filter stopped the model"}
BROKE_OFF = "the model's server broke off"


@dataclass(frozen=True, slots=True)
class Citing:
    """One request's way of citing; thoughts that a model writes in front of its answer are not cited."""

    service: Service
    asked: Asked
    sources: Sources

    async def whole(self, text: str, reason: str | None) -> CitedAnswer:
        """A text that has come to its end, cited beside those of others."""
        first, collection, question = self.sources.first, self.sources.collection, self.asked.question
        blanked = Blanked()
        prose = blanked.feed(text) + blanked.finish()
        try:
            answer = await self.service.desk.cite(prose, first, collection=collection, question=question)
        except Exception as error:
            answer = CitedAnswer(prose, question=question, notes=(uncited(error),))
        return self.finished(replace(answer, text=text), reason)

    def stream(self, pieces: AsyncIterable[str]) -> AsyncCitedStream:
        return self.service.parts.propcite.astream(
            pieces,
            self.sources.first,
            collection=self.sources.collection,
            question=self.asked.question,
        )

    def finished(self, answer: CitedAnswer, reason: str | None, *, broken: bool = False) -> CitedAnswer:
        """The answer with what is known of how it was written, counted."""
        self.service.metrics.cited(len(answer.facts), sum(bool(fact.citations) for fact in answer.facts))
        why = BROKE_OFF if broken else CUT_OFF.get(reason or "", "")
        model = self.asked.body.get("model")
        return replace(
            answer,
            collection=self.sources.name,
            incomplete=bool(why),
            notes=(*answer.notes, *([why] if why else [])),
            models={**answer.models, **({"generator": model} if isinstance(model, str) else {})},
        )


class Blanked:
    """A text as it is cited: thoughts in front of an answer become empty lines, so that every place stays."""

    def __init__(self) -> None:
        self._thoughts = Thoughts()
        self._num_given = self._num_read = 0

    def feed(self, text: str) -> str:
        self._num_given += len(text)
        return self._placed(self._thoughts.feed(text))

    def finish(self) -> str:
        return self._placed(self._thoughts.finish())

    def _placed(self, prose: str) -> str:
        if not prose:
            return ""
        end = self._num_given - self._thoughts.num_held
        before = end - len(prose) - self._num_read
        self._num_read = end
        return "\n" * before + prose


def sentence_annotations(event: SentenceCited, first: int) -> list[dict[str, Any]]:
    """A sentence's citations for a stream: each has its `index` in the whole list, by which clients put it together."""
    before = " " * event.sentence.span.start
    found = chat_annotations(CitedAnswer(before + event.text, (event.sentence,)))
    return [{"index": number, **one} for number, one in enumerate(found, start=first)]


def uncited(error: Exception) -> str:
    """Why a text is not cited, for its reader; a fault of our own is for the log."""
    if isinstance(error, PropCiteError):
        return f"not cited: {one_line(str(error))}"
    log.error("an answer could not be cited", exc_info=error)
    return f"not cited: {OWN_FAULT}"


def is_text(content: Any) -> bool:
    return isinstance(content, str) and bool(content.strip())


def index_of(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0
