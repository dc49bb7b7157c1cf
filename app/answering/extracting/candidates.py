"""The sentences of the found passages that may answer a question, with the probability that each does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from propcite.app.answering.naming import (
    Name,
    described_in,
    headed,
    is_headed,
    named_in,
    names_in,
    tells_of_another,
    without_number,
)
from propcite.attribution.english import can_answer, defined_term, defines
from propcite.attribution.questions.reader import QuestionReader, Reading, Text, grouped
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Passage, Span

MAX_READ = 4  # parts of passages, the most similar to a question, that are read beside it
MAX_READ_EACH = 3  # where several questions are asked at once
UNFIT = 0.5  # factor for a sentence about something else than the question names, or without what it asks for
RAISED_TO = 0.6  # probability, at least, of a sentence whose place or form shows that it answers
MAX_REFERENCE = 14  # words of a sentence that only refers to another place

_DEFAULT = re.compile(r"\bdefaults?\b", re.IGNORECASE)
_STATES_DEFAULT = re.compile(r"\bdefaults?(?:\s+value)?(?::|\s+(?:is|to)\b)", re.IGNORECASE)
_LEADERS = re.compile(r"(?:\s?[.·…]){5,}")  # between a heading and its page in a table of contents
_UNDERLINED = re.compile(r"[=~#*_-]{4,}\s*$")  # a title
# "¹This is", "12Debian": the number of a footnote is written without a space.
_FOOTNOTE = re.compile(r"[⁰¹²³⁴-⁹]+\s*\w|\d{1,3}[A-Z][a-z]+\s")
_REFERS = re.compile(r"[\W_]*(?:see|refer to|cf\.)\s", re.IGNORECASE)  # to another place


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of a passage, by its number, with the probabilities that it answers and that `words` of it do.

    `words` lie in the passage.
    """

    passage: Passage
    number: int
    probability: float
    words: Span | None = None
    words_probability: float = 0.0

    @property
    def text(self) -> str:
        """Return the sentence on one line."""
        return " ".join(self.passage.sentences[self.number].span.of(self.passage.text).split())

    @property
    def direct(self) -> str:
        """Return the words that answer; empty where there are none."""
        return " ".join(self.words.of(self.passage.text).split()) if self.words else ""


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates for a question, the likeliest first, and the names in the question that no passage has."""

    question: str
    candidates: tuple[Candidate, ...]
    missing: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """Consecutive sentences of a passage, by their numbers, with the similarity of each to the question."""

    passage: Passage
    numbers: range
    similar: dict[int, float]

    @property
    def text(self) -> Text:
        spans = tuple(self.passage.sentences[number].span for number in self.numbers)
        return Text(self.passage.text, self.passage.title, spans)

    @property
    def words(self) -> str:
        sentences = self.passage.sentences
        return self.passage.text[sentences[self.numbers[0]].span.start : sentences[self.numbers[-1]].span.end]

    @property
    def most_similar(self) -> float:
        return max(self.similar.get(number, 0.0) for number in self.numbers)


def find(
    reader: QuestionReader, retriever: Retriever, passages: Sequence[Passage], questions: Sequence[str]
) -> list[Found]:
    """Read each question beside the parts of the passages that are most like it, and return what was found."""
    most = MAX_READ if len(questions) == 1 else MAX_READ_EACH
    parts = [_similar_parts(retriever, passages, question)[:most] for question in questions]
    pairs = [(question, part.text) for question, own in zip(questions, parts, strict=True) for part in own]
    readings = iter(reader.read(pairs))
    return [
        _found(reader, question, passages, [(part, next(readings)) for part in own])
        for question, own in zip(questions, parts, strict=True)
    ]


def _similar_parts(retriever: Retriever, passages: Sequence[Passage], question: str) -> list[_Part]:
    """Return the passages in parts that the reader can read, those most like the question first.

    Before them come parts below a heading that asks it; parts that name only other years or versions come last.
    """
    similar: dict[str, dict[int, float]] = {passage.id: {} for passage in passages}
    each = replace(retriever.only(similar), merging=False)
    for hit in each.search(question, Granularity.SENTENCE, max(1, sum(len(p.sentences) for p in passages))):
        number = next(n for n, s in enumerate(hit.passage.sentences) if s.span.end > hit.spans[0].start)
        similar[hit.passage.id][number] = hit.similarity
    parts = [part for passage in passages for part in _parts(passage, similar[passage.id])]
    names = names_in(question)
    under = {passage.id for passage in passages if is_headed(passage, question, names)}

    def behind(part: _Part) -> tuple[bool, bool, float]:
        return tells_of_another(question, part.words), part.passage.id not in under, -part.most_similar

    return sorted(parts, key=behind)


def _parts(passage: Passage, similar: dict[int, float]) -> Iterator[_Part]:
    first = 0
    for group in grouped(passage.text, [sentence.span for sentence in passage.sentences]):
        yield _Part(passage, range(first, first + len(group)), similar)
        first += len(group)


def _found(
    reader: QuestionReader, question: str, passages: Sequence[Passage], read: Sequence[tuple[_Part, Reading]]
) -> Found:
    """Put sentences first whose passage names what the question names, where any passage does.

    Where a passage describes an identifier, those that only mention it do not name it.
    """
    names = names_in(question)
    described = {passage.id: described_in(passage, names) for passage in passages}
    anywhere = {name for own in described.values() for name in own}
    named = {passage.id: named_in(passage, names) - (anywhere - described[passage.id]) for passage in passages}
    known = {name for own in named.values() for name in own}
    candidates = (candidate for part, reading in read for candidate in _candidates(reader, part, reading))
    weighed = (
        replace(c, probability=c.probability * UNFIT)
        if not known <= named[c.passage.id] or tells_of_another(question, c.text) or not can_answer(question, c.text)
        else c
        for c in candidates
    )
    asks_default = _DEFAULT.search(question) is not None
    term = defined_term(question)
    missing = tuple(name for name in names if name not in known)
    titles = {_bare(title) for passage in passages for title in passage.title.split(" › ")}
    able = (c for c in weighed if _bare(c.text) not in titles)
    raised = (
        replace(c, probability=RAISED_TO)
        if c.probability < RAISED_TO
        and (
            _is_first_below(question, c)
            or (asks_default and described[c.passage.id] and _STATES_DEFAULT.search(c.text))
            or (term and defines(term, c.text))
        )
        else c
        for c in able
    )
    return Found(question, tuple(sorted(raised, key=lambda c: -c.probability)), missing)


def _is_first_below(question: str, candidate: Candidate) -> bool:
    """Return whether a candidate is the first sentence below a heading that asks the question."""
    above = candidate.passage.sentences[: candidate.number]
    return bool(above) and all(sentence.is_heading for sentence in above) and headed(candidate.passage, question)


def _bare(text: str) -> str:
    """Return the words of a line without its bullet, number and end mark, in small letters."""
    return without_number(text).strip(" .:;#*¶\n").casefold()


def _candidates(reader: QuestionReader, part: _Part, reading: Reading) -> Iterator[Candidate]:
    """Yield the sentences of a part that may answer: no headings, no questions, no rows that only name columns."""
    calibration, passage = reader.calibration, part.passage
    for number, own in zip(part.numbers, reading.sentences, strict=True):
        sentence = passage.sentences[number]
        text = sentence.span.of(passage.text)
        if sentence.is_heading or _cannot_answer(text):
            continue
        likely = calibration.of_found(reading, own, part.similar.get(number, 0.0))
        yield Candidate(passage, number, likely, own.words, calibration.of_words(own, likely))


def _cannot_answer(text: str) -> bool:
    words = text.rstrip(" \t\n=-_*#~:")
    names_columns = " | " in text and not any(c.isdecimal() for c in text)
    is_title = (_UNDERLINED.search(text) or _LEADERS.search(text)) is not None
    no_statement = words.endswith("?") or refers_elsewhere(text) or not any(map(str.isalnum, words))
    return is_title or names_columns or no_statement or _FOOTNOTE.match(text.lstrip()) is not None


def refers_elsewhere(text: str) -> bool:
    """Return whether a sentence only refers to another place: "See section 2 for details."."""
    return _REFERS.match(text) is not None and len(text.split()) <= MAX_REFERENCE
