"""Responses that show the documents of a library: content, media type, and headers that keep browsers safe."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from propcite.app.errors import NotFoundError
from propcite.app.viewing.document_html import EMPTY, POLICY, Highlight, document_html
from propcite.app.viewing.page_images import DEFAULT_WIDTH, PageImages
from propcite.retrieval.text import Span

if TYPE_CHECKING:
    from propcite.app.parts import Parts

MAX_AGE_S = 86_400  # a document's id depends on its content, so browsers may cache its pages
SHOWN_TYPES = {"pdf": "application/pdf", "png": "image/png", "jpeg": "image/jpeg"}  # by browsers, without scripts
FRAMED_HERE = "frame-ancestors 'self'"  # browsers show PDF by a program of their own, which no sandbox may surround
SAFE_HEADERS = {"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin"}


@dataclass(frozen=True, slots=True)
class ViewerResponse:
    """A response; `content` is the body, or the file with the body."""

    content: bytes | Path
    media_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Viewer:
    """Shows documents; one per process, since all requests share the process that draws pages."""

    parts: Parts
    page_images: PageImages = field(default_factory=PageImages)

    def page_image(self, document_id: str, number: int, width: int = DEFAULT_WIDTH) -> ViewerResponse:
        image = self.page_images.jpeg(self.parts.finder.find(document_id), number, width)
        headers = {**SAFE_HEADERS, "Cache-Control": f"private, max-age={MAX_AGE_S}, immutable"}
        return ViewerResponse(image, "image/jpeg", headers)

    def html(self, document_id: str, highlight: Highlight, dark: bool | None = None) -> ViewerResponse:
        """Return a document as an HTML page; without its file, or where it takes too long, the text that is stored."""
        document = self.parts.library.document(document_id)
        try:
            original = self.parts.finder.find(document_id)
        except NotFoundError:
            original = None
        page = document_html(document, original, highlight, self.page_images.html, dark=dark)
        headers = {**SAFE_HEADERS, "Content-Security-Policy": POLICY, "Cache-Control": "private, no-cache"}
        return ViewerResponse(page.encode("utf-8", "replace"), "text/html; charset=utf-8", headers)

    def file(self, document_id: str) -> ViewerResponse:
        """Return the file itself: to show in the browser if it does so safely, else to save: it might run scripts."""
        original = self.parts.finder.find(document_id)
        shown = SHOWN_TYPES.get(original.kind)
        disposition = "inline" if shown else "attachment"
        media_type = shown or mimetypes.guess_type(original.name)[0]
        headers = {
            **SAFE_HEADERS,
            "Cache-Control": "private",
            "Content-Disposition": f"{disposition}; filename*=UTF-8''{quote(original.name)}",
        }
        headers["Content-Security-Policy"] = POLICY if original.kind != "pdf" else FRAMED_HERE
        return ViewerResponse(original.path, media_type or "application/octet-stream", headers)


def parse_span(text: str) -> Span:
    """Parse a span such as `120-245`; return an empty one for anything else.

    >>> parse_span("120-245"), parse_span("7-3"), parse_span("<b>")
    (Span(start=120, end=245), Span(start=0, end=0), Span(start=0, end=0))
    """
    start, dash, end = text.partition("-")
    if not dash or not (start.isdecimal() and end.isdecimal()) or max(len(start), len(end)) > 12:
        return EMPTY
    return Span(int(start), int(end)) if int(start) <= int(end) else EMPTY
