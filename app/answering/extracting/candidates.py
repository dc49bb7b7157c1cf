"""The sentences of the found passages that may answer a question, with the probability that each does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from propcite.app.answering.headings import (
    Section,
    asks,
    asks_for_all,
    is_headed,
    sections,
    states,
    without_number,
)
from propcite.app.answering.naming import Name, described_in, named_in, names_in, tells_of_another
from propcite.attribution.english import can_answer, defined_term, defines
from propcite.attribution.questions.reader import QuestionReader, Reading, Text, grouped
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Passage, Span

MAX_READ = 4  # parts of passages, the most similar to a question, that are read beside it
MAX_READ_EACH = 3  # where several questions are asked at once
UNFIT = 0.5  # factor for a sentence about something else than the question names, or without what it asks for
RAISED_TO = 0.6  # probability, at least, of a sentence whose place or form shows that it answers
MAX_STATED = 3  # sentences of a section that is what the question asks to be stated
MAX_REFERENCE = 14  # words of a sentence that only refers to another place

# A bullet, number or letter in front of an item of a list.
ITEM = re.compile(r"\s*(?:[-*+•‣▪◦●○■□–—·►✓✔]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+", re.IGNORECASE)
_DEFAULT = re.compile(r"\bdefaults?\b", re.IGNORECASE)
_STATES_DEFAULT = re.compile(r"\bdefaults?(?:\s+value)?(?::|\s+(?:is|to)\b)", re.IGNORECASE)
_LEADERS = re.compile(r"(?:\s?[.·…]){5,}")  # between a heading and its page in a table of contents
_UNDERLINED = re.compile(r"[=~#*_-]{4,}\s*$")  # a title
# "¹This is", "12Debian": the number of a footnote is written without a space.
_FOOTNOTE = re.compile(r"[⁰¹²³⁴-⁹]+\s*\w|\d{1,3}[A-Z][a-z]+\s")
_SPEAKER = re.compile(r"[^\W\d_][^\n:.!?]{1,40}:\s")  # "Ada Moor: …"
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
    under = {p.id for p in passages if is_headed(p, question, names)}

    def behind(part: _Part) -> tuple[bool, bool, float]:
        of_another = tells_of_another(question, part.words, part.passage.title)
        return of_another, part.passage.id not in under, -part.most_similar

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

    In a document with a section for the question, other sentences come behind those of the section.
    Where a passage describes an identifier, those that only mention it do not name it.  What a document names in its
    opening, as a contract does its parties, all its passages name; but not versions, which others compare with.
    """
    names = names_in(question)
    described = {passage.id: described_in(passage, names) for passage in passages}
    anywhere = {name for own in described.values() for name in own}
    opening = {p.document_id: named_in(p, names) for p in passages if p.document_id and p.start == 0}
    by_document = {id_: {name for name in own if name.text.isalpha()} for id_, own in opening.items()}
    named = {
        p.id: named_in(p, names) - (anywhere - described[p.id]) | by_document.get(p.document_id, set())
        for p in passages
    }
    known = {name for own in named.values() for name in own}
    answering = {passage.id: _answering(passage, question) for passage in passages}
    in_sections = {passage.document_id for passage in passages if answering[passage.id]}
    candidates = (candidate for part, reading in read for candidate in _candidates(reader, part, reading))
    weighed = (
        replace(c, probability=c.probability * UNFIT)
        if (
            c.passage.document_id in in_sections
            and not any(c.number in section.numbers for section in answering[c.passage.id])
        )
        or not known <= named[c.passage.id]
        or tells_of_another(question, c.text, c.passage.title)
        or not can_answer(question, c.text)
        else c
        for c in candidates
    )
    asks_default = _DEFAULT.search(question) is not None
    term = defined_term(question)
    missing = tuple(name for name in names if name not in known)
    titles = {_bare(title) for passage in passages for title in passage.title.split(" › ")}
    able = [c for c in weighed if _bare(c.text) not in titles]

    def least(c: Candidate) -> float:
        """Return the probability of a candidate whose place or form shows that it answers; 0 where they do not."""
        states_default = asks_default and described[c.passage.id] and _STATES_DEFAULT.search(c.text)
        shown = RAISED_TO if states_default or (term and defines(term, c.text)) else 0.0
        return max(shown, by_heading.get((c.passage.id, c.number), 0.0))

    by_heading = _by_heading(question, able, answering)
    raised = (replace(c, probability=max(c.probability, least(c))) for c in able)
    return Found(question, tuple(sorted(raised, key=lambda c: -c.probability)), missing)


