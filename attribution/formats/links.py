"""Links to the words of a source: those of the web, and those that an application makes for its own documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from propcite.attribution.citations import Evidence
from propcite.attribution.formats.text import is_address, link_to_words
from propcite.retrieval.text import Passage, Span

MakeLink = Callable[[Passage, Span], str]  # gets words as a span of their passage; returns "" where there is no link
_make_link: ContextVar[MakeLink | None] = ContextVar("make_link", default=None)


@contextmanager
def linked_by(make_link: MakeLink) -> Iterator[None]:
    """Let an application make the links of all that is written in this block."""
    token = _make_link.set(make_link)
    try:
        yield
    finally:
        _make_link.reset(token)


def link_of(passage: Passage, span: Span) -> str:
    """Return the application's link to words of a passage; empty where it makes none.

    >>> passage = Passage("d1:0", "It rained.", document_id="d1")
    >>> with linked_by(lambda passage, span: f"https://docs.example/{passage.document_id}#{span.start}-{span.end}"):
    ...     link_of(passage, Span(3, 9))
    'https://docs.example/d1#3-9'
    >>> link_of(passage, Span(3, 9))
    ''
    """
    make_link = _make_link.get()
    return make_link(passage, span) if make_link else ""


def link_to(evidence: Evidence) -> str:
    """Return where evidence opens at its words: on the web, or by the application's link; empty if nowhere."""
    if evidence.address:
        return link_to_words(evidence.address, evidence.quote)
    return link_of(evidence.passage, evidence.span)


def source_link(source: str, passage: Passage, span: Span) -> str:
    """Return where words of a source open; `source` is its address or path."""
    return link_to_words(source, span.of(passage.text)) if is_address(source) else link_of(passage, span)
