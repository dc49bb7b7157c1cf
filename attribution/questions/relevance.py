"""Whether an answer answers its question: each thing that is asked is looked for in what the answer says."""

from __future__ import annotations

from collections.abc import Sequence

from propcite.attribution.english import question_parts
from propcite.attribution.question_parts import Answered, QuestionPart
from propcite.attribution.questions.reader import QuestionReader, Text
from propcite.retrieval.text import Span

ANSWERED_FROM = 0.4  # probability from which a part of a question is answered
PARTLY_FROM = 0.3  # and from which it may be


def answered_parts(
    reader: QuestionReader, question: str, answer: str, sentences: Sequence[Span]
) -> tuple[QuestionPart, ...]:
    """Return what the question asks, and per part whether these sentences of the answer say it.

    Empty for a question without words.
    """
    asked = question_parts(question)
    spans = tuple(span for span in sentences if span.of(answer).strip())
    readings = reader.read([(part, Text(answer, sentences=spans)) for part in asked])
    calibration = reader.calibration
    parts = []
    for part, reading in zip(asked, readings, strict=True):
        likely = [calibration.of_answer(reading, sentence) for sentence in reading.sentences]
        best = max(range(len(likely)), key=likely.__getitem__, default=None)
        parts.append(
            QuestionPart(part, Answered.NO, 0.0)
            if best is None
            else QuestionPart(part, _label(likely[best]), likely[best], spans[best])
        )
    return tuple(parts)


def unanswered(question: str) -> tuple[QuestionPart, ...]:
    """Return the parts of a question that was not answered at all."""
    return tuple(QuestionPart(part, Answered.NO, 0.0) for part in question_parts(question))


def _label(probability: float) -> Answered:
    if probability >= ANSWERED_FROM:
        return Answered.YES
    return Answered.PARTLY if probability >= PARTLY_FROM else Answered.NO
