"""Documents for showing evidence: the file, pages of PDFs as images, and HTML with the cited words marked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse

from propcite.app.errors import NotFoundError
from propcite.app.server.access import ANYONE, Access, CheckedRoute, ReadAccess, network_of
from propcite.app.server.routes.shared import PROBLEMS, cancel_on_disconnect
from propcite.app.server.schemas import Name
from propcite.app.server.service import Service
from propcite.app.turns.costs import Kind, Size
from propcite.app.turns.workers import Asking
from propcite.app.viewing.document_html import Highlight
from propcite.app.viewing.page_images import DEFAULT_WIDTH, MAX_WIDTH, MIN_WIDTH
from propcite.app.viewing.viewer import ViewerResponse, parse_span

router = APIRouter(tags=["documents"], route_class=CheckedRoute)

Collection = Annotated[Name | None, Query(description="default: the server's own, PROPCITE_COLLECTION")]
SpanText = Annotated[
    str, Query(pattern=r"^(\d{1,12}-\d{1,12})?$", description="characters of the document, as 120-245")
]


def _responses(*media_types: str) -> dict[int | str, dict[str, object]]:
    return {**PROBLEMS, 200: {"content": {media_type: {} for media_type in media_types}, "description": "As it is"}}


@router.get(
    "/v1/documents/{document_id}/file", responses=_responses("application/octet-stream"), response_class=Response
)
def get_file(access: ReadAccess, document_id: str, collection: Collection = None) -> Response:
    """Return the file that a document was read from, if it is stored or still where it was."""
    _check(access, document_id, collection)
    return _response(access.service.viewer.file(document_id))


@router.get("/v1/documents/{document_id}/pages/{number}", responses=_responses("image/jpeg"), response_class=Response)
async def get_page(
    request: Request,
    access: ReadAccess,
    document_id: str,
    number: int,
    collection: Collection = None,
    width: Annotated[int, Query(ge=MIN_WIDTH, le=MAX_WIDTH)] = DEFAULT_WIDTH,
) -> Response:
    """Return a page of a PDF as an image; the boxes of citations are given as shares of its size."""
    await asyncio.to_thread(_check, access, document_id, collection)
    viewer = access.service.viewer
    return await _viewed(request, access.asking, lambda: viewer.page_image(document_id, number, width))


@router.get("/v1/documents/{document_id}/reading", responses=_responses("text/html"), response_class=Response)
async def read_document(
    request: Request,
    access: ReadAccess,
    document_id: str,
    collection: Collection = None,
    cited: SpanText = "",
    passage: SpanText = "",
) -> Response:
    """Return a document as HTML without active content, the cited words marked; open it at `#cited`."""
    await asyncio.to_thread(_check, access, document_id, collection)
    viewer, highlight = access.service.viewer, Highlight(parse_span(cited), parse_span(passage))
    return await _viewed(request, access.asking, lambda: viewer.html(document_id, highlight))


@router.get("/reading/{token}", include_in_schema=False)
async def read_linked(request: Request, token: str) -> Response:
    """Return the document of a signed link as HTML, the cited words marked; no key is required."""
    service: Service = request.app.state.service
    service.rate_limiter.count(ANYONE)
    place = await asyncio.to_thread(service.links.open, token)
    asking = Asking(network_of(request.client.host if request.client else ""), "/reading/{token}")
    highlight = Highlight(place.cited)
    return await _viewed(request, asking, lambda: service.viewer.html(place.document_id, highlight))


async def _viewed(request: Request, asking: Asking, view: Callable[[], ViewerResponse]) -> Response:
    """Return what is drawn or rendered in the turn of whoever asks."""
    service: Service = request.app.state.service
    return _response(await cancel_on_disconnect(request, service.views.run(asking, Kind.VIEW, Size(), view)))


def _check(access: Access, document_id: str, collection: str | None) -> None:
    """Raise NotFoundError unless the collection has or had the document."""
    info, library = access.service.pipeline(access.collection_name(collection)).collection, access.service.parts.library
    if document_id not in library.source_files([document_id], info):
        raise NotFoundError(f"no document {document_id[:40]!r} in {info.name!r}: GET /v1/documents lists the documents")


def _response(shown: ViewerResponse) -> Response:
    if isinstance(shown.content, Path):
        return FileResponse(shown.content, media_type=shown.media_type, headers=dict(shown.headers))
    return Response(shown.content, media_type=shown.media_type, headers=dict(shown.headers))
