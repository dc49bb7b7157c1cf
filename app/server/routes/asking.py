"""Questions to a collection, answered with their citations: whole, or as server-sent events while they are written.

| `event` | `data` |
|---|---|
| `answer.delta` | `{"text"}`: the next characters of the answer |
| `sentence` | a sentence with its facts, once it is cited |
| `citation.added` | one citation; `answer_start` and `answer_end` say which words of the answer it supports |
| `result` | the whole cited answer |
| `error` | problem details; nothing follows |
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from propcite.app.answering.pipeline import Pipeline
from propcite.app.server.access import Access, Reader
from propcite.app.server.problems import OWN_FAULT, one_line, problem, status_of
from propcite.app.server.routes.shared import ANSWER, unless_gone, written
from propcite.app.server.shapes import AskRequest
from propcite.app.server.streaming import COMMENT, event, told
from propcite.attribution.adapters.citations import citations_of
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta, event_dict
from propcite.attribution.formats import FORMATS
from propcite.retrieval.errors import PropCiteError

log = logging.getLogger("propcite.server")
router = APIRouter(tags=["ask"])


@router.post("/v1/ask", responses=ANSWER, response_class=Response)
async def ask(request: Request, asked: AskRequest, access: Reader) -> Response:
    """Answer a question.  With `stream` the answer comes as server-sent events: answer.delta, sentence,
    citation.added, result, error."""
    service = access.service
    service.needed()
    pipeline = await _pipeline(access, asked)
    if asked.stream:
        return StreamingResponse(_events(access, asked, pipeline), media_type="text/event-stream", headers=UNBUFFERED)
    answer = await unless_gone(request, service.streams.run(lambda: _whole(pipeline, asked)))
    return written(service, answer, asked)


UNBUFFERED = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


async def _pipeline(access: Access, asked: AskRequest) -> Pipeline:
    name, service = access.name(asked.collection), access.service

    def find() -> Pipeline:
        pipeline = service.pipeline(name, asked.documents, asked.where)
        pipeline.retriever()  # an empty collection is told before anything is sent
        if asked.after:
            service.parts.library.conversation(asked.after, pipeline.collection)  # so is an answer that is not here
        return pipeline

    return await asyncio.to_thread(find)


def _whole(pipeline: Pipeline, asked: AskRequest) -> CitedAnswer:
    return pipeline.answer(asked.question, asked.after)


async def _events(access: Access, asked: AskRequest, pipeline: Pipeline) -> AsyncIterator[str]:
    service = access.service
    try:
        async with aclosing(
            told(service.streams, lambda: pipeline.answer_stream(asked.question, asked.after))
        ) as coming:
            async for one in coming:
                if isinstance(one, AnswerDone):
                    written(service, one.answer, asked)  # counted as others are
                for text in [COMMENT] if one is None else _sent(one, asked):
                    yield text
    except PropCiteError as error:
        yield event("error", problem(status_of(error), one_line(str(error))))
    except Exception as error:
        log.error("/v1/ask failed in its stream", exc_info=error)
        yield event("error", problem(500, OWN_FAULT))


def _sent(one: Event, asked: AskRequest) -> Iterator[str]:
    match one:
        case TextDelta():
            yield event("answer.delta", event_dict(one)["data"])
        case SentenceCited():
            yield event("sentence", event_dict(one)["data"])
            for citation in citations_of(one):
                yield event("citation.added", citation)
        case AnswerDone(answer):
            data = FORMATS[asked.format].write(answer, asked.offsets)
            is_json = "json" in FORMATS[asked.format].media_type
            whole = json.loads(data) if is_json else {"format": asked.format, "text": data.decode(errors="replace")}
            yield event("result", whole)
