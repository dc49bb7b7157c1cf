"""The summary and the outline of a document, without a model: its own sentences and headings, each with its place."""

from __future__ import annotations

from collections.abc import Sequence

from propcite.app.overview.records import Line, Overview
from propcite.app.overview.statements import Salience, Statement, has_verb, statements_of
from propcite.attribution.english import content_words, share_found
from propcite.attribution.formats.wording import location_of
from propcite.retrieval.splitter import heading_words
from propcite.retrieval.text import Heading, Passage, Span

MAX_SENTENCES = 5
MAX_PER_SECTION = 2
SAME_WORDS = 0.6  # sentences that share this much of the shorter one's words say the same
MAX_PASSAGES = 600  # of a longer document every n-th passage is looked at
MAX_HEADINGS = 300
MAX_TAGGED = 60  # statements, the most telling first, of which those with a verb come before others


def overview_of(passages: Sequence[Passage], headings: Sequence[Heading] = ()) -> Overview:
    """Return the most telling sentences of a document in its own order, and its headings.

    >>> from propcite.retrieval.splitter import passage_from_text
    >>> passage = passage_from_text("a", "The bridge is 96 metres long and was opened in 1990. It is red.", "Bridge")
    >>> [line.text for line in overview_of([passage]).summary]
    ['The bridge is 96 metres long and was opened in 1990.']
    """
    return Overview(tuple(_summary(_spread(passages))), tuple(_outline(passages, headings)))


def _spread(passages: Sequence[Passage]) -> Sequence[Passage]:
    step = -(-len(passages) // MAX_PASSAGES) or 1
    return passages[::step]


def _summary(passages: Sequence[Passage]) -> list[Line]:
    salience = Salience(passages)
    ranked = sorted(statements_of(passages), key=lambda s: (-salience.of(s), s.passage.start, s.number))
    ranked[:MAX_TAGGED] = sorted(ranked[:MAX_TAGGED], key=lambda s: not has_verb(s.text))
    chosen: list[Statement] = []
    for statement in ranked:
        if len(chosen) == MAX_SENTENCES:
            break
        same_section = sum(other.section == statement.section for other in chosen)
        is_single = len({s.section for s in ranked}) < MAX_SENTENCES
        if (is_single or same_section < MAX_PER_SECTION) and not any(_same(statement, other) for other in chosen):
            chosen.append(statement)
    return [line_of(s.passage, s.span, s.text) for s in sorted(chosen, key=lambda s: (s.passage.start, s.number))]


def _same(one: Statement, other: Statement) -> bool:
    shorter, longer = sorted((content_words(one.text), content_words(other.text)), key=len)
    return share_found(shorter, longer) >= SAME_WORDS


def _outline(passages: Sequence[Passage], headings: Sequence[Heading]) -> list[Line]:
    """Return the headings, without defined terms; each is at most one level below the one before it, the first at 1."""
    lines: list[Line] = []
    above: list[int] = []  # the levels of the headings that the next one may stand under
    at = 0
    for heading in sorted((h for h in headings if h.until is None), key=lambda h: h.span)[:MAX_HEADINGS]:
        while at < len(passages) and passages[at].start + len(passages[at].text) <= heading.span.start:
            at += 1
        if at == len(passages):
            break
        passage = passages[at]
        start = max(0, heading.span.start - passage.start)
        end = min(len(passage.text), heading.span.end - passage.start)
        own = Span(start, max(start, end)).trimmed(passage.text)
        if own:
            above = [*(level for level in above if level < heading.level), heading.level]
            lines.append(line_of(passage, own, heading_words(own.of(passage.text)), len(above)))
    return lines


def line_of(passage: Passage, span: Span, text: str, level: int = 0) -> Line:
    """Return words of a passage as a line with its place in the document."""
    whole = passage.in_document(Span(0, len(passage.text)))
    return Line(text, passage.in_document(span), passage.id, whole, location_of(passage, [span]), level)
