"""Verdicts on whole answers: an answer has an error if one of its sentences is not supported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.metrics import precision_recall_fscore_support

from propcite.app.lab.citing.judge_bootstrap import Truth
from propcite.app.lab.citing.judge_scores import ScoredClaims
from propcite.attribution.judges import SUPPORTED_FROM
from propcite.retrieval.encoding.base import Ints


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """How well a judge finds the answers of a source that hold an error, in percent, as RAGTruth counts it."""

    table: ClassVar[str] = "answers"

    judge: str
    source: str
    answers: int
    with_error: int
    precision: float
    recall: float
    f1: float


def answer_rows(claims: ScoredClaims) -> Iterator[AnswerRow]:
    """Yield each judge on the answers of each source; nothing if the claims are not the sentences of answers."""
    inside = np.array([bool(row.answer) for row in claims.rows])
    sentences = [(row.source, row.answer) for row in claims.rows if row.answer]
    answers = {key: number for number, key in enumerate(dict.fromkeys(sentences))}
    numbers = np.array([answers[key] for key in sentences], dtype=int)
    sources = np.array([source for source, _ in answers])
    wrong = _any_of_each(numbers, ~claims.truth[inside])
    for name, scores in claims.probabilities:
        flagged = _any_of_each(numbers, scores[inside] < SUPPORTED_FROM)
        for source in dict.fromkeys(sources.tolist()):
            of = sources == source
            precision, recall, f1, _ = precision_recall_fscore_support(
                wrong[of], flagged[of], average="binary", zero_division=0.0
            )
            figures = (round(100 * float(figure), 1) for figure in (precision, recall, f1))
            yield AnswerRow(name, source, int(of.sum()), int(wrong[of].sum()), *figures)


def _any_of_each(numbers: Ints, flags: Truth) -> Truth:
    """Return for each number whether one of its flags is set.

    >>> _any_of_each(np.array([0, 0, 1]), np.array([False, True, False])).tolist()
    [True, False]
    """
    any_set: Truth = np.bincount(numbers, weights=flags) > 0
    return any_set
