"""Answer questions over a collection with citations: in one response, or as server-sent events.

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

from propcite.app.answering.pipeline import Pipeline
from propcite.app.library.store import Action
from propcite.app.server.access import Access, CheckedRoute, ReadAccess
from propcite.app.server.problems import INTERNAL_ERROR, one_line, problem, status_of
from propcite.app.server.routes.shared import ANSWER_RESPONSES, cancel_on_disconnect, new_answer_response
from propcite.app.server.schemas import AskRequest
from propcite.app.server.streaming import COMMENT, sse_event
from propcite.app.server.writing import Writing
from propcite.attribution.adapters.citations import citations_of
from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta, event_dict
from propcite.attribution.formats import FORMATS
from propcite.retrieval.errors import PropCiteError

log = logging.getLogger("propcite.server")
router = APIRouter(tags=["ask"], route_class=CheckedRoute)


@router.post("/v1/ask", responses=ANSWER_RESPONSES, response_class=Response)
async def ask(request: Request, body: AskRequest, access: ReadAccess) -> Response:
    """Answer a question.  With `stream` the answer comes as server-sent events: answer.delta, sentence,
    citation.added, result, error."""
    service = access.service
    service.require_models()
    pipeline = await _pipeline(access, body)
    writing = Writing(service, access.asking)
    if body.stream:
        return writing.response(_events(access, body, pipeline, writing))
    answer = await cancel_on_disconnect(request, writing.whole(lambda: pipeline.answer(body.question, body.after)))
    await asyncio.to_thread(access.record, Action.ASKED, answer.collection, answer.id)
    return new_answer_response(service, answer, body)


async def _pipeline(access: Access, body: AskRequest) -> Pipeline:
    """Open the pipeline, and raise errors of the request before a stream begins."""
    name, service = access.collection_name(body.collection), access.service

    def open_pipeline() -> Pipeline:
        pipeline = service.pipeline(name, body.documents, body.where)
        pipeline.retriever()  # raises for an empty collection
        if body.after:
            service.parts.library.conversation(body.after, pipeline.collection)  # raises for an unknown answer
        return pipeline

    return await asyncio.to_thread(open_pipeline)


async def _events(access: Access, body: AskRequest, pipeline: Pipeline, writing: Writing) -> AsyncIterator[str]:
    service = access.service
    try:
        async with aclosing(writing.items(lambda: pipeline.answer_stream(body.question, body.after))) as events:
            async for event in events:
                if isinstance(event, AnswerDone):
                    await asyncio.to_thread(access.record, Action.ASKED, event.answer.collection, event.answer.id)
                    new_answer_response(service, event.answer, body)  # to count it
                for text in [COMMENT] if event is None else _sse(event, body):
                    yield text
    except PropCiteError as error:
        yield sse_event("error", problem(status_of(error), one_line(str(error))))
    except Exception as error:
        log.error("/v1/ask failed in its stream", exc_info=error)
        yield sse_event("error", problem(500, INTERNAL_ERROR))


def _sse(event: Event, body: AskRequest) -> Iterator[str]:
    match event:
        case TextDelta():
            yield sse_event("answer.delta", event_dict(event)["data"])
        case SentenceCited():
            yield sse_event("sentence", event_dict(event)["data"])
            for citation in citations_of(event):
                yield sse_event("citation.added", citation)
        case AnswerDone(answer):
            data = FORMATS[body.format].write(answer, body.offsets)
            is_json = "json" in FORMATS[body.format].media_type
            result = json.loads(data) if is_json else {"format": body.format, "text": data.decode(errors="replace")}
            yield sse_event("result", result)
