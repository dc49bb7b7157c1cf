"""Any document as one HTML page that opens where it is cited."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

from propcite.app.library.originals import Original
from propcite.app.viewing.rendering import KINDS, RenderRequest
from propcite.retrieval.text import Document, Span

# The page runs no script and loads nothing, whatever the document contains, and the sandbox gives it no origin.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'self';"
    " sandbox"  # of its own, so that nothing of the document has this server's origin
)
EMPTY = Span(0, 0)
MAX_TEXT_CHARS = 200_000  # shown at once, around the cited words
STYLE = Path(__file__).with_name("document.css")


@dataclass(frozen=True, slots=True)
class Highlight:
    """The cited words and the passage around them, as spans of the document."""

    cited: Span = EMPTY
    passage: Span = EMPTY

    def clipped(self, length: int) -> Highlight:
        return Highlight(*(Span(min(s.start, length), min(s.end, length)) for s in (self.cited, self.passage)))


def document_html(
    document: Document,
    original: Original | None,
    highlight: Highlight,
    render: Callable[[RenderRequest], str],
    *,
    dark: bool | None = None,
) -> str:
    """Render a document from its file if that is available and `render` can, else its text as it was read."""
    highlight = highlight.clipped(len(document.text))
    body = render(_request(document, original, highlight)) if original and original.kind in KINDS else ""
    if not body:
        body = f'<div class="text">{"".join(_text_html(document, highlight))}</div>'
    title = escape(document.title or "Untitled")
    theme = {None: "", True: ' class="dark"', False: ' class="light"'}[dark]
    return (
        f'<!doctype html><html lang="en"{theme}><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE.read_text("utf-8")}</style></head>'
        f"<body><main>{body}</main></body></html>"
    )


def _request(document: Document, original: Original, highlight: Highlight) -> RenderRequest:
    return RenderRequest(
        original.path,
        original.name,
        original.kind,
        highlight.cited.of(document.text),
        highlight.passage.of(document.text),
        highlight.cited.start / max(1, len(document.text)),
        tuple(_places(document, highlight.cited)),
    )


def _places(document: Document, cited: Span) -> list[str]:
    """Return the names of the cited rows, or of the first row."""
    names = [place.name for place in document.places if place.span.overlaps(cited)]
    return names or [place.name for place in document.places[:1]]


def _text_html(document: Document, highlight: Highlight) -> Iterator[str]:
    """Yield the text around the cited words, with headings and highlights."""
    text = document.text
    start = max(0, highlight.cited.start - MAX_TEXT_CHARS // 2)
    end = min(len(text), start + MAX_TEXT_CHARS)
    if start:
        yield f'<p class="more">{start:,} characters above</p>'
    spans: list[tuple[Span, str]] = [(heading.span, "heading") for heading in document.headings]
    highlights = ((highlight.passage, "passage"), (highlight.cited, "cited"))
    spans += [(span.trimmed(text), css_class) for span, css_class in highlights if span]
    yield from _span_html(text, Span(start, end), spans)
    if end < len(text):
        yield f'<p class="more">{len(text) - end:,} characters below</p>'


def _span_html(text: str, shown: Span, spans: Sequence[tuple[Span, str]]) -> Iterator[str]:
    """Yield the shown text in pieces, each in a `span` with the classes of all spans that cover it."""
    near = [(span, css_class) for span, css_class in spans if span.overlaps(shown)]
    edges = {min(max(edge, shown.start), shown.end) for span, _ in near for edge in (span.start, span.end)}
    has_anchor = False
    for start, end in pairwise(sorted({shown.start, shown.end, *edges})):
        classes = [css_class for span, css_class in near if span.start <= start and end <= span.end]
        words = escape(text[start:end])
        if not classes:
            yield words
            continue
        anchor = "" if has_anchor or "cited" not in classes else " id=cited"
        has_anchor = has_anchor or bool(anchor)
        yield f'<span class="{" ".join(classes)}"{anchor}>{words}</span>'
