"""The audit log: who did what, for admins."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from propcite.app.library.store import Action, CollectionInfo
from propcite.app.server.access import AdminAccess, CheckedRoute
from propcite.app.server.routes.shared import MAX_FIRST, PROBLEMS
from propcite.app.server.schemas import AuditList, Name

router = APIRouter(tags=["audit"], route_class=CheckedRoute)


@router.get("/v1/audit", responses=PROBLEMS)
def list_audit(
    access: AdminAccess,
    collection: Annotated[Name | None, Query(description="only what was done in this collection")] = None,
    who: Annotated[str, Query(max_length=200, description="only what this person or key did")] = "",
    action: Annotated[Action | None, Query(description="only this action")] = None,
    since: Annotated[datetime | None, Query(description="only from this moment on, as 2026-11-26T00:00:00Z")] = None,
    first: Annotated[int, Query(ge=0, le=MAX_FIRST, description="how many newer entries to skip")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> AuditList:
    """List who asked, gave feedback, added, removed or shared what, the newest first.

    A key that opens some collections only lists what was done in those.
    """
    parts = access.service.parts
    only: list[CollectionInfo] | None
    if collection is not None:
        only = [access.service.pipeline(access.collection_name(collection)).collection]
    else:
        only = None if access.rights.allow_everywhere(access.needed) else access.collections()
    moment = since.astimezone() if since else None
    page = parts.audit.find(only, who=who, action=action or "", since=moment, first=first, limit=limit)
    return AuditList(entries=list(page.items), total=page.total)
