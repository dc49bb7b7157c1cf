"""Repair an answer that types its own `[n]`: drop the wrong markers, add the missing ones."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from propcite.attribution.citations import CitedProposition, CitedSentence, Evidence, Label, Verdict
from propcite.attribution.citing.answer_citer import AnswerCiter
from propcite.attribution.citing.repaired import MarkerCheck, MarkerState, Repaired
from propcite.attribution.citing.sources import as_counted
from propcite.attribution.citing.splitting import SplitSentence, answer_text, split_answer
from propcite.attribution.citing.tools import Tools
from propcite.attribution.prose.markers import Marker, extract_markers
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage, Span


def repair(
    tools: Tools, answer: str, source: Iterable[object], collection: Retriever | None = None, question: str = ""
) -> Repaired:
    """Check an answer's own `[n]`, which number these passages from 1, and cite what they leave unsupported.

    A passage that is given twice has two numbers, and either is right.  What no passage supports is looked for in the
    `collection`; that has no number, so it gets no marker.
    """
    unmarked, passages = extract_markers(answer_text(answer)), as_counted(source)
    citer = AnswerCiter.over(tools, list({(p.id, p.text): p for p in passages}.values()), collection, question)
    with citer.timer("split"):
        sentences = split_answer(unmarked.text, citer.tools.splitter)
    markers = _by_sentence(unmarked.markers, sentences)
    by_marker = _cited_by_marker(citer, sentences, markers, passages)
    free = citer.propositions(sentences)
    merged = [
        _merged(free[i], [by_marker[i, n] for n in numbers if (i, n) in by_marker]) for i, numbers in enumerate(markers)
    ]
    numbered = citer.numbered(sentences, merged)
    cited = [_showing_all(s) if numbers else s for s, numbers in zip(numbered, markers, strict=True)]
    checks = tuple(_checks(sentences, markers, by_marker, cited, passages))
    return Repaired(answer, citer.answer(unmarked.text, cited), tuple(passages), checks)


def _by_sentence(markers: Sequence[Marker], sentences: Sequence[SplitSentence]) -> list[dict[int, Span]]:
    """Return the numbers at each sentence: in it, behind it, or in front of it at the beginning of a line."""
    by_sentence: list[dict[int, Span]] = [{} for _ in sentences]
    starts, ends = [s.span.start for s in sentences], [s.span.end for s in sentences]
    for marker in markers if sentences else ():
        behind, ahead = bisect_left(starts, marker.place) - 1, bisect_right(ends, marker.place)
        is_behind = behind >= 0 and not (marker.at_line_start and ahead < len(sentences))
        for number in marker.numbers:
            by_sentence[behind if is_behind else ahead].setdefault(number, marker.span)
    return by_sentence


ByMarker = dict[tuple[int, int], list[CitedProposition]]  # (sentence, number) to the sentence's claims


def _cited_by_marker(
    citer: AnswerCiter,
    sentences: Sequence[SplitSentence],
    markers: Sequence[dict[int, Span]],
    passages: Sequence[Passage],
) -> ByMarker:
    """Cite each sentence from each passage that it names, all in one batch."""
    places = [(i, n) for i, numbers in enumerate(markers) for n in numbers if 1 <= n <= len(passages)]
    rows = citer.propositions_within([(sentences[i], passages[n - 1].id) for i, n in places])
    return dict(zip(places, rows, strict=True))


def _merged(
    free: Sequence[CitedProposition], by_marker: Sequence[Sequence[CitedProposition]]
) -> list[CitedProposition]:
    """Keep for each claim the named passages that support it; where none does, what PropCite cites by itself."""
    merged = []
    for i, proposition in enumerate(free):
        supported = [row[i] for row in by_marker if row[i].citations]
        citations = tuple(c for p in supported for c in p.citations)
        merged.append(replace(supported[0], citations=citations) if supported else proposition)
    return merged


def _showing_all(sentence: CitedSentence) -> CitedSentence:
    """Show all passages that the answer rightly names for a sentence, however many they are."""
    passages = {c.passage.id for p in sentence.propositions for c in p.citations}
    return replace(sentence, max_citations=max(sentence.max_citations, len(passages)))


def _checks(
    sentences: Sequence[SplitSentence],
    markers: Sequence[dict[int, Span]],
    by_marker: ByMarker,
    cited: Sequence[CitedSentence],
    passages: Sequence[Passage],
) -> Iterator[MarkerCheck]:
    ids = {passage.id: number for number, passage in reversed(list(enumerate(passages, start=1)))}
    for i, (sentence, numbers, result) in enumerate(zip(sentences, markers, cited, strict=True)):
        shown = {c.passage.id: c for c in result.citations if c.passage.id in ids}
        named = {passages[number - 1].id for number in numbers if (i, number) in by_marker}
        for number, marker in numbers.items():
            if (i, number) not in by_marker:
                yield MarkerCheck(number, MarkerState.UNKNOWN, sentence.span, marker)
                continue
            row = by_marker[i, number]
            verdict, evidence = _best(row)
            state = MarkerState.KEPT if passages[number - 1].id in shown else MarkerState.DROPPED
            if state is MarkerState.DROPPED and any(p.verdict and p.verdict.label is Label.UNCHECKED for p in row):
                state = MarkerState.UNCHECKED
            yield MarkerCheck(number, state, sentence.span, marker, verdict, evidence)
        for name, citation in shown.items():
            if name not in named:
                yield MarkerCheck(
                    ids[name], MarkerState.ADDED, sentence.span, None, citation.verdict, citation.evidence
                )


def _best(row: Sequence[CitedProposition]) -> tuple[Verdict | None, Evidence | None]:
    """Return the likeliest support among a sentence's claims; (None, None) if no claim needs any."""
    judged = [p for p in row if p.verdict is not None]
    best = max(judged, key=lambda p: p.verdict.probability if p.verdict else 0.0, default=None)
    if best is None:
        return None, None
    return best.verdict, best.citations[0].evidence if best.citations else best.nearest
