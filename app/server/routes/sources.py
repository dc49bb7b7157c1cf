"""Documents as a person knows them, for who shows evidence: the file, its pages as pictures, its text with marks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import FileResponse

from propcite.app.errors import NotFoundError
from propcite.app.server.access import Access, Reader
from propcite.app.server.routes.shared import PROBLEMS
from propcite.app.server.shapes import Name
from propcite.app.viewing import Shown, Spot, span_of
from propcite.app.viewing.pages import NARROWEST, WIDEST, WIDTH

router = APIRouter(tags=["documents"])

Collection = Annotated[Name | None, Query(description="none: the server's own, PROPCITE_COLLECTION")]
Spans = Annotated[str, Query(pattern=r"^(\d{1,12}-\d{1,12})?$", description="characters of the document, as 120-245")]


def _kinds(*media_types: str) -> dict[int | str, dict[str, object]]:
    return {**PROBLEMS, 200: {"content": {kind: {} for kind in media_types}, "description": "As it is"}}


@router.get("/v1/documents/{document_id}/file", responses=_kinds("application/octet-stream"), response_class=Response)
def file(access: Reader, document_id: str, collection: Collection = None) -> Response:
    """The very file that a document was read from, where that is kept or still lies where it was."""
    _check(access, document_id, collection)
    return _sent(access.service.viewer.file(document_id))


@router.get("/v1/documents/{document_id}/pages/{number}", responses=_kinds("image/jpeg"), response_class=Response)
def page(
    access: Reader,
    document_id: str,
    number: int,
    collection: Collection = None,
    width: Annotated[int, Query(ge=NARROWEST, le=WIDEST)] = WIDTH,
) -> Response:
    """A page of a PDF as a picture; the boxes of citations are shares of it."""
    _check(access, document_id, collection)
    return _sent(access.service.viewer.page(document_id, number, width))


@router.get("/v1/documents/{document_id}/reading", responses=_kinds("text/html"), response_class=Response)
def reading(
    access: Reader,
    document_id: str,
    collection: Collection = None,
    cited: Spans = "",
    passage: Spans = "",
) -> Response:
    """A document as a page of HTML that neither acts nor loads, the cited words marked: open it at `#cited`."""
    _check(access, document_id, collection)
    return _sent(access.service.viewer.reading(document_id, Spot(span_of(cited), span_of(passage))))


def _check(access: Access, document_id: str, collection: str | None) -> None:
    """Whether this key may see it: one that is here, or was here and may still be cited."""
    info, library = access.service.pipeline(access.name(collection)).collection, access.service.parts.library
    if document_id not in library.contents([document_id], info):
        raise NotFoundError(f"no document {document_id[:40]!r} in {info.name!r}: GET /v1/documents lists them")


def _sent(shown: Shown) -> Response:
    if isinstance(shown.content, Path):
        return FileResponse(shown.content, media_type=shown.media_type, headers=dict(shown.headers))
    return Response(shown.content, media_type=shown.media_type, headers=dict(shown.headers))
