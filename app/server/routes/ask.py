"""Answer questions over a collection with citations: in one response, or as the events of `events`."""

from __future__ import annotations

import asyncio
from functools import partial

from fastapi import APIRouter, Request, Response

from propcite.app.answering.pipeline import Pipeline
from propcite.app.library.store import Action
from propcite.app.server.access import Access, CheckedRoute, ReadAccess
from propcite.app.server.offsets import unit_for
from propcite.app.server.routes.events import answer_events
from propcite.app.server.routes.shared import ANSWER_RESPONSES, cancel_on_disconnect, new_answer_response
from propcite.app.server.schemas import AskRequest
from propcite.app.server.writing import Writing
from propcite.attribution.citations import CitedAnswer

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

    async def finish(answer: CitedAnswer) -> CitedAnswer:
        await asyncio.to_thread(access.record, Action.ASKED, answer.collection, answer.id)
        return answer

    if body.stream:
        stream = partial(pipeline.answer_stream, body.question, body.after)
        return writing.response(answer_events(request, writing, stream, finish, body.format, unit))
    answer = await cancel_on_disconnect(request, writing.whole(lambda: pipeline.answer(body.question, body.after)))
    return new_answer_response(service, await finish(answer), body, request)


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
