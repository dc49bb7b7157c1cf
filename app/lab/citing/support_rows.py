"""Answers by the labels of their citations and facts, and by judges in the labels' place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from propcite.app.lab.citing.gold import CitedSentence, GoldNuggets, GoldSupport
from propcite.app.lab.citing.judge_scores import ScoredClaims
from propcite.attribution.judges import SUPPORTED_FROM

LABELS = "the labels"
Answer = TypeVar("Answer", GoldSupport, GoldNuggets)
Accepted = Mapping[str, float]  # 1 or 0 by the id of a claim


@dataclass(frozen=True, slots=True)
class SupportRow:
    """Citation recall and precision of answers, in percent, by the labels or by a judge that accepts or refuses.

    `recall` is over all sentences, `precision` over all citations, each a mean over answers in which partial support
    counts a half; in `full_recall` and `full_precision` it counts nothing.  A judge has no precision where it read the
    citations of a sentence together.
    """

    table: ClassVar[str] = "support"

    by: str
    source: str
    answers: int
    sentences: int
    citations: int
    recall: float
    full_recall: float
    precision: float | None
    full_precision: float | None


@dataclass(frozen=True, slots=True)
class NuggetRow:
    """The share of facts that answers hold, in percent, by the labels or by a judge; partly held ones count a half.

    `full_vital` and `full_all` count only those that are held fully.
    """

    table: ClassVar[str] = "nuggets"

    by: str
    source: str
    answers: int
    vital: float
    all: float
    full_vital: float
    full_all: float


def support_rows(answers: Sequence[GoldSupport], claims: ScoredClaims) -> Iterator[SupportRow]:
    """Yield the labels and each judge on each source; a judge on answers of which it read every citation."""
    accepted = _accepted(claims)
    for source, own in _by_source(answers).items():
        for by, known in ((LABELS, None), *accepted.items()):
            read = [a for a in own if known is None or all(c in known for s in a.sentences for c in s.claims)]
            if read:
                yield _support_row(by, source, read, known)


def nugget_rows(answers: Sequence[GoldNuggets], claims: ScoredClaims) -> Iterator[NuggetRow]:
    """Yield the labels and each judge on each source; a judge on answers of which it read every fact."""
    accepted = _accepted(claims)
    for source, own in _by_source(answers).items():
        for by, known in ((LABELS, None), *accepted.items()):
            read = [a for a in own if known is None or all(not n.claim or n.claim in known for n in a.nuggets)]
            if read:
                yield _nugget_row(by, source, read, known)


def _support_row(by: str, source: str, answers: Sequence[GoldSupport], accepted: Accepted | None) -> SupportRow:
    recall = [[_supported(sentence, accepted) for sentence in one.sentences] for one in answers]
    cited = [[weight for s in one.sentences for weight in _citations(s, accepted)] for one in answers]
    together = accepted is not None and any(s.together is not None for one in answers for s in one.sentences)
    precise = (None, None) if together else (_mean(cited), _mean(cited, full=True))
    numbers = len(answers), sum(map(len, recall)), sum(len(s.citations) for one in answers for s in one.sentences)
    return SupportRow(by, source, *numbers, _mean(recall), _mean(recall, full=True), *precise)


def _supported(sentence: CitedSentence, accepted: Accepted | None) -> float:
    """Return how far a sentence is supported: 0 for one that cites nothing, unless the labels say that it need not."""
    if accepted is not None and sentence.claims:
        return max(accepted[claim] for claim in sentence.claims)
    return max(sentence.citations, default=0.0) if sentence.together is None else sentence.together


def _citations(sentence: CitedSentence, accepted: Accepted | None) -> Sequence[float]:
    return sentence.citations if accepted is None else [accepted[claim] for claim in sentence.claims]


def _nugget_row(by: str, source: str, answers: Sequence[GoldNuggets], accepted: Accepted | None) -> NuggetRow:
    def held(*, vital: bool) -> list[list[float]]:
        return [
            [n.held if accepted is None else accepted.get(n.claim, 0.0) for n in one.nuggets if n.vital or not vital]
            for one in answers
        ]

    vital, all_ = held(vital=True), held(vital=False)
    means = (_mean(vital), _mean(all_), _mean(vital, full=True), _mean(all_, full=True))
    return NuggetRow(by, source, len(answers), *means)


def _mean(answers: Sequence[Sequence[float]], *, full: bool = False) -> float:
    """Return the mean over answers of the mean of their weights, in percent; an answer without any counts 0.

    >>> _mean([[1.0, 0.5], []]), _mean([[1.0, 0.5]], full=True)
    (37.5, 50.0)
    """
    means = [sum(w == 1 if full else w for w in own) / len(own) if own else 0.0 for own in answers]
    return round(100 * float(np.mean(means)), 1)


def _accepted(claims: ScoredClaims) -> dict[str, Accepted]:
    ids = [row.id for row in claims.rows]
    return {
        name: dict(zip(ids, (scores >= SUPPORTED_FROM).astype(float).tolist(), strict=True))
        for name, scores in claims.probabilities
    }


def _by_source(answers: Sequence[Answer]) -> dict[str, list[Answer]]:
    by_source: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_source[answer.source].append(answer)
    return by_source
