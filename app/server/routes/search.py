"""Search the passages, sentences and propositions of a collection."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from propcite.app.server.access import CheckedRoute, ReadAccess
from propcite.app.server.offsets import unit_for
from propcite.app.server.routes.shared import PROBLEMS, cancel_on_disconnect
from propcite.app.server.schemas import SearchRequest, SearchResponse
from propcite.app.turns.costs import SEARCHES, Size
from propcite.attribution.formats.json.hits import hit_json
from propcite.attribution.formats.json.native import passages_json
from propcite.retrieval.alignment import alignment_of
from propcite.retrieval.timing import Timer

router = APIRouter(tags=["search"], route_class=CheckedRoute)


@router.post("/v1/search", responses=PROBLEMS, response_model=SearchResponse)
async def search(request: Request, body: SearchRequest, access: ReadAccess) -> JSONResponse:
    """Rank passages, sentences or propositions of a collection; all use the same encoding of each passage."""
    service, name, unit = access.service, access.collection_name(body.collection), unit_for(request, body)
    service.require_models()

    def work() -> dict[str, object]:
        timer = Timer()
        pipeline = service.pipeline(name, body.documents, body.where)
        alignment = alignment_of(body.alignment) if body.alignment else None
        hits = pipeline.search(body.query, body.granularity, body.k, timer, alignment=alignment, way=body.way)
        return {
            "hits": [hit_json(hit, unit) for hit in hits],
            "passages": passages_json((place.passage for hit in hits for place in hit.everywhere), unit)
            if body.passages
            else [],
            "notes": list(filter(None, [service.parts.encoder.missing_marker_note(body.granularity)])),
            "timings_ms": {step: round(ms, 2) for step, ms in timer.spent.items()},
        }

    return JSONResponse(
        await cancel_on_disconnect(
            request, service.workers.run(access.asking, SEARCHES[body.granularity], Size(), work)
        )
    )
