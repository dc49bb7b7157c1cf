"""What routes share: a cited answer as a response, passages as given, a request that may be given up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from fastapi import Request, Response

from propcite.app.server.errors import RequestError
from propcite.app.server.service import Service
from propcite.app.server.shapes import GivenPassage, Problem, Written
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.sources import as_passages
from propcite.attribution.formats import FORMATS
from propcite.attribution.formats.json import AnswerJson
from propcite.retrieval.text import Passage

T = TypeVar("T")

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": what}
    for status, what in (
        (401, "No key, or one that is not known"),
        (403, "A key that may not do this"),
        (404, "No such collection, document or job"),
        (413, "Too large a request"),
        (422, "A field that is missing or wrong"),
        (429, "Too many requests with this key"),
        (502, "The language model's server cannot be used"),
        (503, "Too busy, or still loading"),
    )
}
ANSWER: dict[int | str, dict[str, Any]] = {
    **PROBLEMS,
    200: {"model": AnswerJson, "description": "The cited answer; in another media type where `format` names one"},
}


def written(service: Service, answer: CitedAnswer, wanted: Written) -> Response:
    """An answer that was just cited, in the form that was asked for."""
    service.metrics.cited(len(answer.facts), sum(bool(fact.citations) for fact in answer.facts))
    return form_of(service, answer, wanted)


def form_of(service: Service, answer: CitedAnswer, wanted: Written) -> Response:
    """With what became of the documents since, in the forms that tell it."""
    form = FORMATS[wanted.format]
    if lacking := form.lacks():
        raise RequestError(501, f"format: {form.name} needs {lacking}, which this server does not have")
    told = form.tells_documents and answer.collection
    documents = service.parts.library.cited_documents(answer) if told else {}
    headers = {"X-PropCite-Answer": answer.id}
    if not form.is_text:
        headers["Content-Disposition"] = f'attachment; filename="{answer.id}{form.suffix}"'
    return Response(form.write(answer, wanted.offsets, documents), media_type=form.media_type, headers=headers)


def passages_of(given: Sequence[str | GivenPassage]) -> list[Passage]:
    return as_passages(sources_of(given))


def sources_of(given: Sequence[str | GivenPassage]) -> list[object]:
    """What the library reads passages from, one by one."""
    return [p if isinstance(p, str) else p.model_dump(exclude_none=True) for p in given]


async def unless_gone(request: Request, work: Awaitable[T]) -> T:
    """The work's result; when the client hangs up first, the work is given up."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_gone(request))
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


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
