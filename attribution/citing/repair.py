"""Repair of an answer that cites by itself: each of its markers is checked, wrong ones go, missing ones come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from propcite.attribution.citations import CitedProposition, CitedSentence, Evidence, Verdict
from propcite.attribution.citing.answer_parts import Part, split_answer, text_of
from propcite.attribution.citing.citing import Citing
from propcite.attribution.citing.repaired import Check, Repaired, State
from propcite.attribution.citing.sources import as_counted
from propcite.attribution.propcite import PropCite
from propcite.attribution.prose.markers import Marker, without_markers
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage, Span


def repair(
    propcite: PropCite,
    answer: str,
    source: Iterable[object],
    *,
    collection: Retriever | None = None,
    question: str = "",
) -> Repaired:
    """Check an answer's own `[n]`, which count these passages from 1, and cite what they leave unsupported.

    Passages are what `as_passages` reads; one that is given twice has two numbers, and either is right.
    With a `collection`, what no passage supports is looked for there; that has no number and no marker.
    """
    unmarked, passages = without_markers(text_of(answer)), as_counted(source)
    citing = propcite.citing(list({(p.id, p.text): p for p in passages}.values()), collection)
    with citing.watch("split"):
        parts = split_answer(unmarked.text, propcite.splitter)
    marked = _by_sentence(unmarked.markers, parts)
    tried = _tried(citing, parts, marked, passages)
    anew = citing.propositions(parts)
    merged = [_merged(anew[i], [tried[i, n] for n in numbers if (i, n) in tried]) for i, numbers in enumerate(marked)]
    numbered = citing.numbered(parts, merged)
    sentences = [_showing_all(s) if numbers else s for s, numbers in zip(numbered, marked, strict=True)]
    cited = citing.answer(unmarked.text, sentences, question)
    checks = tuple(_checks(parts, marked, tried, sentences, passages))
    return Repaired(answer, cited, tuple(passages), checks)


def _by_sentence(markers: Sequence[Marker], parts: Sequence[Part]) -> list[dict[int, Span]]:
    """The numbers at each sentence: those in it or behind it, and those in front of it at the beginning of a line."""
    found: list[dict[int, Span]] = [{} for _ in parts]
    for marker in markers:
        behind = [i for i, part in enumerate(parts) if part.span.start < marker.place]
        ahead = [i for i, part in enumerate(parts) if part.span.end > marker.place]
        at = (ahead[:1] or behind[-1:]) if marker.before else (behind[-1:] or ahead[:1])
        for i in at:
            for number in marker.numbers:
                found[i].setdefault(number, marker.span)
    return found


Tried = dict[tuple[int, int], list[CitedProposition]]


def _tried(
    citing: Citing, parts: Sequence[Part], marked: Sequence[dict[int, Span]], passages: Sequence[Passage]
) -> Tried:
    """What each sentence's claims find in each passage that it names, judged in one batch."""
    asked = [(i, n) for i, numbers in enumerate(marked) for n in numbers if 1 <= n <= len(passages)]
    rows = citing.propositions_within([(parts[i], passages[n - 1].id) for i, n in asked])
    return dict(zip(asked, rows, strict=True))


def _merged(anew: Sequence[CitedProposition], tried: Sequence[Sequence[CitedProposition]]) -> list[CitedProposition]:
    """A claim keeps the passages that the answer named for it and that support it; others are cited anew."""
    merged = []
    for i, proposition in enumerate(anew):
        named = [row[i] for row in tried if row[i].citations]
        citations = tuple(c for p in named for c in p.citations)
        merged.append(replace(named[0], citations=citations) if named else proposition)
    return merged


def _showing_all(sentence: CitedSentence) -> CitedSentence:
    """What the answer names for a sentence is kept, however many passages these are."""
    passages = {c.passage.id for p in sentence.propositions for c in p.citations}
    return replace(sentence, most=max(sentence.most, len(passages)))


def _checks(
    parts: Sequence[Part],
    marked: Sequence[dict[int, Span]],
    tried: Tried,
    sentences: Sequence[CitedSentence],
    passages: Sequence[Passage],
) -> Iterator[Check]:
    ids = {passage.id: number for number, passage in reversed(list(enumerate(passages, start=1)))}
    for i, (part, numbers, sentence) in enumerate(zip(parts, marked, sentences, strict=True)):
        shown = {c.passage.id: c for c in sentence.citations if c.passage.id in ids}
        named = {passages[number - 1].id for number in numbers if (i, number) in tried}
        for number, marker in numbers.items():
            if (i, number) not in tried:
                yield Check(number, State.UNKNOWN, part.span, marker)
                continue
            verdict, evidence = _best(tried[i, number])
            state = State.KEPT if passages[number - 1].id in shown else State.DROPPED
            yield Check(number, state, part.span, marker, verdict, evidence)
        for name, citation in shown.items():
            if name not in named:
                yield Check(ids[name], State.ADDED, part.span, None, citation.verdict, citation.evidence)


def _best(row: Sequence[CitedProposition]) -> tuple[Verdict | None, Evidence | None]:
    """The likeliest support among a sentence's claims; none when no claim needs any."""
    judged = [p for p in row if p.verdict is not None]
    best = max(judged, key=lambda p: p.verdict.probability if p.verdict else 0.0, default=None)
    if best is None:
        return None, None
    return best.verdict, best.citations[0].evidence if best.citations else best.nearest
