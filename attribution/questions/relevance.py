"""Whether an answer answers its question: each thing that is asked is looked for in what the answer says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from propcite.attribution.english import question_parts
from propcite.attribution.question_parts import Answered, QuestionPart
from propcite.attribution.questions.reader import QuestionReader, Reading, Text, grouped, joined
from propcite.retrieval.text import Span

ANSWERED_FROM = 0.4  # probability from which a part of a question is answered
PARTLY_FROM = 0.3  # and from which it may be


@dataclass(slots=True)
class AnswerReading:
    """Reads an answer for its question while it grows: parts of it that no later sentence changes are read ahead."""

    reader: QuestionReader
    question: str
    _read: dict[tuple[Span, ...], list[Reading]] = field(default_factory=dict)

    def ahead(self, answer: str, sentences: Sequence[Span]) -> None:
        """Read what is complete of an answer so far."""
        self._read_parts(answer, grouped(answer, _with_words(answer, sentences))[:-1])

    def parts(self, answer: str, sentences: Sequence[Span]) -> tuple[QuestionPart, ...]:
        """Return what the question asks, and per part whether these sentences of the answer say it.

        Empty for a question without words.
        """
        spans = _with_words(answer, sentences)
        groups = grouped(answer, spans)
        self._read_parts(answer, groups)
        return tuple(
            self._part(part, spans, joined([self._read[tuple(group)][number] for group in groups]))
            for number, part in enumerate(question_parts(self.question))
        )

    def _read_parts(self, answer: str, groups: Sequence[Sequence[Span]]) -> None:
        new = [key for key in map(tuple, groups) if key not in self._read]
        asked = question_parts(self.question)
        readings = iter(self.reader.read([(part, Text(answer, sentences=key)) for key in new for part in asked]))
        self._read |= {key: [next(readings) for _ in asked] for key in new}

    def _part(self, part: str, spans: Sequence[Span], reading: Reading) -> QuestionPart:
        likely = [self.reader.calibration.of_answer(reading, sentence) for sentence in reading.sentences]
        best = max(range(len(likely)), key=likely.__getitem__, default=None)
        if best is None:
            return QuestionPart(part, Answered.NO, 0.0)
        return QuestionPart(part, _label(likely[best]), likely[best], spans[best])


def answered_parts(
    reader: QuestionReader, question: str, answer: str, sentences: Sequence[Span]
) -> tuple[QuestionPart, ...]:
    """Return what the question asks, and per part whether these sentences of the answer say it.

    Empty for a question without words.
    """
    return AnswerReading(reader, question).parts(answer, sentences)


def unanswered(question: str) -> tuple[QuestionPart, ...]:
    """Return the parts of a question that was not answered at all."""
    return tuple(QuestionPart(part, Answered.NO, 0.0) for part in question_parts(question))


def _with_words(answer: str, sentences: Sequence[Span]) -> list[Span]:
    return [span for span in sentences if span.of(answer).strip()]


def _label(probability: float) -> Answered:
    if probability >= ANSWERED_FROM:
        return Answered.YES
    return Answered.PARTLY if probability >= PARTLY_FROM else Answered.NO
