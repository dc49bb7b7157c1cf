"""What is shown of the documents of a library, ready to be sent: bytes, their kind, and what a browser must not do."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from propcite.app.errors import NotFoundError
from propcite.app.viewing.pages import WIDTH, Pages
from propcite.app.viewing.reading import NOTHING, POLICY, Spot, reading
from propcite.retrieval.text import Span

if TYPE_CHECKING:
    from propcite.app.parts import Parts

KEPT_S = 86_400  # a document's id names its content, so a browser may keep what it has seen of it
SAFE = {"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin"}


@dataclass(frozen=True, slots=True)
class Shown:
    """`content` is what is sent, or the file whose bytes are."""

    content: bytes | Path
    media_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Viewer:
    """One for a process: pages are drawn in another, which all who look share."""

    parts: Parts
    pages: Pages = field(default_factory=Pages)

    def page(self, document_id: str, number: int, width: int = WIDTH) -> Shown:
        picture = self.pages.jpeg(self.parts.finder.find(document_id), number, width)
        return Shown(picture, "image/jpeg", {**SAFE, "Cache-Control": f"private, max-age={KEPT_S}, immutable"})

    def reading(self, document_id: str, spot: Spot, dark: bool | None = None) -> Shown:
        """Also of a document whose file is gone: its text is in the library."""
        document = self.parts.library.document(document_id)
        try:
            original = self.parts.finder.find(document_id)
        except NotFoundError:
            original = None
        page = reading(document, original, spot, dark=dark)
        headers = {**SAFE, "Content-Security-Policy": POLICY, "Cache-Control": "no-cache"}
        return Shown(page.encode("utf-8", "replace"), "text/html; charset=utf-8", headers)

    def file(self, document_id: str) -> Shown:
        """The very file.  A PDF opens in the browser's own viewer; all else is saved, since a page of it would act."""
        original = self.parts.finder.find(document_id)
        how = "inline" if original.kind == "pdf" else "attachment"
        kind = "application/pdf" if original.kind == "pdf" else mimetypes.guess_type(original.name)[0]
        named = f"{how}; filename*=UTF-8''{quote(original.name)}"
        headers = {**SAFE, "Content-Disposition": named}
        if how == "attachment":
            headers["Content-Security-Policy"] = POLICY
        return Shown(original.path, kind or "application/octet-stream", headers)


def span_of(text: str) -> Span:
    """`120-245`; anything else is no place.

    >>> span_of("120-245"), span_of("7-3"), span_of("<b>")
    (Span(start=120, end=245), Span(start=0, end=0), Span(start=0, end=0))
    """
    start, dash, end = text.partition("-")
    if not dash or not (start.isdecimal() and end.isdecimal()) or max(len(start), len(end)) > 12:
        return NOTHING
    return Span(int(start), int(end)) if int(start) <= int(end) else NOTHING
