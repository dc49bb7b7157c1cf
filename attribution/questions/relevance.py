"""Whether an answer answers its question: each thing that is asked is looked for in what the answer says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from propcite.attribution.english import question_parts
from propcite.attribution.question_parts import Answered, QuestionPart
from propcite.attribution.questions.reader import QuestionReader, Reading, Text, grouped, joined
from propcite.retrieval.text import Span

ANSWERED_FROM = 0.4  # probability from which a part of a question is answered
PARTLY_FROM = 0.3  # and from which it may be
MAX_WORDS = 40  # of an answer that are read at once: while it is written, all but its last words are read ahead


@dataclass(slots=True)
class AnswerReading:
    """Reads an answer for its question while it grows: parts of it that no later sentence changes are read ahead."""

    reader: QuestionReader
    question: str
    _read: dict[_Group, list[Reading]] = field(default_factory=dict)

    def ahead(self, answer: str, sentences: Sequence[Span]) -> None:
        """Read what is complete of an answer so far."""
        self._read_groups(answer, _groups(answer, sentences)[:-1])

    def parts(self, answer: str, sentences: Sequence[Span]) -> tuple[QuestionPart, ...]:
        """Return what the question asks, and per part whether these sentences of the answer say it.

        Empty for a question without words.
        """
        groups = _groups(answer, sentences)
        self._read_groups(answer, groups)
        spans = [span for group in groups for span in group.sentences]
        return tuple(
            self._part(part, spans, joined([self._read[group][number] for group in groups]))
            for number, part in enumerate(question_parts(self.question))
        )

    def _read_groups(self, answer: str, groups: Sequence[_Group]) -> None:
        new = [group for group in groups if group not in self._read]
        asked = question_parts(self.question)
        shown = [(part, Text(answer, sentences=group.before + group.sentences)) for group in new for part in asked]
        readings = iter(self.reader.read(shown))
        self._read |= {group: [group.own(next(readings)) for _ in asked] for group in new}

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


@dataclass(frozen=True, slots=True)
class _Group:
    """Sentences of an answer that are read together, after the one before, which may name what they speak of."""

    before: tuple[Span, ...]
    sentences: tuple[Span, ...]

    def own(self, reading: Reading) -> Reading:
        """Return a reading without the sentence before."""
        return replace(reading, sentences=reading.sentences[len(self.before) :])


def _groups(answer: str, sentences: Sequence[Span]) -> list[_Group]:
    groups = grouped(answer, [span for span in sentences if span.of(answer).strip()], MAX_WORDS)
    before = [(), *((group[-1],) for group in groups)]
    return [_Group(own, tuple(group)) for own, group in zip(before, groups, strict=False)]


def _label(probability: float) -> Answered:
    if probability >= ANSWERED_FROM:
        return Answered.YES
    return Answered.PARTLY if probability >= PARTLY_FROM else Answered.NO
