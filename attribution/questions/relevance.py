"""Whether an answer answers its question: each thing that is asked is looked for in what the answer says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from propcite.attribution.english import question_parts
from propcite.attribution.question_parts import Answered, QuestionPart
from propcite.attribution.questions.reader import QuestionReader, Text, grouped
from propcite.retrieval.text import Span

ANSWERED_FROM = 0.4  # probability from which a part of a question is answered
PARTLY_FROM = 0.3  # and from which it may be
MAX_WORDS = 40  # of an answer that are read at once: while it is written, all but its last words are read ahead


@dataclass(slots=True)
class AnswerReading:
    """Reads an answer for its question while it grows: groups of sentences that no later one changes are read ahead.

    What a group answers is not looked for in those behind it.
    """

    reader: QuestionReader
    question: str
    _read: dict[tuple[str, _Group], QuestionPart] = field(default_factory=dict)

    def ahead(self, answer: str, sentences: Sequence[Span]) -> None:
        """Read what is complete of an answer so far."""
        self._parts(answer, _groups(answer, sentences)[:-1])

    def parts(self, answer: str, sentences: Sequence[Span]) -> tuple[QuestionPart, ...]:
        """Return what the question asks, and per part whether these sentences of the answer say it.

        Empty for a question without words.
        """
        return self._parts(answer, _groups(answer, sentences))

    def _parts(self, answer: str, groups: Sequence[_Group]) -> tuple[QuestionPart, ...]:
        best = {part.question: part for part in unanswered(self.question)}
        for group in groups:
            asked = [question for question, part in best.items() if part.answered is not Answered.YES]
            for part in self._in_group(asked, answer, group):
                if part.probability >= best[part.question].probability:
                    best[part.question] = part
        return tuple(best[part.question] for part in unanswered(self.question))

    def _in_group(self, asked: Sequence[str], answer: str, group: _Group) -> list[QuestionPart]:
        """Return, per part of the question, the sentence of a group that comes nearest to answering it."""
        new = [question for question in asked if (question, group) not in self._read]
        text = Text(answer, sentences=group.before + group.sentences)
        for question, reading in zip(new, self.reader.read([(question, text) for question in new]), strict=True):
            own = reading.sentences[len(group.before) :]
            likely = [self.reader.calibration.of_answer(reading, sentence) for sentence in own]
            best = max(range(len(likely)), key=likely.__getitem__)
            part = QuestionPart(question, _label(likely[best]), likely[best], group.sentences[best])
            self._read[question, group] = part
        return [self._read[question, group] for question in asked]


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


def _groups(answer: str, sentences: Sequence[Span]) -> list[_Group]:
    groups = grouped(answer, [span for span in sentences if span.of(answer).strip()], MAX_WORDS)
    before = [(), *((group[-1],) for group in groups)]
    return [_Group(own, tuple(group)) for own, group in zip(before, groups, strict=False)]


def _label(probability: float) -> Answered:
    if probability >= ANSWERED_FROM:
        return Answered.YES
    return Answered.PARTLY if probability >= PARTLY_FROM else Answered.NO
