"""Whether an answer answers its question: each thing that is asked is looked for in what the answer says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from propcite.attribution.english import question_parts
from propcite.attribution.propositions.check_worthiness import abstains
from propcite.attribution.question_parts import Answered, QuestionPart
from propcite.attribution.questions.reader import QuestionReader, Text, grouped
from propcite.retrieval.text import Span

ANSWERED_FROM = 0.4  # probability from which a part of a question is answered
PARTLY_FROM = 0.3  # and from which it may be
MAX_WORDS = 40  # of an answer that are read at once: while it is written, all but its last words are read ahead


class AnswerReading:
    """Reads an answer for its question while it grows: groups of sentences that no later one changes are read ahead.

    What a group answers is not looked for in those behind it.
    """

    def __init__(self, reader: QuestionReader, question: str) -> None:
        self.reader, self.question = reader, question
        self._nothing_read = 0, {part.question: part for part in unanswered(question)}
        self._read_ahead = self._nothing_read  # a number of sentences, and what they answer best

    def ahead(self, answer: str, sentences: Sequence[Span]) -> None:
        """Read what is complete of an answer so far."""
        number, best = self._read_ahead
        if groups := _groups(answer, sentences, number)[:-1]:
            end = sentences.index(groups[-1].sentences[-1], number) + 1
            self._read_ahead = end, self._with(best, answer, groups)

    def parts(self, answer: str, sentences: Sequence[Span]) -> tuple[QuestionPart, ...]:
        """Return what the question asks, and per part whether these sentences of the answer say it.

        Empty for a question without words.
        """
        number, best = self._read_ahead if self._read_ahead[0] <= len(sentences) else self._nothing_read
        best = self._with(best, answer, _groups(answer, sentences, number))
        return tuple(best[question] for question in question_parts(self.question))

    def _with(self, best: Mapping[str, QuestionPart], answer: str, groups: Sequence[_Group]) -> dict[str, QuestionPart]:
        """Return the best sentence per part of the question, with these groups read too."""
        best = dict(best)
        for group in groups:
            asked = [question for question, part in best.items() if part.answered is not Answered.YES]
            for part in self._in_group(asked, answer, group):
                if part.probability >= best[part.question].probability:
                    best[part.question] = part
        return best

    def _in_group(self, asked: Sequence[str], answer: str, group: _Group) -> Iterator[QuestionPart]:
        """Yield, per part of the question, the sentence of a group that comes nearest to answering it."""
        text = Text(answer, sentences=group.before + group.sentences)
        for question, reading in zip(asked, self.reader.read([(question, text) for question in asked]), strict=True):
            own = reading.sentences[len(group.before) :]
            likely = [self.reader.calibration.of_answer(reading, sentence) for sentence in own]
            best = max(range(len(likely)), key=likely.__getitem__)
            yield QuestionPart(question, _label(likely[best]), likely[best], group.sentences[best])


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


def read_in_sources(parts: Sequence[QuestionPart], answered: Mapping[str, float]) -> tuple[QuestionPart, ...]:
    """Return parts of a question with the probabilities that sentences answer them, as read in their sources.

    A sentence may not name what the headings of its source do: the likelier of both readings counts.
    """
    likely = [max(part.probability, answered.get(part.question, 0.0)) for part in parts]
    return tuple(replace(part, answered=_label(p), probability=p) for part, p in zip(parts, likely, strict=True))


@dataclass(frozen=True, slots=True)
class _Group:
    """Sentences of an answer that are read together, after the one before, which may name what they speak of."""

    before: tuple[Span, ...]
    sentences: tuple[Span, ...]


def _groups(answer: str, sentences: Sequence[Span], first: int = 0) -> list[_Group]:
    """Return the groups of the sentences from a number on, without those that say nothing or that nothing is said."""
    before = next(((span,) for span in reversed(sentences[:first]) if _says(span.of(answer))), ())
    groups = grouped(answer, [span for span in sentences[first:] if _says(span.of(answer))], MAX_WORDS)
    return [
        _Group(*both) for both in zip([before, *((group[-1],) for group in groups)], map(tuple, groups), strict=False)
    ]


def _says(sentence: str) -> bool:
    return bool(sentence.strip()) and not abstains(sentence)


def _label(probability: float) -> Answered:
    if probability >= ANSWERED_FROM:
        return Answered.YES
    return Answered.PARTLY if probability >= PARTLY_FROM else Answered.NO
