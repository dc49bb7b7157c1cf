"""Any document as one HTML page, opened where it is cited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

from propcite.app.library.originals import Original
from propcite.app.viewing.marking import Quoted, marked
from propcite.app.viewing.rendered import markdown_html, page_html
from propcite.app.viewing.tables import rows_of, table_html
from propcite.retrieval.text import Document, Span

# Nothing acts and nothing is fetched, whatever a document holds; a browser that reads it has no origin to act for.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; sandbox"
NOTHING = Span(0, 0)
LONGEST = 200_000  # characters of a text that are shown at once, around what is cited
STYLE = Path(__file__).with_name("reading.css")
TABLES = ("csv", "xlsx", "ods")
RENDERED = {"markdown": markdown_html, "html": page_html}


@dataclass(frozen=True, slots=True)
class Spot:
    """What is cited of a document, and the passage around it, counted from the document's first character."""

    cited: Span = NOTHING
    passage: Span = NOTHING

    def within(self, length: int) -> Spot:
        """Cut to what there is."""
        return Spot(*(Span(min(s.start, length), min(s.end, length)) for s in (self.cited, self.passage)))


def reading(document: Document, original: Original | None, spot: Spot, *, dark: bool | None = None) -> str:
    """The document as it is meant to look where its file is there, else its text as it was read."""
    spot = spot.within(len(document.text))
    body = _as_meant(document, original, spot) if original else ""
    if not body:
        body = f'<div class="text">{"".join(_text(document, spot))}</div>'
    title = escape(document.title or "Untitled")
    theme = {None: "", True: ' class="dark"', False: ' class="light"'}[dark]
    return (
        f'<!doctype html><html lang="en"{theme}><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE.read_text("utf-8")}</style></head>'
        f"<body><main>{body}</main></body></html>"
    )


def _as_meant(document: Document, original: Original, spot: Spot) -> str:
    """Empty for other kinds, for a damaged file, and where the cited words were not found in it."""
    from propcite.app.errors import ReadError

    try:
        if original.kind in TABLES:
            rows = rows_of(original.kind, original.name, original.path.read_bytes())
            return table_html(rows, _places(document, spot.cited))
        if original.kind in RENDERED:
            return _rendered(document, original, spot)
    except (ReadError, OSError):
        return ""
    return ""


def _rendered(document: Document, original: Original, spot: Spot) -> str:
    html = RENDERED[original.kind](original.name, original.path.read_bytes())
    if not spot.cited:
        return html
    share = spot.cited.start / max(1, len(document.text))
    words, passage = spot.cited.of(document.text), spot.passage.of(document.text)
    found, is_there = marked(html, Quoted(words, passage, share))
    return found if is_there else ""


def _places(document: Document, cited: Span) -> list[str]:
    """The rows that are cited, or the first."""
    named = [place.name for place in document.places if place.span.overlaps(cited)]
    return named or [place.name for place in document.places[:1]]


def _text(document: Document, spot: Spot) -> Iterator[str]:
    """The text's own words around the place, headings and marks in them."""
    text = document.text
    start = max(0, spot.cited.start - LONGEST // 2)
    end = min(len(text), start + LONGEST)
    if start:
        yield f'<p class="more">{start:,} characters above</p>'
    spans: list[tuple[Span, str]] = [(heading.span, "heading") for heading in document.headings]
    spans += [(span.trimmed(text), kind) for span, kind in ((spot.passage, "passage"), (spot.cited, "cited")) if span]
    yield from _cut(text, Span(start, end), spans)
    if end < len(text):
        yield f'<p class="more">{len(text) - end:,} characters below</p>'


def _cut(text: str, shown: Span, spans: Sequence[tuple[Span, str]]) -> Iterator[str]:
    near = [(span, kind) for span, kind in spans if span.overlaps(shown)]
    edges = {min(max(edge, shown.start), shown.end) for span, _ in near for edge in (span.start, span.end)}
    places = sorted({shown.start, shown.end, *edges})
    named = False
    for start, end in pairwise(places):
        kinds = [kind for span, kind in near if span.start <= start and end <= span.end]
        words = escape(text[start:end])
        if not kinds:
            yield words
            continue
        first = "cited" in kinds and not named
        named = named or first
        yield f'<span class="{" ".join(kinds)}"{" id=cited" if first else ""}>{words}</span>'
