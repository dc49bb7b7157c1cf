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
from propcite.app.server.offsets import unit_for
from propcite.app.server.problems import INTERNAL_ERROR, one_line, problem, status_of
from propcite.app.server.routes.shared import ANSWER_RESPONSES, cancel_on_disconnect, count_facts, new_answer_response
from propcite.app.server.schemas import AskRequest
from propcite.app.server.streaming import COMMENT, sse_event
from propcite.app.server.writing import Writing
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta, event_dict
from propcite.attribution.formats import FORMATS, Unit
from propcite.attribution.formats.json.native import to_native
from propcite.retrieval.errors import PropCiteError

log = logging.getLogger("propcite.server")
router = APIRouter(tags=["ask"], route_class=CheckedRoute)


@router.post("/v1/ask", responses=ANSWER_RESPONSES, response_class=Response)
async def ask(request: Request, body: AskRequest, access: ReadAccess) -> Response:
    """Answer a question.  With `stream` the answer comes as server-sent events: answer.delta, sentence,
    citation.added, result, error."""
    service = access.service
    service.require_models()
    unit = unit_for(request, body)
    pipeline = await _pipeline(access, body)
    writing = Writing(service, access.asking)
    if body.stream:
        return writing.response(_events(access, body, pipeline, writing, unit))
    answer = await cancel_on_disconnect(request, writing.whole(lambda: pipeline.answer(body.question, body.after)))
    await asyncio.to_thread(access.record, Action.ASKED, answer.collection, answer.id)
    return new_answer_response(service, answer, body, request)


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


async def _events(
    access: Access, body: AskRequest, pipeline: Pipeline, writing: Writing, unit: Unit
) -> AsyncIterator[str]:
    service, text = access.service, ""
    try:
        async with aclosing(writing.items(lambda: pipeline.answer_stream(body.question, body.after))) as events:
            async for event in events:
                if isinstance(event, AnswerDone):
                    await asyncio.to_thread(access.record, Action.ASKED, event.answer.collection, event.answer.id)
                    count_facts(service, event.answer)
                text += event.text if isinstance(event, TextDelta) else ""
                for sent in [COMMENT] if event is None else _sse(event, text, body.format, unit):
                    yield sent
    except PropCiteError as error:
        yield sse_event("error", problem(status_of(error), one_line(str(error))))
    except Exception as error:
        log.error("/v1/ask failed in its stream", exc_info=error)
        yield sse_event("error", problem(500, INTERNAL_ERROR))


def _sse(event: Event, text: str, name: str, unit: Unit) -> Iterator[str]:
    """Yield an event in the format of that name; `text` is the answer so far."""
    match event:
        case TextDelta():
            yield sse_event("answer.delta", event_dict(event)["data"])
        case SentenceCited(sentence):
            cited = CitedAnswer(text[: sentence.span.start] + event.text, (sentence,))
            data = to_native(cited, unit)["sentences"][0]
            yield sse_event("sentence", data)
            for citation in data["citations"]:
                place = {"answer_start": data["start"], "answer_end": data["end"]}
                yield sse_event("citation.added", {**citation, **place})
        case AnswerDone(answer):
            written = FORMATS[name].write(answer, unit)
            is_json = "json" in FORMATS[name].media_type
            result = json.loads(written) if is_json else {"format": name, "text": written.decode(errors="replace")}
            yield sse_event("result", result)
