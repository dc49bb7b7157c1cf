"""Any text cited: over given passages, over a collection, or both."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Literal

from fastapi import APIRouter, Request, Response

from propcite.app.server.access import Access, Reader
from propcite.app.server.errors import RequestError
from propcite.app.server.routes.shared import ANSWER, PROBLEMS, passages_of, sources_of, unless_gone, written
from propcite.app.server.shapes import CiteRequest, RepairRequest
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.json.repairs import RepairJson, repair_json
from propcite.attribution.formats.json.schemas import SCHEMAS

router = APIRouter(tags=["cite"])


@router.get("/v1/schemas/{of}")
def schema(of: Literal["answer", "repair", "explanation"]) -> dict[str, Any]:
    """The JSON schema of what is written here; no key is asked for."""
    return SCHEMAS[of]()


@router.post("/v1/cite", responses=ANSWER, response_class=Response)
async def cite(request: Request, asked: CiteRequest, access: Reader) -> Response:
    """Cite a text.  Answers that wait at the same time are cited in one batch."""
    access.service.needed()
    answer = await unless_gone(request, _cited(access, asked))
    return written(access.service, answer, asked)


async def _cited(access: Access, asked: CiteRequest) -> CitedAnswer:
    service, passages = access.service, passages_of(asked.passages)
    given = "passages" in asked.model_fields_set  # an empty list too: nothing was found for who wrote the answer
    if asked.keep and given and not asked.collection:
        raise RequestError(422, "keep: an answer is kept with a collection: name one")
    if given and not asked.collection:
        return await service.desk.cite(asked.answer, passages, question=asked.question)
    name = access.name(asked.collection)
    pipeline = await asyncio.to_thread(service.pipeline, name)
    retriever = await asyncio.to_thread(pipeline.retriever)
    if given:
        cited = await service.desk.cite(asked.answer, passages, collection=retriever, question=asked.question)
    else:
        cited = await service.desk.cite(asked.answer, retriever, question=asked.question)
    if asked.keep:
        return await asyncio.to_thread(pipeline.keep, cited)
    return replace(cited, collection=name)


@router.post("/v1/repair", responses=PROBLEMS)
async def repaired(request: Request, asked: RepairRequest, access: Reader) -> RepairJson:
    """Check a text's own markers: which are right, which are dropped, which are missing."""
    service = access.service
    service.needed()
    name = access.name(asked.collection) if asked.collection else None

    def work() -> RepairJson:
        collection = service.pipeline(name).retriever() if name else None
        propcite, passages = service.parts.propcite, sources_of(asked.passages)
        found = propcite.repair(asked.answer, passages, collection=collection, question=asked.question)
        return repair_json(found)

    return await unless_gone(request, service.work.run(work))
