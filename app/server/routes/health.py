"""Health checks and metrics of the server."""

from __future__ import annotations

import logging

from fastapi import APIRouter, Request, Response

from propcite.app.library.doctor import Doctor
from propcite.app.server.access import AdminAccess, CheckedRoute
from propcite.app.server.errors import RequestError
from propcite.app.server.routes.shared import PROBLEMS
from propcite.app.server.schemas import Health, HealthFinding
from propcite.app.server.service import Service
from propcite.retrieval.errors import PropCiteError

log = logging.getLogger("propcite.server")
router = APIRouter(tags=["health"], route_class=CheckedRoute)


@router.get("/healthz")
def check_health() -> dict[str, str]:
    """Check that the process responds."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: PROBLEMS[503]})
def check_ready(request: Request) -> dict[str, str]:
    """Check that the models are loaded and the database responds."""
    service: Service = request.app.state.service
    try:
        service.require_models()
        service.parts.library.collection_id(service.settings.collection)
    except PropCiteError as error:
        if not service.requires_keys:
            raise
        log.warning("not ready: %s", error)  # it may name addresses and folders, and anybody may ask
        raise RequestError(503, "not ready: the server's log says why", Retry_After="10") from error
    return {"status": "ready", **service.parts.propcite.models}


@router.get("/metrics", responses={200: {"content": {"text/plain": {}}}}, response_class=Response)
def get_metrics(access: AdminAccess) -> Response:
    """Return metrics for Prometheus; if keys are required, one of scope admin that opens all collections."""
    access.require_all_collections()
    metrics = access.service.metrics
    return Response(metrics.text(), media_type=metrics.media_type)


@router.get("/v1/doctor", responses=PROBLEMS)
def run_doctor(access: AdminAccess) -> Health:
    """Check the library as `propcite doctor --quick` does; if keys are required, one of scope admin.

    A key that opens some collections only has those checked.
    """
    parts = access.service.parts
    if access.rights.allow_everywhere(access.needed):
        found = Doctor(parts, deep=False).findings()
    else:
        opened = access.collections()
        found = Doctor(parts, opened, deep=False).findings() if opened else iter(())
    findings = [HealthFinding(where=f.where, what=f.what, mend=f.remedy) for f in found]
    return Health(healthy=not findings, findings=findings)
