"""Show evidence in its document as HTML: the page with boxed lines, the rendered text, links to both.

The page's own server sends the pictures and texts: see ui/serving.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple
from urllib.parse import quote, urlencode

from propcite.app.ingest.readers.kinds import PAGED
from propcite.app.viewing.viewer import SHOWN_TYPES
from propcite.attribution.formats.wording import location_of
from propcite.retrieval.text import Box, Passage, Span

MAX_PAGES = 3  # per piece of evidence


class View(NamedTuple):
    """What can be shown of a document: the kind of its file, empty if that is gone, and whether its text is here."""

    kind: str
    is_here: bool


Views = Mapping[str, View]  # by document id


def original_html(passage: Passage, spans: Sequence[Span], views: Views, *, is_open: bool = True) -> str:
    """Return the document at these words, foldable; empty if there is nothing to show but the passage."""
    view = views.get(passage.document_id)
    if view is None:
        return ""
    figures = _pages(passage, spans) if view.kind in PAGED else []
    if not figures and view.is_here:
        figures = [_frame(passage, spans)]
    if not figures:
        return ""
    place = location_of(passage, spans)
    summary = f"In the document{': ' + escape(place) if place else ''}"
    is_open_html = " open" if is_open else ""
    return f'<details class="original"{is_open_html}><summary>{summary}</summary>{"".join(figures)}</details>'


def open_html(passage: Passage, spans: Sequence[Span], views: Views, words: str = "Open the document") -> str:
    """Return a link that opens the document at this place in a new window; empty if it cannot be shown."""
    at = address_of(passage, spans, views)
    return f'<a class="deed" href="{escape(at)}" target="_blank" rel="noopener">{escape(words)}</a>' if at else ""


def address_of(passage: Passage, spans: Sequence[Span], views: Views) -> str:
    """Return the address of the document at this place; empty if it cannot be shown."""
    view = views.get(passage.document_id)
    if view is None or not (view.is_here or view.kind in SHOWN_TYPES):
        return ""
    pages = passage.pages_of(spans[0])
    if view.kind in SHOWN_TYPES and pages:
        return f"{_source(passage)}/file#page={pages[0]}"
    return _reading(passage, spans)


def _source(passage: Passage) -> str:
    return f"source/{quote(passage.document_id, safe='')}"


def _reading(passage: Passage, spans: Sequence[Span]) -> str:
    cited = passage.in_document(Span(spans[0].start, spans[-1].end))
    whole = passage.in_document(Span(0, len(passage.text)))
    query = {"cited": f"{cited.start}-{cited.end}", "passage": f"{whole.start}-{whole.end}"}
    return f"{_source(passage)}/reading?{urlencode(query)}#cited"


def _frame(passage: Passage, spans: Sequence[Span]) -> str:
    title = escape(passage.title.split(" › ")[0] or "Untitled")
    return (
        f'<iframe class="reading" sandbox="" loading="lazy" data-src="{escape(_reading(passage, spans))}"'
        f' title="{title}, with the cited words marked"></iframe>'
    )


def _pages(passage: Passage, spans: Sequence[Span]) -> list[str]:
    """Return the pages with the evidence: the passage's lines light, the cited lines dark."""
    cited = [box for span in spans for box in passage.boxes_of(span)]
    numbers = list(dict.fromkeys(box.page for box in cited))[:MAX_PAGES]
    return [_page(passage, number, [box for box in cited if box.page == number]) for number in numbers]


def _page(passage: Passage, number: int, cited: Sequence[Box]) -> str:
    around = [box for box in passage.boxes if box.page == number and box not in cited]
    boxes = "".join(_box(box, "around") for box in around) + "".join(_box(box, "cited-line") for box in cited)
    title = escape(passage.title.split(" › ")[0] or "Untitled")
    shown = (
        f'data-src="{escape(_source(passage))}/page/{number}" alt="Page {number} of {title}, the cited lines marked"'
    )
    return (
        f'<figure class="page" tabindex="0" role="group" aria-label="Page {number}">'
        f'<div class="sheet"><img {shown}>{boxes}</div></figure>'
    )


def _box(box: Box, kind: str) -> str:
    edges = {"left": box.left, "top": box.top, "width": box.right - box.left, "height": box.bottom - box.top}
    style = ";".join(f"{name}:{share:.2%}" for name, share in edges.items())
    return f'<span class="{kind}" style="{style}"></span>'
