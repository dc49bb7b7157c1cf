"""An answer in pieces: what stands behind each for a reader, and what each claims for a program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from propcite.attribution.citations import Citation, CitedAnswer, CitedProposition
from propcite.retrieval.text import Passage, Span

_STOPS = re.compile(r"""[.,;:!?…。！？،؟۔।)\]}"'”’»]*""")


class Piece(NamedTuple):
    """Words of the answer; behind them the markers of their sentence, and facts that end there without support."""

    span: Span
    markers: tuple[Citation, ...] = ()
    bare: tuple[CitedProposition, ...] = ()


def pieces(answer: CitedAnswer) -> list[Piece]:
    """The whole text, cut where something stands behind it."""
    markers = {s.span.trimmed(answer.text).end: s.citations for s in answer.sentences if s.citations}
    bare: dict[int, list[CitedProposition]] = {}
    for end, cited in _fact_ends(answer):
        if cited.proposition.check_worthy and not cited.citations:
            bare.setdefault(end, []).append(cited)
    return [
        Piece(span, markers.get(span.end, ()), tuple(bare.get(span.end, ())))
        for span in _between(answer.text, {*markers, *bare})
    ]


class Claim(NamedTuple):
    """A piece of the answer with the citations of the facts that end in it; `words` are those facts' own in it."""

    span: Span
    words: Span
    citations: tuple[Citation, ...] = ()


def claims(answer: CitedAnswer) -> list[Claim]:
    """The whole text, cut where sentences and facts end: every citation stands at one piece, that of its fact's end.

    What holds no word belongs to the piece before it; words that nothing supports stay in one piece.
    """
    ends: dict[int, list[CitedProposition]] = {s.span.start: [] for s in answer.sentences}
    for end, cited in _fact_ends(answer):
        ends.setdefault(end, []).append(cited)
    joined: list[Claim] = []
    for span in _between(answer.text, {*ends, *(s.span.end for s in answer.sentences)}):
        claim = _claim(span, [cited for cited in ends.get(span.end, ()) if cited.citations])
        if joined and _belong(joined[-1], claim, answer.text):
            before = joined.pop()
            cites = before if before.citations else claim
            claim = Claim(Span(before.span.start, span.end), cites.words, cites.citations)
        joined.append(claim)
    return joined


def _claim(piece: Span, facts: Sequence[CitedProposition]) -> Claim:
    """The facts' citations, each once, and where the facts' words lie in the piece that they end."""
    citations = {c.id: c for cited in facts for c in cited.citations}
    inside = [span for cited in facts for span in cited.proposition.spans if span.overlaps(piece)]
    if not inside:
        return Claim(piece, piece, tuple(citations.values()))
    start, end = min(span.start for span in inside), max(span.end for span in inside)
    return Claim(piece, Span(max(start, piece.start), min(end, piece.end)), tuple(citations.values()))


def _belong(before: Claim, after: Claim, text: str) -> bool:
    """Whether two pieces are one: neither cites, or one of them holds no word."""
    if not before.citations and not after.citations:
        return True
    return any(not claim.citations and not any(map(str.isalnum, claim.span.of(text))) for claim in (before, after))


def _fact_ends(answer: CitedAnswer) -> Iterable[tuple[int, CitedProposition]]:
    """Where each fact ends, behind the stop or bracket that closes it; one without spans ends with its sentence."""
    for sentence in answer.sentences:
        last = sentence.span.trimmed(answer.text).end
        for cited in sentence.propositions:
            end = max((span.end for span in cited.proposition.spans), default=0) or last
            stops = _STOPS.match(answer.text, end, last)
            yield (stops.end() if stops else last), cited


def _between(text: str, places: Iterable[int]) -> list[Span]:
    return [*map(_span, pairwise(sorted({0, len(text), *places})))]


def parted(text: Span, *kinds: Sequence[Span]) -> list[tuple[Span, tuple[bool, ...]]]:
    """A span of a text in pieces that lie wholly in or out of every marked span, and for each kind whether they do."""
    places = {place for spans in kinds for span in spans for place in (span.start, span.end)}
    cuts = pairwise(sorted({text.start, text.end, *(p for p in places if text.start < p < text.end)}))
    return [(cut, tuple(any(span.overlaps(cut) for span in spans) for spans in kinds)) for cut in map(_span, cuts)]


def _span(ends: tuple[int, int]) -> Span:
    return Span(*ends)


class Source(NamedTuple):
    """A cited passage with its marker, and the answer's citations of it: each words once."""

    number: int
    passage: Passage
    citations: tuple[Citation, ...]


def sources(answer: CitedAnswer) -> list[Source]:
    """Every cited passage, in the order of the markers."""
    found: dict[int, dict[Span, Citation]] = {}
    for citation in answer.citations:
        found.setdefault(citation.number, {}).setdefault(citation.span, citation)
    listed = [(number, tuple(cited.values())) for number, cited in sorted(found.items())]
    return [Source(number, cited[0].passage, cited) for number, cited in listed]
