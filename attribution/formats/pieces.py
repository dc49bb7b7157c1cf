"""Split an answer at its markers, facts and citations, and list the passages that it cites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise, starmap
from typing import NamedTuple

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition
from propcite.retrieval.text import Passage, Span

_STOPS = re.compile(r"""[.,;:!?…。！？،؟۔।)\]}"'”’»]*""")


class Piece(NamedTuple):
    """Words of the answer, the markers of a sentence that ends here, and the unsupported facts that end here."""

    span: Span
    markers: tuple[Citation, ...] = ()
    unsupported: tuple[CitedProposition, ...] = ()


def pieces(answer: CitedAnswer) -> list[Piece]:
    """Split the whole text wherever markers or notes on unsupported facts belong."""
    markers = {s.span.trimmed(answer.text).end: s.citations for s in answer.sentences if s.citations}
    unsupported: dict[int, list[CitedProposition]] = {}
    for end, cited in _fact_ends(answer):
        if cited.proposition.check_worthy and not cited.citations:
            unsupported.setdefault(end, []).append(cited)
    return [
        Piece(span, markers.get(span.end, ()), tuple(unsupported.get(span.end, ())))
        for span in _between(answer.text, {*markers, *unsupported})
    ]


class CitedPiece(NamedTuple):
    """A piece of the answer with the citations of facts that end in it; `words` are the part that these facts cover."""

    span: Span
    words: Span
    citations: tuple[Citation, ...] = ()


def cited_pieces(answer: CitedAnswer) -> list[CitedPiece]:
    """Split the whole text where sentences and facts end, so that each citation is at the piece that ends its fact.

    A piece without a word joins the piece before it, and neighbouring pieces without citations are one piece.
    """
    ends: dict[int, list[CitedProposition]] = {s.span.start: [] for s in answer.sentences}
    for end, cited in _fact_ends(answer):
        ends.setdefault(end, []).append(cited)
    joined: list[CitedPiece] = []
    for span in _between(answer.text, {*ends, *(s.span.end for s in answer.sentences)}):
        piece = _cited_piece(span, [cited for cited in ends.get(span.end, ()) if cited.citations])
        if joined and _belong_together(joined[-1], piece, answer.text):
            previous = joined.pop()
            citing = previous if previous.citations else piece
            piece = CitedPiece(Span(previous.span.start, span.end), citing.words, citing.citations)
        joined.append(piece)
    return joined


def _cited_piece(span: Span, facts: Sequence[CitedProposition]) -> CitedPiece:
    """Return a piece with each citation of its facts once; `words` are its part from their first to their last word."""
    citations = {c.id: c for cited in facts for c in cited.citations}
    inside = [own for cited in facts for own in cited.proposition.spans if own.overlaps(span)]
    if not inside:
        return CitedPiece(span, span, tuple(citations.values()))
    start, end = min(own.start for own in inside), max(own.end for own in inside)
    return CitedPiece(span, Span(max(start, span.start), min(end, span.end)), tuple(citations.values()))


def _belong_together(first: CitedPiece, second: CitedPiece, text: str) -> bool:
    """Return whether neither piece has citations, or one has neither citations nor words."""
    if not first.citations and not second.citations:
        return True
    return any(not one.citations and not any(map(str.isalnum, one.span.of(text))) for one in (first, second))


def _fact_ends(answer: CitedAnswer) -> Iterable[tuple[int, CitedProposition]]:
    """Yield the end of each fact, behind the stop or bracket that closes it; without spans, the sentence's end."""
    for sentence in answer.sentences:
        last = sentence.span.trimmed(answer.text).end
        for cited in sentence.propositions:
            end = max((span.end for span in cited.proposition.spans), default=0) or last
            stops = _STOPS.match(answer.text, end, last)
            yield (stops.end() if stops else last), cited


def _between(text: str, places: Iterable[int]) -> list[Span]:
    return list(starmap(Span, pairwise(sorted({0, len(text), *places}))))


def split_at(text: Span, *kinds: Sequence[Span]) -> list[tuple[Span, tuple[bool, ...]]]:
    """Split a span at the edges of marked spans; return each part with a flag per kind: whether it is marked."""
    places = {place for spans in kinds for span in spans for place in (span.start, span.end)}
    edges = sorted({text.start, text.end, *(p for p in places if text.start < p < text.end)})
    parts = starmap(Span, pairwise(edges))
    return [(part, tuple(any(span.overlaps(part) for span in spans) for spans in kinds)) for part in parts]


class CitedPassage(NamedTuple):
    """A cited passage with its marker and the answer's citations of it, one per span."""

    number: int
    passage: Passage
    citations: tuple[Citation, ...]


def cited_passages(answer: CitedAnswer) -> list[CitedPassage]:
    """Return every cited passage, in the order of the markers."""
    by_number: dict[int, dict[Span, Citation]] = {}
    for citation in answer.citations:
        by_number.setdefault(citation.number, {}).setdefault(citation.span, citation)
    listed = [(number, tuple(by_span.values())) for number, by_span in sorted(by_number.items())]
    return [CitedPassage(number, citations[0].passage, citations) for number, citations in listed]
