"""ALCE's shortcuts as a test of a judge: a passage that cites itself is supported, and by any other passage it is not.

A judge that says yes to everything, or no, or that reads only the beginning, fails; its scores would say nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from propcite.app.lab.alce.entailment import Entailment
from propcite.app.lab.alce.files import Question
from propcite.app.lab.alce.measuring import Measures
from propcite.app.lab.alce.scores import CitationScore, Phi, Statement, citation_score
from propcite.app.lab.alce.sentences import sentences_of
from propcite.attribution.prose.unmarking import unmarked

SAMPLE = 40  # questions that an evaluation looks at first
AT_LEAST, AT_MOST, AT_MOST_NEAR = 0.9, 0.05, 0.2
NAMES = ("citation_recall", "citation_precision")


@dataclass(frozen=True, slots=True)
class Check:
    """A shortcut: what recall and precision must reach, or may not exceed."""

    name: str
    what: str
    least: float = 0.0
    most: float = 1.0

    def holds(self, means: Sequence[float]) -> bool:
        return all(self.least <= mean <= self.most for mean in means)

    @property
    def wanted(self) -> str:
        return f"at least {100 * self.least:g}" if self.least else f"at most {100 * self.most:g}"


ITSELF = Check("itself", "the first passage as the answer, citing itself", least=AT_LEAST)
ELSEWHERE = Check("another question's", "the same citing a passage of another question", most=AT_MOST)
BESIDE = Check("another of its own", "the same citing the question's last passage", most=AT_MOST_NEAR)
CHECKS = (ITSELF, ELSEWHERE, BESIDE)


@dataclass(frozen=True, slots=True)
class Told:
    """One question by one shortcut."""

    key: str
    check: Check
    measures: Measures


@dataclass(frozen=True, slots=True)
class Passed:
    """A shortcut over all questions."""

    check: Check
    questions: int
    recall: float
    precision: float

    @property
    def holds(self) -> bool:
        return self.check.holds((self.recall, self.precision))


def sample(questions: Sequence[Question], most: int = SAMPLE, seed: int = 0) -> list[Question]:
    """Some questions, in the order of the file, whose passages one can tell apart; always the same of one file."""
    usable = [question for question in questions if _said(question) and len(set(question.premises)) > 1]
    chosen = sorted(random.Random(seed).sample(range(len(usable)), min(most, len(usable))))
    return [usable[place] for place in chosen]


def tried(questions: Sequence[Question], entailment: Entailment) -> Iterator[Told]:
    """Every question by every shortcut; what one has only one of is left out."""
    rows = [
        (question, check, premise)
        for place, question in enumerate(questions)
        for check, premise in _premises(question, (*questions[place + 1 :], *questions[:place]))
    ]
    found = entailment.together([_Work(question, premise) for question, _, premise in rows])
    for (question, check, _), score in zip(rows, found, strict=True):
        yield Told(question.key, check, dict(zip(NAMES, (score.recall, score.precision), strict=True)))


@dataclass(frozen=True, slots=True)
class _Work:
    question: Question
    premise: str

    def __call__(self, phi: Phi) -> CitationScore:
        found = citation_score([Statement(text, (0,)) for text in _said(self.question)], [self.premise], phi)
        assert found is not None  # a sample's passages hold sentences
        return found


def passed(told: Sequence[Told]) -> list[Passed]:
    found = []
    for check in CHECKS:
        rows = [[one.measures[name] for name in NAMES] for one in told if one.check == check]
        if rows:
            recall, precision = np.asarray(rows, dtype=float).mean(axis=0).tolist()
            found.append(Passed(check, len(rows), recall, precision))
    return found


def _said(question: Question) -> list[str]:
    """The first passage's sentences that hold a word, without the markers of its own source."""
    text = " ".join(unmarked(question.passages[0].text).split())
    return [sentence for sentence in sentences_of(text) if any(map(str.isalnum, sentence))]


def _premises(question: Question, others: Sequence[Question]) -> Iterator[tuple[Check, str]]:
    """What the first passage's sentences cite, by each shortcut."""
    own = question.premises
    yield ITSELF, own[0]
    yield from ((ELSEWHERE, other.premises[0]) for other in others[:1] if other.premises[0] != own[0])
    yield BESIDE, next(premise for premise in reversed(own) if premise != own[0])
