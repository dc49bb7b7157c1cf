"""Helpers of several routes: answers as responses, passages of requests, and work that ends when a client leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from fastapi import Request, Response

from propcite.app.answering.pipeline import Pipeline
from propcite.app.library.store import Scope
from propcite.app.server.access import Access
from propcite.app.server.errors import RequestError
from propcite.app.server.offsets import unit_for
from propcite.app.server.results import Problem
from propcite.app.server.schemas import AnswerFormat, PassageInput
from propcite.app.server.service import Service
from propcite.app.turns.costs import Kind, Size
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.sources import as_passages
from propcite.attribution.formats import FORMATS
from propcite.attribution.formats.json import AnswerJson
from propcite.retrieval.text import Passage

T = TypeVar("T")

MAX_FIRST = 2**31 - 1  # what every database counts to
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": description}
    for status, description in (
        (401, "No key, or an unknown one"),
        (403, "The key does not allow this"),
        (404, "No such collection, document or job"),
        (413, "The request is too large"),
        (422, "A field is missing or wrong"),
        (429, "Too many requests with this key"),
        (502, "The model server cannot be used"),
        (503, "Too busy, or still loading"),
    )
}
ANSWER_RESPONSES: dict[int | str, dict[str, Any]] = {
    **PROBLEMS,
    200: {"model": AnswerJson, "description": "The cited answer; in another media type if `format` names one"},
}


def count_facts(service: Service, answer: CitedAnswer) -> None:
    service.metrics.count_facts(len(answer.facts), sum(bool(fact.citations) for fact in answer.facts))


def new_answer_response(service: Service, answer: CitedAnswer, options: AnswerFormat, request: Request) -> Response:
    """Count the facts of a new answer, and return it in the requested format."""
    count_facts(service, answer)
    return answer_response(service, answer, options, request)


def answer_response(service: Service, answer: CitedAnswer, options: AnswerFormat, request: Request) -> Response:
    """Return an answer in the requested format, with the documents' present state if the format shows it."""
    form = FORMATS[options.format]
    if missing := form.missing_program():
        raise RequestError(501, f"format: {form.name} needs {missing}, which this server does not have")
    with_documents = form.shows_document_status and answer.collection
    documents = service.parts.library.cited_documents(answer) if with_documents else {}
    headers = {"X-PropCite-Answer": answer.id}
    if not form.is_text:
        headers["Content-Disposition"] = f'attachment; filename="{answer.id}{form.suffix}"'
    return Response(
        form.write(answer, unit_for(request, options), documents), media_type=form.media_type, headers=headers
    )


def keep_cited(access: Access, pipeline: Pipeline, cited: CitedAnswer) -> CitedAnswer:
    """Store a cited text in its sender's name, since it looks like an answer of this server's, and return it.

    What a key of scope read sends replaces nothing that others keep: that is returned; 409 if it has other quotes.
    """
    if access.key is None:
        return pipeline.store(cited)
    library, sent_by = access.service.parts.library, f"sent by {access.speaker()}"
    cited = replace(cited, collection=pipeline.collection.name, notes=(*cited.notes, sent_by))
    if not access.rights.allow(Scope.WRITE, cited.collection) and library.has_answer(cited.id):
        kept = library.answer(cited.id)
        if sent_by not in kept.notes:
            if [one.quote for one in kept.citations] != [one.quote for one in cited.citations]:
                raise RequestError(409, f"{kept.id} is kept with other quotes: a key of scope write may replace it")
            return kept
    return pipeline.store(cited)


def to_passages(inputs: Sequence[str | PassageInput | Passage]) -> list[Passage]:
    return as_passages(plain_inputs(inputs))


def plain_inputs(inputs: Sequence[str | PassageInput | Passage]) -> list[object]:
    """Return passages as the texts, dictionaries and Passages that `propcite` accepts."""
    return [p.model_dump(exclude_none=True) if isinstance(p, PassageInput) else p for p in inputs]


async def exported(request: Request, access: Access, work: Callable[[], T], num_facts: int = 0) -> T:
    """Return what is written of so many facts, in the turn of whoever asks."""
    size = Size(sentences=num_facts)
    workers = access.service.workers
    return await cancel_on_disconnect(request, workers.run(access.asking, Kind.EXPORT, size, work))


async def cancel_on_disconnect(request: Request, work: Awaitable[T]) -> T:
    """Return the result of the work; cancel it if the client disconnects first."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnect(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise RequestError(499, "the client hung up")
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
