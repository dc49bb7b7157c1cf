"""A table, Markdown or HTML file as HTML in which the cited words are marked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from propcite.app.errors import ReadError

TABLE_KINDS = ("csv", "xlsx", "ods")
KINDS = (*TABLE_KINDS, "markdown", "html")


@dataclass(frozen=True, slots=True)
class RenderRequest:
    """A file, its kind, and what is marked in it: the cited words in their passage, or the places of rows."""

    path: Path
    name: str
    kind: str
    words: str = ""
    passage: str = ""
    position: float = 0.0  # of the words, as a share of the document
    places: tuple[str, ...] = ()


def render(request: RenderRequest) -> str:
    """Return the file as HTML; empty for a damaged file, or if what is to be marked is not found in it."""
    from propcite.app.viewing.marking import Quote, mark_quote
    from propcite.app.viewing.sanitized_html import markdown_html, page_html
    from propcite.app.viewing.tables import rows_of, table_html

    try:
        data = request.path.read_bytes()
        if request.kind in TABLE_KINDS:
            return table_html(rows_of(request.kind, request.name, data), request.places)
        html = markdown_html(request.name, data) if request.kind == "markdown" else page_html(request.name, data)
        if not request.words:
            return html
        return mark_quote(html, Quote(request.words, request.passage, request.position)) or ""
    except (ReadError, OSError, MemoryError):
        return ""
