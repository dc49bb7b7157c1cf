"""Serve the page: Streamlit's views, and routes for the documents they show."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from pathlib import Path
from threading import Thread

import streamlit
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route
from streamlit import config
from streamlit.starlette import App

from propcite.app.errors import AppError, BusyError, NotFoundError
from propcite.app.parts import Parts
from propcite.app.processes import ProcessEndedError
from propcite.app.server.origins import OriginCheck, SafeHeaders
from propcite.app.settings import Settings, check_sign_in, load_settings
from propcite.app.viewing.document_html import Highlight
from propcite.app.viewing.page_images import DEFAULT_WIDTH
from propcite.app.viewing.viewer import Viewer, ViewerResponse, parse_span
from propcite.retrieval.errors import PropCiteError
from propcite.ui.launch import ENVIRONMENT
from propcite.ui.people.gate import Gate
from propcite.ui.people.sign_in import page_key, sign_in_method, streamlit_secrets
from propcite.ui.people.visitor import PERSON_HEADER, visitor_of

# Streamlit styles elements one by one, and loads our components' scripts as blobs.  It runs no text as a script.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' blob: {inline}",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)
MORE_HEADERS = (("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"))
MAIN = Path(__file__).with_name("main.py")


@lru_cache(maxsize=1)
def viewer() -> Viewer:
    return Viewer(Parts(load_settings()))


def answering(show: Callable[[Request], ViewerResponse]) -> Callable[[Request], Response]:
    """Make a route of a function: its result, or one line with the error."""

    def answer(request: Request) -> Response:
        try:
            _check_allowed(request)
            shown = show(request)
        except BusyError as error:
            return PlainTextResponse(str(error), 503, {"Retry-After": str(error.seconds)})
        except PropCiteError as error:
            return PlainTextResponse(str(error), 404 if isinstance(error, NotFoundError) else 422)
        if isinstance(shown.content, Path):
            return FileResponse(shown.content, media_type=shown.media_type, headers=dict(shown.headers))
        return Response(shown.content, media_type=shown.media_type, headers=dict(shown.headers))

    return answer


def _check_allowed(request: Request) -> None:
    """Raise NotFoundError for a document of a collection that is not the person's, as for one that never was."""
    document_id, asking = request.path_params["id"], visitor_of(viewer().parts, request.headers.get(PERSON_HEADER))
    if not asking.may_see_document(document_id):
        raise NotFoundError(f"there is no document {document_id[:40]!r}: the Library shows the documents")


def page(request: Request) -> ViewerResponse:
    width = request.query_params.get("width", "")
    asked = int(width) if width.isdecimal() and len(width) < 6 else DEFAULT_WIDTH
    return viewer().page_image(request.path_params["id"], request.path_params["number"], asked)


def reading(request: Request) -> ViewerResponse:
    query = request.query_params
    spot = Highlight(parse_span(query.get("cited", "")), parse_span(query.get("passage", "")))
    dark = {"dark": True, "light": False}.get(query.get("theme", ""))
    return viewer().html(request.path_params["id"], spot, dark)


def file(request: Request) -> ViewerResponse:
    return viewer().file(request.path_params["id"])


def begin() -> None:
    """Start the process that draws pages and load the models before they are needed; requests report their errors."""
    with suppress(PropCiteError, ProcessEndedError):
        viewer().page_images.start()
    from propcite.ui import session

    with suppress(PropCiteError):
        session.load_model_ahead()


@asynccontextmanager
async def lifespan(_: App) -> AsyncIterator[None]:
    Thread(target=begin, name="propcite-begin", daemon=True).start()
    yield
    if viewer.cache_info().currsize:
        viewer().page_images.close()


def policy() -> str:
    """Return the policy for the browser, which allows the scripts that Streamlit's own page has in it."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_bytes()
    digests = (hashlib.sha256(script).digest() for script in re.findall(rb"<script>(.*?)</script>", page, re.DOTALL))
    return POLICY.format(inline=" ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests))


def protection(settings: Settings) -> list[Middleware]:
    """Return what stands before every request of the page, those of WebSockets too."""
    before = [
        Middleware(SafeHeaders, policy=policy(), more=MORE_HEADERS),
        Middleware(OriginCheck, settings=settings),
    ]
    method = sign_in_method(settings)
    return [*before, Middleware(Gate, method=method, parts=lambda: viewer().parts)] if method else before


def prepare(settings: Settings) -> None:
    """Set what Streamlit reads before it builds its parts; AppError if people could not sign in, or names be forged."""
    check_sign_in(settings)
    if settings.page_sign_in == "header" and any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):
        raise AppError("the page would believe any address that a header names: start it by propcite ui")
    if settings.page_sign_in == "openid":
        config.set_option("server.cookieSecret", page_key(settings.data_dir))


ROUTES = [
    Route("/source/{id}/page/{number:int}", answering(page)),
    Route("/source/{id}/reading", answering(reading)),
    Route("/source/{id}/file", answering(file)),
]
SETTINGS = load_settings()
prepare(SETTINGS)
app = App(MAIN, routes=ROUTES, lifespan=lifespan, middleware=protection(SETTINGS), secrets=streamlit_secrets(SETTINGS))