def _answering(passage: Passage, question: str) -> list[Section]:
    """Return the sections of a passage whose headings ask the question or are what it asks to be stated."""
    return [one for one in sections(passage) if asks(one, question) or states(one, question)]


def _by_heading(
    question: str, candidates: Sequence[Candidate], answering: Mapping[str, Sequence[Section]]
) -> dict[tuple[str, int], float]:
    """Return the passage and number of each candidate that answers for the heading right above it, and how probably.

    Below a heading that asks the question it is the likeliest one, or the items of its list; below one that is what
    the question asks to be stated they are the first ones.
    """
    places: dict[tuple[str, int], float] = {}
    in_order = sorted(candidates, key=lambda c: c.number)
    for id_, own in answering.items():
        for section in (one for one in own if one.begins):
            below = [c for c in in_order if c.passage.id == id_ and c.number in section.numbers]
            likeliest = max(below, key=lambda c: c.probability, default=None)
            if likeliest is None:
                continue
            is_whole = asks_for_all(question) if states(section, question) else is_item(likeliest.text)
            for candidate in below[:MAX_STATED] if is_whole else [likeliest]:
                places[id_, candidate.number] = max(RAISED_TO, likeliest.probability)
    return places


def _bare(text: str) -> str:
    """Return the words of a line without its bullet, number and end mark, in small letters."""
    return without_number(text).strip(" .:;#*¶\n").casefold()


def _candidates(reader: QuestionReader, part: _Part, reading: Reading) -> Iterator[Candidate]:
    """Yield the sentences of a part that may answer: no headings, no questions, no rows that only name columns."""
    calibration, passage = reader.calibration, part.passage
    for number, own in zip(part.numbers, reading.sentences, strict=True):
        sentence = passage.sentences[number]
        text = sentence.span.of(passage.text)
        if sentence.is_heading or _cannot_answer(text) or _leads_to_question(passage.text, sentence.span):
            continue
        likely = calibration.of_found(reading, own, part.similar.get(number, 0.0))
        yield Candidate(passage, number, likely, own.words, calibration.of_words(own, likely))


def _cannot_answer(text: str) -> bool:
    words = text.rstrip(" \t\n=-_*#~:")
    names_columns = " | " in text and not any(c.isdecimal() for c in text)
    is_capitals = text.isupper() and not text.rstrip().endswith((".", "!"))
    is_title = is_capitals or (_UNDERLINED.search(text) or _LEADERS.search(text)) is not None
    no_statement = words.endswith("?") or refers_elsewhere(text) or not any(map(str.isalnum, words))
    return is_title or names_columns or no_statement or _FOOTNOTE.match(text.lstrip()) is not None


def _leads_to_question(text: str, sentence: Span) -> bool:
    """Return whether a sentence is from the words of a speaker, on one line, that end with a question."""
    start, end = text.rfind("\n", 0, sentence.end - 1) + 1, text.find("\n", sentence.start)
    line = text[start : end if end >= 0 else len(text)].rstrip()
    return line.endswith("?") and _SPEAKER.match(line) is not None


def is_item(text: str) -> bool:
    """Return whether a sentence is an item of a list."""
    return ITEM.match(text) is not None


def refers_elsewhere(text: str) -> bool:
    """Return whether a sentence only refers to another place: "See section 2 for details."."""
    return _REFERS.match(text) is not None and len(text.split()) <= MAX_REFERENCE
