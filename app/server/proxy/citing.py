"""Cite the texts of answers, whole or while they come.  A text that cannot be cited is passed on with a note."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from propcite.app.server.access import Access
from propcite.app.server.problems import INTERNAL_ERROR, one_line
from propcite.app.server.proxy.client import Client
from propcite.app.server.proxy.proxy_request import ProxyRequest
from propcite.app.server.proxy.sources import Sources
from propcite.app.server.service import Service
from propcite.app.turns.costs import Kind, Size
from propcite.app.turns.jobs import Job
from propcite.app.turns.workers import Asking
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import Event
from propcite.attribution.formats.json.native import to_native
from propcite.attribution.llm.reasoning import ReasoningFilter
from propcite.attribution.prose.marker_stripper import remove_markers
from propcite.retrieval.errors import PropCiteError

log = logging.getLogger("propcite.server")

LIMIT_NOTE = "the model stopped at its limit of tokens"
FILTER_NOTE = "a filter stopped the model"
INCOMPLETE_NOTES = {  # by the reasons that the three APIs name
    "length": LIMIT_NOTE,
    "max_output_tokens": LIMIT_NOTE,
    "max_tokens": LIMIT_NOTE,
    "model_context_window_exceeded": LIMIT_NOTE,
    "content_filter": FILTER_NOTE,
    "refusal": FILTER_NOTE,
}
SERVER = "the model server"  # begins every reason of ours, as no model's
BROKEN_OFF = f"{SERVER} broke off"
NOT_JSON = "the model server's response is not JSON: correct PROPCITE_LLM_URL"


class EventStream(Protocol):
    """The events of an answer that is being cited."""

    def __aiter__(self) -> AsyncIterator[Event]: ...
    @property
    def so_far(self) -> CitedAnswer: ...
    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Citer:
    """Cites the texts of one request, without the reasoning that a model writes before its answer."""

    service: Service
    asking: Asking
    job: Job  # of a stream
    call: ProxyRequest
    sources: Sources

    @classmethod
    def of(cls, access: Access, call: ProxyRequest, sources: Sources) -> Self:
        """Admit the citing of an answer before its model writes; BusyError if it would wait too long."""
        service, asking = access.service, access.asking
        service.workers.check(asking, Kind.ANSWER, Size())
        return cls(service, asking, service.workers.writing_job(asking.client), call, sources)

    @property
    def client(self) -> Client:
        return self.call.client

    async def text(self, text: str, reason: str | None) -> CitedAnswer:
        """Cite a complete text in a batch with other requests; its markers are removed if the request says so."""
        if self.call.extension.strip_markers:
            text = remove_markers(text)
        mask = ReasoningMask()
        prose = mask.feed(text) + mask.finish()
        try:
            answer = await self._cite(prose)
        except Exception as error:
            answer = CitedAnswer(prose, question=self.call.question, notes=(not_cited_note(error),))
        return self.finish(replace(answer, text=text), reason)

    async def _cite(self, prose: str) -> CitedAnswer:
        first, collection, question = self.sources.first, self.sources.collection, self.call.question
        return await self.service.citing_queue.cite(
            self.asking, prose, first, collection=collection, question=question, is_admitted=True
        )

    def stream(self, pieces: AsyncIterable[str]) -> EventStream:
        with self.job.pacing():
            return self.service.propcite.astream(
                pieces,
                self.sources.first,
                collection=self.sources.collection,
                question=self.call.question,
            )

    def stop(self) -> None:
        """End the citing of a stream at its next text."""
        self.job.cancel()
        self.service.workers.learn(Kind.ANSWER, Size(), self.job.spent)

    def finish(self, answer: CitedAnswer, reason: str | None = None) -> CitedAnswer:
        """Count the answer's facts, and add the collection, the model's name and why it is incomplete."""
        self.service.metrics.count_facts(len(answer.facts), sum(bool(fact.citations) for fact in answer.facts))
        model = self.call.body.get("model")
        models = {**answer.models, **({"generator": model} if isinstance(model, str) else {})}
        return stopped(replace(answer, collection=self.sources.name, models=models), reason)

    def as_json(self, answer: CitedAnswer) -> dict[str, Any]:
        return to_native(answer, self.client.unit)


def stopped(answer: CitedAnswer, reason: str | None) -> CitedAnswer:
    """Return the answer with a note if the reason for which the model stopped says that it is incomplete."""
    reason = reason or ""
    note = reason.partition(" (")[0] if reason.startswith(SERVER) else INCOMPLETE_NOTES.get(reason, "")
    return replace(answer, incomplete=True, notes=(*answer.notes, note)) if note else answer


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


def not_cited_note(error: Exception) -> str:
    """Return a note on why a text is not cited; an internal error is logged."""
    if isinstance(error, PropCiteError):
        return f"not cited: {one_line(str(error))}"
    log.error("an answer could not be cited", exc_info=error)
    return f"not cited: {INTERNAL_ERROR}"


def is_text(content: Any) -> bool:
    return isinstance(content, str) and bool(content.strip())
