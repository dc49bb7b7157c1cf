"""The collections that a key opens: listed, made, removed."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter

from propcite.app.library.store import CollectionInfo
from propcite.app.server.access import Admin, Reader, Writer
from propcite.app.server.errors import hidden
from propcite.app.server.routes.shared import PROBLEMS
from propcite.app.server.shapes import CollectionRequest, Collections, CollectionShape, Name

router = APIRouter(tags=["collections"])


@router.get("/v1/collections", responses=PROBLEMS)
def collections(access: Reader) -> Collections:
    """The collections that this key opens."""
    found = access.service.parts.library.collections()
    return Collections(collections=[_shape(c) for c in found if access.key is None or access.key.opens(c.name)])


@router.post("/v1/collections", responses=PROBLEMS, status_code=201)
def create(access: Writer, asked: CollectionRequest) -> CollectionShape:
    """Make a collection; one of this name that is there already is told as it is.

    What is made with an owner's key belongs to that owner.
    """
    library, owner = access.service.parts.library, access.key.owner if access.key else ""
    if owner and library.collection_id(asked.name) is None:
        return _shape(library.create_collection(asked.name, owner))
    return _shape(library.create_collection(access.name(asked.name)))


@router.delete("/v1/collections/{name}", responses=PROBLEMS)
def remove(access: Admin, name: Name) -> CollectionShape:
    """Remove a collection with its documents and its answers."""
    service, library = access.service, access.service.parts.library
    if library.collection_id(access.name(name)) is None:
        raise hidden(name)
    info = library.collection(name)
    service.parts.remove_collection(info)
    service.forget(info)
    return _shape(info)


def _shape(info: CollectionInfo) -> CollectionShape:
    return CollectionShape.model_validate(asdict(info))
