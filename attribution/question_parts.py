"""Frozen values: the things that a question asks, and whether an answer answers each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from propcite.retrieval.text import Span


class Answered(StrEnum):
    """Whether an answer answers a question, or a part of one.

    >>> Answered("partly")
    <Answered.PARTLY: 'partly'>
    """

    YES = "yes"
    PARTLY = "partly"
    NO = "no"


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """One of the things that a question asks, and whether the answer answers it.

    `question` can be understood alone.  `span` is the sentence of the answer that comes nearest to answering it; None
    where the answer has no text.

    >>> QuestionPart("When was the barrier finished?", Answered.NO, 0.04).answered.value
    'no'
    """

    question: str
    answered: Answered
    probability: float
    span: Span | None = None
