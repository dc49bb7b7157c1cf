"""Collections: list those that a key opens, create and remove them."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter

from propcite.app.library.store import Action, CollectionInfo
from propcite.app.server.access import AdminAccess, CheckedRoute, ReadAccess, WriteAccess
from propcite.app.server.errors import no_collection
from propcite.app.server.results import Collection, CollectionList
from propcite.app.server.routes.shared import PROBLEMS
from propcite.app.server.schemas import CollectionRequest, Name

router = APIRouter(tags=["collections"], route_class=CheckedRoute)


@router.get("/v1/collections", responses=PROBLEMS)
def list_collections(access: ReadAccess) -> CollectionList:
    """List the collections that the key opens."""
    return CollectionList(collections=[_json(info) for info in access.collections()])


@router.post("/v1/collections", responses=PROBLEMS, status_code=201)
def create_collection(access: WriteAccess, body: CollectionRequest) -> Collection:
    """Create a collection; an existing one is returned as it is.

    A collection that is created with an owner's key belongs to that owner.
    """
    library, owner = access.service.parts.library, access.key.owner if access.key else ""
    is_new = library.collection_id(body.name) is None
    name = body.name if owner and is_new else access.collection_name(body.name)
    created = library.create_collection(name, owner)
    if is_new:
        access.record(Action.CREATED_COLLECTION, name)
    return _json(created)


@router.delete("/v1/collections/{name}", responses=PROBLEMS)
def remove_collection(access: AdminAccess, name: Name) -> Collection:
    """Remove a collection with its documents and its answers."""
    service, library = access.service, access.service.parts.library
    if library.collection_id(access.collection_name(name)) is None:
        raise no_collection(name)
    info = library.collection(name)
    service.parts.remove_collection(info)
    access.record(Action.REMOVED_COLLECTION, info.name)
    service.forget_collection(info)
    return _json(info)


def _json(info: CollectionInfo) -> Collection:
    return Collection.model_validate(asdict(info))
