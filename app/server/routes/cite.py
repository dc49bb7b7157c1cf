"""Cite any text over passages, over a collection, or both."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from propcite.app.library.store import Action
from propcite.app.server.access import Access, CheckedRoute, ReadAccess
from propcite.app.server.errors import RequestError
from propcite.app.server.offsets import unit_for
from propcite.app.server.routes.shared import (
    ANSWER_RESPONSES,
    PROBLEMS,
    cancel_on_disconnect,
    new_answer_response,
    plain_inputs,
    to_passages,
)
from propcite.app.server.schemas import CiteRequest, RepairRequest
from propcite.app.turns.costs import Kind, Size
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.json import json_schema
from propcite.attribution.formats.json.explanations import explanation_schema
from propcite.attribution.formats.json.repairs import RepairJson, repair_json, repair_schema

router = APIRouter(tags=["cite"], route_class=CheckedRoute)
SCHEMAS = {"answer": json_schema, "repair": repair_schema, "explanation": explanation_schema}


@router.get("/v1/schemas/{of}")
def schema(of: Literal["answer", "repair", "explanation"]) -> dict[str, Any]:
    """Return the JSON schema of a response; no key is required."""
    return SCHEMAS[of]()


@router.post("/v1/cite", responses=ANSWER_RESPONSES, response_class=Response)
async def cite(request: Request, body: CiteRequest, access: ReadAccess) -> Response:
    """Cite a text.  Answers that wait at the same time are cited in one batch."""
    access.service.require_models()
    answer = await cancel_on_disconnect(request, _cite(access, body))
    return new_answer_response(access.service, answer, body, request)


async def _cite(access: Access, body: CiteRequest) -> CitedAnswer:
    service, passages = access.service, to_passages(body.passages)
    has_passages = "passages" in body.model_fields_set  # an empty list too: the answer was written from nothing
    if body.keep and has_passages and not body.collection:
        raise RequestError(422, "keep: an answer is stored with a collection: name one")
    if has_passages and not body.collection:
        return await service.citing_queue.cite(access.asking, body.answer, passages, question=body.question)
    name = access.collection_name(body.collection)
    pipeline = await asyncio.to_thread(service.pipeline, name)
    retriever = await asyncio.to_thread(pipeline.retriever)
    source, collection = (passages, retriever) if has_passages else (retriever, None)
    cited = await service.citing_queue.cite(
        access.asking, body.answer, source, collection=collection, question=body.question
    )
    if body.keep:
        if access.key:  # what is kept looks like an answer of this server's
            cited = replace(cited, notes=(*cited.notes, f"sent by {access.speaker()}"))
        cited = await asyncio.to_thread(pipeline.store, cited)
    await asyncio.to_thread(access.record, Action.CITED, name, cited.id if body.keep else "")
    return replace(cited, collection=name)


@router.post("/v1/repair", responses=PROBLEMS, response_model=RepairJson)
async def repair(request: Request, body: RepairRequest, access: ReadAccess) -> JSONResponse:
    """Check a text's own markers: which are right, which are dropped, which are missing."""
    service = access.service
    service.require_models()
    name = access.collection_name(body.collection) if body.collection else None
    given, unit = to_passages(body.passages), unit_for(request, body)
    service.limits.check_characters(body.answer, given)

    def work() -> RepairJson:
        service.limits.check_sentences(body.answer)
        collection = service.pipeline(name).retriever() if name else None
        passages = plain_inputs(body.passages)
        repaired = service.propcite.repair(body.answer, passages, collection=collection, question=body.question)
        return repair_json(repaired, body.answer, unit)

    size = Size.of(body.answer, given)
    work_done = service.workers.run(access.asking, Kind.REPAIR, size, work)
    return JSONResponse(await cancel_on_disconnect(request, work_done))
