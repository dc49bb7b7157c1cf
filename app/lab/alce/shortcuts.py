"""ALCE's shortcuts as a test of a judge: a passage that cites itself is supported, one that cites another is not.

A judge fails if it accepts everything or nothing, or reads only the beginning; its scores would mean nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from propcite.app.lab.alce.entailment import Entailment
from propcite.app.lab.alce.files import Question
from propcite.app.lab.alce.scorer import Measures
from propcite.app.lab.alce.scores import CitationScore, Phi, Statement, citation_score
from propcite.app.lab.alce.sentences import sentences_of
from propcite.attribution.prose.marker_stripper import remove_markers

SAMPLE = 40  # questions that an evaluation tests its judge on
NAMES = ("citation_recall", "citation_precision")


@dataclass(frozen=True, slots=True)
class Check:
    """A shortcut with the bounds of its recall and precision."""

    name: str
    description: str
    minimum: float = 0.0
    maximum: float = 1.0

    def holds(self, means: Sequence[float]) -> bool:
        return all(self.minimum <= mean <= self.maximum for mean in means)

    @property
    def requirement(self) -> str:
        return f"at least {100 * self.minimum:g}" if self.minimum else f"at most {100 * self.maximum:g}"


ITSELF = Check("itself", "the first passage as the answer, citing itself", minimum=0.9)
OTHER_QUESTION = Check("another question's", "the same citing a passage of another question", maximum=0.05)
SAME_QUESTION = Check("another of its own", "the same citing the question's last passage", maximum=0.2)
CHECKS = (ITSELF, OTHER_QUESTION, SAME_QUESTION)


@dataclass(frozen=True, slots=True)
class ShortcutScore:
    """One question's scores by one shortcut."""

    key: str
    check: Check
    measures: Measures


@dataclass(frozen=True, slots=True)
class ShortcutResult:
    """A shortcut's mean scores over all questions."""

    check: Check
    questions: int
    recall: float
    precision: float

    @property
    def holds(self) -> bool:
        return self.check.holds((self.recall, self.precision))


def sample(questions: Sequence[Question], size: int = SAMPLE, seed: int = 0) -> list[Question]:
    """Return a sample of questions with different passages, in the order of the file; always the same of one file."""
    usable = [question for question in questions if _sentences(question) and len(set(question.premises)) > 1]
    chosen = sorted(random.Random(seed).sample(range(len(usable)), min(size, len(usable))))
    return [usable[place] for place in chosen]


def score_shortcuts(questions: Sequence[Question], entailment: Entailment) -> Iterator[ShortcutScore]:
    """Yield every question's scores by every shortcut; of one question, those that need no other."""
    rows = [
        (question, check, premise)
        for place, question in enumerate(questions)
        for check, premise in _premises(question, (*questions[place + 1 :], *questions[:place]))
    ]
    scores = entailment.compute([_Scoring(question, premise) for question, _, premise in rows])
    for (question, check, _), score in zip(rows, scores, strict=True):
        yield ShortcutScore(question.key, check, dict(zip(NAMES, (score.recall, score.precision), strict=True)))


@dataclass(frozen=True, slots=True)
class _Scoring:
    question: Question
    premise: str

    def __call__(self, phi: Phi) -> CitationScore:
        score = citation_score([Statement(text, (0,)) for text in _sentences(self.question)], [self.premise], phi)
        assert score is not None  # `sample` takes no passage without sentences
        return score


def summarize(scores: Sequence[ShortcutScore]) -> list[ShortcutResult]:
    results = []
    for check in CHECKS:
        rows = [[one.measures[name] for name in NAMES] for one in scores if one.check == check]
        if rows:
            recall, precision = np.asarray(rows, dtype=float).mean(axis=0).tolist()
            results.append(ShortcutResult(check, len(rows), recall, precision))
    return results


def _sentences(question: Question) -> list[str]:
    """Return the first passage's sentences that have a word, without markers of its own source."""
    text = " ".join(remove_markers(question.passages[0].text).split())
    return [sentence for sentence in sentences_of(text) if any(map(str.isalnum, sentence))]


def _premises(question: Question, others: Sequence[Question]) -> Iterator[tuple[Check, str]]:
    """Yield the passage that the first passage's sentences cite by each shortcut."""
    own = question.premises
    yield ITSELF, own[0]
    yield from ((OTHER_QUESTION, other.premises[0]) for other in others[:1] if other.premises[0] != own[0])
    yield SAME_QUESTION, next(premise for premise in reversed(own) if premise != own[0])
