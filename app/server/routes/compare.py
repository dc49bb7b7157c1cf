"""Compare two selections of documents: what they say to one question, or all that they say."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from propcite.app.answering.pipeline import Pipeline
from propcite.app.comparing import check_sides, compare, compare_whole, num_passages
from propcite.app.library.store import Action
from propcite.app.server.access import Access, CheckedRoute, ReadAccess
from propcite.app.server.offsets import unit_for
from propcite.app.server.routes.shared import PROBLEMS, cancel_on_disconnect, count_facts
from propcite.app.server.schemas import CompareRequest
from propcite.app.server.writing import Writing
from propcite.app.turns.costs import Kind, Size
from propcite.attribution.citing.comparing import Comparison
from propcite.attribution.formats.json.comparisons import ComparisonJson, comparison_dict
from propcite.attribution.formats.json.text_comparisons import TextComparisonJson, text_comparison_dict
from propcite.attribution.versions.records import TextComparison
from propcite.retrieval.index import ProgressReport, ignore_progress

BOTH = Size(texts=2)  # answers that are written
router = APIRouter(tags=["ask"], route_class=CheckedRoute)


@router.post("/v1/compare", responses=PROBLEMS, response_model=ComparisonJson | TextComparisonJson)
async def compare_documents(request: Request, body: CompareRequest, access: ReadAccess) -> JSONResponse:
    """Ask two documents, or two versions of one, the same: what both say, where they differ, what only one says.

    Both answers are stored.  Without a question the documents are compared whole, sentence by sentence, and nothing is
    stored.
    """
    unit = unit_for(request, body)
    if not body.question.strip():
        found = await cancel_on_disconnect(request, compared_whole(access, body))
        return JSONResponse(text_comparison_dict(found, unit))
    return JSONResponse(comparison_dict(await cancel_on_disconnect(request, compared(access, body)), unit))


async def compared(access: Access, body: CompareRequest) -> Comparison:
    """Ask both sides, and return their answers side by side."""
    service = access.service
    service.require_models()
    left, right = await asyncio.to_thread(_sides, access, body)
    found = await Writing(service, access.asking, BOTH).whole(lambda: compare(left, right, body.question))
    for answer in (found.left, found.right):
        count_facts(service, answer)
        await asyncio.to_thread(access.record, Action.ASKED, answer.collection, answer.id)
    return found


async def compared_whole(
    access: Access, body: CompareRequest, report: ProgressReport = ignore_progress
) -> TextComparison:
    """Pair the sentences of both sides; `report` is called in the thread that does it."""
    service = access.service
    service.require_models()
    left, right = await asyncio.to_thread(_sides, access, body)
    size = Size(texts=2, sentences=await asyncio.to_thread(num_passages, left, right))
    return await Writing(service, access.asking, size, Kind.COMPARE).whole(lambda: compare_whole(left, right, report))


def _sides(access: Access, body: CompareRequest) -> tuple[Pipeline, Pipeline]:
    name, service = access.collection_name(body.collection), access.service
    left, right = (service.pipeline(name, documents) for documents in (body.left, body.right))
    check_sides(service.parts.library, left.collection, body.left, body.right)
    left.retriever()  # raises for an empty collection
    return left, right
