"""Questions that a collection answers, questions that follow an answer, and a document in short."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request

from propcite.app.overview.suggester import document_overview, suggester_of
from propcite.app.server.access import Access, CheckedRoute, ReadAccess
from propcite.app.server.results import DocumentOverview, SuggestedQuestions
from propcite.app.server.routes.answers import find_answer
from propcite.app.server.routes.shared import PROBLEMS, cancel_on_disconnect
from propcite.app.server.schemas import Name
from propcite.app.turns.costs import Kind, Size
from propcite.attribution.citations import CitedAnswer

router = APIRouter(tags=["overviews"], route_class=CheckedRoute)
Collection = Annotated[Name | None, Query(description="default: the server's own, PROPCITE_COLLECTION")]


@router.get("/v1/suggestions", responses=PROBLEMS)
async def suggest_questions(request: Request, access: ReadAccess, collection: Collection = None) -> SuggestedQuestions:
    """Return questions that the collection answers, each with the sentence that does.

    They are made at the first request and kept until documents change.
    """
    return await _suggested(request, access, access.collection_name(collection))


@router.get("/v1/answers/{answer_id}/follow-ups", responses=PROBLEMS)
async def suggest_follow_ups(request: Request, access: ReadAccess, answer_id: str) -> SuggestedQuestions:
    """Return questions on what stands near an answer and is not said in it; ask them with `after`."""
    answer = await asyncio.to_thread(find_answer, access, answer_id)
    return await _suggested(request, access, answer.collection, answer)


@router.get("/v1/documents/{document_id}/overview", responses=PROBLEMS)
def get_overview(access: ReadAccess, document_id: str, collection: Collection = None) -> DocumentOverview:
    """Return a document in short: its most telling sentences and its headings, each with its place.

    `span` counts characters of the document: open it at `/v1/documents/ID/reading?cited=START-END`.
    """
    info = access.service.pipeline(access.collection_name(collection)).collection
    made = document_overview(access.service.parts.library, info, document_id)
    return DocumentOverview(id=document_id, summary=list(made.summary), outline=list(made.outline))


async def _suggested(
    request: Request, access: Access, name: str, after: CitedAnswer | None = None
) -> SuggestedQuestions:
    service = access.service
    pipeline = await asyncio.to_thread(service.pipeline, name)
    suggester = suggester_of(service.parts, pipeline.collection, lambda: pipeline)
    found = await asyncio.to_thread(suggester.kept, after)
    if found is None:
        service.require_models()
        work = service.workers.run(access.asking, Kind.SUGGEST, Size(), lambda: suggester.make(after))
        found = await cancel_on_disconnect(request, work)
    return SuggestedQuestions(collection=name, questions=found)
