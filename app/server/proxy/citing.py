"""Cite the texts of completions, whole or while they come.  A text that cannot be cited is passed on with a note."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from propcite.app.server.access import Access
from propcite.app.server.errors import RequestError
from propcite.app.server.problems import INTERNAL_ERROR, one_line
from propcite.app.server.proxy.chat_request import EXTENSION, ChatRequest
from propcite.app.server.proxy.sources import Sources
from propcite.app.server.service import Service
from propcite.app.turns.costs import Kind, Size
from propcite.app.turns.jobs import Job
from propcite.app.turns.workers import Asking
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.stream import AsyncCitedStream
from propcite.attribution.events import SentenceCited
from propcite.attribution.formats.json import to_dict
from propcite.attribution.formats.openai import chat_annotations
from propcite.attribution.llm.reasoning import ReasoningFilter
from propcite.attribution.prose.marker_stripper import remove_markers
from propcite.retrieval.errors import PropCiteError

log = logging.getLogger("propcite.server")

INCOMPLETE_NOTES = {
    "length": "the model stopped at its limit of tokens",
    "content_filter": "a filter stopped the model",
}
BROKEN_OFF = "the model server broke off"
NOT_JSON = "the model server's response is not JSON: correct PROPCITE_LLM_URL"


@dataclass(frozen=True, slots=True)
class CompletionCiter:
    """Cites the completions of one request, without the reasoning that a model writes before its answer."""

    service: Service
    asking: Asking
    job: Job  # of a stream
    chat: ChatRequest
    sources: Sources

    @classmethod
    def of(cls, access: Access, chat: ChatRequest, sources: Sources) -> Self:
        """Admit the citing of a completion before its model writes; BusyError if it would wait too long."""
        service, asking = access.service, access.asking
        service.workers.check(asking, Kind.ANSWER, Size())
        return cls(service, asking, service.workers.writing_job(asking.client), chat, sources)

    async def completion(self, body: bytes) -> bytes:
        """Add `annotations` and the cited answer to each choice's message; all else stays as received."""
        try:
            completion = json.loads(body)
        except (ValueError, RecursionError):
            completion = None
        if not isinstance(completion, dict):
            raise RequestError(502, NOT_JSON)
        choices = completion.get("choices")
        choices = [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []
        texts = [c for c in choices if isinstance(c.get("message"), dict) and is_text(c["message"].get("content"))]
        if not texts:
            return body
        await asyncio.gather(*map(self._choice, texts))
        return json.dumps(completion).encode()

    async def _choice(self, choice: Mapping[str, Any]) -> None:
        message = choice["message"]
        if self.chat.extension.strip_markers:
            message["content"] = remove_markers(message["content"])
        answer = await self._text(message["content"], choice.get("finish_reason"))
        message["annotations"] = [*(message.get("annotations") or []), *chat_annotations(answer)]
        message[EXTENSION] = to_dict(answer)

    async def _text(self, text: str, reason: str | None) -> CitedAnswer:
        """Cite a complete text in a batch with other requests."""
        first, collection, question = self.sources.first, self.sources.collection, self.chat.question
        mask = ReasoningMask()
        prose = mask.feed(text) + mask.finish()
        try:
            answer = await self.service.citing_queue.cite(
                self.asking, prose, first, collection=collection, question=question, is_admitted=True
            )
        except Exception as error:
            answer = CitedAnswer(prose, question=question, notes=(not_cited_note(error),))
        return self.finish(replace(answer, text=text), reason)

    def stream(self, pieces: AsyncIterable[str]) -> AsyncCitedStream:
        with self.job.pacing():
            return self.service.propcite.astream(
                pieces,
                self.sources.first,
                collection=self.sources.collection,
                question=self.chat.question,
            )

    def stop(self) -> None:
        """End the citing of a stream at its next text."""
        self.job.cancel()
        self.service.workers.learn(Kind.ANSWER, Size(), self.job.spent)

    def finish(self, answer: CitedAnswer, reason: str | None, *, why_broken: str = "") -> CitedAnswer:
        """Count the answer's facts, and add the collection, the model's name and why it is incomplete."""
        self.service.metrics.count_facts(len(answer.facts), sum(bool(fact.citations) for fact in answer.facts))
        note = why_broken.partition(" (")[0] or INCOMPLETE_NOTES.get(reason or "", "")
        model = self.chat.body.get("model")
        return replace(
            answer,
            collection=self.sources.name,
            incomplete=bool(note),
            notes=(*answer.notes, *([note] if note else [])),
            models={**answer.models, **({"generator": model} if isinstance(model, str) else {})},
        )


class ReasoningMask:
    """Replaces reasoning before an answer by empty lines, so that all offsets stay the same."""

    def __init__(self) -> None:
        self._filter = ReasoningFilter()
        self._num_fed = self._num_returned = 0

    def feed(self, text: str) -> str:
        self._num_fed += len(text)
        return self._padded(self._filter.feed(text))

    def finish(self) -> str:
        return self._padded(self._filter.finish())

    def _padded(self, prose: str) -> str:
        if not prose:
            return ""
        end = self._num_fed - self._filter.num_pending
        num_masked = end - len(prose) - self._num_returned
        self._num_returned = end
        return "\n" * num_masked + prose


def sentence_annotations(event: SentenceCited, first: int) -> list[dict[str, Any]]:
    """Return a sentence's annotations for a stream, each with the `index` by which clients join them."""
    before = " " * event.sentence.span.start
    annotations = chat_annotations(CitedAnswer(before + event.text, (event.sentence,)))
    return [{"index": number, **annotation} for number, annotation in enumerate(annotations, start=first)]


def not_cited_note(error: Exception) -> str:
    """Return a note on why a text is not cited; an internal error is logged."""
    if isinstance(error, PropCiteError):
        return f"not cited: {one_line(str(error))}"
    log.error("an answer could not be cited", exc_info=error)
    return f"not cited: {INTERNAL_ERROR}"


def is_text(content: Any) -> bool:
    return isinstance(content, str) and bool(content.strip())


def index_of(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0
