"""Whether the server lives, whether it can answer, and its figures."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from propcite.app.library.doctor import Doctor
from propcite.app.library.store import Scope
from propcite.app.server.access import Access, access
from propcite.app.server.routes.shared import PROBLEMS
from propcite.app.server.service import Service
from propcite.app.server.shapes import Health, HealthFinding

router = APIRouter(tags=["health"])


@router.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: PROBLEMS[503]})
def readyz(request: Request) -> dict[str, str]:
    """The models are loaded and the database answers."""
    service: Service = request.app.state.service
    service.needed()
    service.parts.library.collection_id(service.settings.collection)
    return {"status": "ready", **service.parts.propcite.models}


@router.get("/metrics", responses={200: {"content": {"text/plain": {}}}}, response_class=Response)
def metrics(given: Annotated[Access, Depends(access)]) -> Response:
    """Figures for Prometheus; where keys are asked for, with one of scope admin."""
    given.allow(Scope.ADMIN)
    figures = given.service.metrics
    return Response(figures.text(), media_type=figures.media_type)


@router.get("/v1/doctor", responses=PROBLEMS)
def doctor(given: Annotated[Access, Depends(access)]) -> Health:
    """What does not fit together in the library, as `propcite doctor --quick` finds it; with a key of scope admin."""
    given.allow(Scope.ADMIN)
    found = [
        HealthFinding(where=f.where, what=f.what, mend=f.mend)
        for f in Doctor(given.service.parts, deep=False).findings()
    ]
    return Health(healthy=not found, findings=found)
