"""Passages, sentences and propositions of a collection, ranked."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from propcite.app.server.access import Reader
from propcite.app.server.routes.shared import PROBLEMS, unless_gone
from propcite.app.server.shapes import Found, SearchRequest
from propcite.attribution.formats.json.hits import hit_json
from propcite.retrieval.alignment import alignment_of

router = APIRouter(tags=["search"])


@router.post("/v1/search", responses=PROBLEMS, response_model=Found)
async def search(request: Request, asked: SearchRequest, access: Reader) -> JSONResponse:
    """Rank passages, sentences or propositions of a collection; all from one encoding of each passage."""
    service, name = access.service, access.name(asked.collection)
    service.needed()

    def work() -> dict[str, object]:
        took: dict[str, float] = {}
        pipeline = service.pipeline(name, asked.documents, asked.where)
        alignment = alignment_of(asked.alignment) if asked.alignment else None
        hits = pipeline.search(asked.query, asked.granularity, asked.k, took, alignment=alignment)
        return {
            "hits": [hit_json(hit) for hit in hits],
            "notes": list(filter(None, [service.parts.encoder.lacking(asked.granularity)])),
            "timings_ms": {stage: round(ms, 2) for stage, ms in took.items()},
        }

    return JSONResponse(await unless_gone(request, service.work.run(work)))
