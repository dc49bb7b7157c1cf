"""A long cited text in parts that can be shown one at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import replace

from propcite.attribution.citations import CitedAnswer, CitedProposition, CitedSentence
from propcite.retrieval.text import Span

PART = 3500  # characters after which a part ends with its paragraph
MAX_PART = 6000  # characters after which it ends with its sentence


def parts_of(answer: CitedAnswer) -> list[Span]:
    """Return the parts of a text, in order, without the white space between them; sentences stay whole.

    >>> sentences = (CitedSentence(Span(0, 3)), CitedSentence(Span(5, 9)))
    >>> parts_of(CitedAnswer("One.\\n\\nTwo.", sentences))
    [Span(start=0, end=10)]
    """
    text, spans, start = answer.text, [], 0
    ends = [*(sentence.span.start for sentence in answer.sentences[1:]), len(text)]
    for end in ends:
        is_paragraph = "\n" in text[max(start, end - 3) : end]
        if end - start >= MAX_PART or (end - start >= PART and is_paragraph) or end == len(text):
            spans.append(Span(start, end).trimmed(text))
            start = end
    return [span for span in spans if span]


def part_numbers(answer: CitedAnswer, spans: Sequence[Span]) -> dict[str, int]:
    """Return the number of the part, from 0, that each fact is in, by the fact's id."""
    starts = [span.start for span in spans]
    return {
        cited.id: bisect_right(starts, sentence.span.start) - 1
        for sentence in answer.sentences
        for cited in sentence.propositions
    }


def part_of(answer: CitedAnswer, span: Span, shown: Collection[str]) -> CitedAnswer:
    """Return a part of a text as a text of its own; facts whose ids are not `shown` are not marked in it."""

    def proposition(cited: CitedProposition) -> CitedProposition:
        own = cited.proposition
        spans = tuple(one.shifted(-span.start) for one in own.spans)
        if cited.id in shown:
            return replace(cited, proposition=replace(own, spans=spans))
        return CitedProposition(replace(own, spans=spans, check_worthy=False), None)

    def sentence(one: CitedSentence) -> CitedSentence:
        return replace(one, span=one.span.shifted(-span.start), propositions=tuple(map(proposition, one.propositions)))

    inside = (one for one in answer.sentences if span.start <= one.span.start and one.span.end <= span.end)
    return replace(answer, text=span.of(answer.text), sentences=tuple(map(sentence, inside)), notes=())
