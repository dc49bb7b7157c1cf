"""Questions that a collection answers: candidates from its own statements and headings, each read before it is offered.

A candidate is kept only where a search finds passages that, in the judgement of PropCite's reader of questions, answer
it, and where the sentence that it was made from is among those that do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from propcite.app.answering.extracting.candidates import Candidate as Answer
from propcite.app.answering.extracting.candidates import find
from propcite.app.answering.extracting.choosing import choose
from propcite.app.answering.finding import found_passages
from propcite.app.overview.clauses import Form
from propcite.app.overview.heading_forms import heading_forms
from propcite.app.overview.question_forms import forms_of
from propcite.app.overview.row_forms import row_form
from propcite.app.overview.statements import Salience, Statement, headings_of, is_statement, statements_of, tells
from propcite.app.overview.subjects import Spelling
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.english import content_words, question_parts, share_found
from propcite.attribution.questions.reader import QuestionReader
from propcite.retrieval.interrupting import check_interrupt
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage, Span

NUM_FIRST, NUM_FOLLOWING = 4, 3
MAX_FORMED, MAX_FORMS = 150, 2  # statements, the most telling first, and the questions formed of each
MAX_READ = 12  # candidates that are searched and read
MAX_SAME_KIND = 2  # questions that ask for the same, as `when`
SAME_QUESTION = 0.7  # questions that share this much of the shorter one's words ask the same
NEARNESS, SAME_DOCUMENT = 3.0, 1.0  # weights of an answer's words and of its first document, beside salience
# What a question is worth by what it asks for, beside salience.
WORTH = {
    **dict.fromkeys(("heading", "what"), 0.9),
    **dict.fromkeys(("why", "task", "aim", "use"), 0.6),
    **dict.fromkeys(("when", "many", "much", "measure", "who", "condition", "effect"), 0.3),
    "way": 0.2,
    "setting": -0.5,
    "row": -0.5,
    "section": -2.5,
}
NAMED_SHARE = 0.4  # of a question with a name or a word of its document's title: it is understood in any collection
UNNAMED = 0.8  # what another one costs, where there are several documents
SHORT, LENGTH_COST = 10, 0.05  # words of a question, and what each further one costs

_OF_DOCUMENT = re.compile(r"^What (?:do|does) .+ say (?=about )")
_NAME = re.compile(r"(?<=\s)[A-Z][\w-]*|\w[_.]\w|--\w|\d")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question, and the words that answer it: `span` of the passage."""

    question: str
    passage: Passage
    span: Span

    @property
    def quote(self) -> str:
        return " ".join(self.span.of(self.passage.text).split())


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that may be offered; `source` is the passage that it was made of, None where a model wrote it."""

    question: str
    asks: str
    source: Passage | None = None
    sentence: str = ""  # which must answer; empty where any of the section, or of the passage, may
    section: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Answering:
    """How a question is answered: what searches, what reads, and how many passages are read."""

    retriever: Retriever
    reader: QuestionReader
    num_passages: int = 8
    before: str = ""  # the question that is followed

    def answer_to(self, candidate: Candidate) -> Suggestion | None:
        """Return the question with the words that answer it; None where none do, or others than it was made of."""
        check_interrupt()
        question = candidate.question
        if question_parts(question) != [question]:
            return None
        hits = found_passages(self.retriever, question, self.num_passages, self.before)
        everywhere = self.retriever.only(place.passage.id for hit in hits for place in hit.everywhere)
        (found,) = find(self.reader, everywhere, [hit.passage for hit in hits], [question])
        answers = [chosen for chosen in choose(found.candidates) if _shows(candidate, chosen)]
        for best in sorted(answers, key=lambda chosen: not is_statement(chosen.text))[:1]:
            span = best.passage.sentences[best.number].span.trimmed(best.passage.text)
            return Suggestion(question, best.passage, span)
        return None


def _shows(candidate: Candidate, chosen: Answer) -> bool:
    """Return whether what answers is the sentence that a question was made of, or stands under its heading."""
    if candidate.sentence:
        return chosen.text == candidate.sentence
    if candidate.source is not None and not _is_below(chosen.passage, candidate.source, candidate.section):
        return False
    return is_statement(chosen.text) if candidate.asks == "section" else tells(chosen.text)


def first_questions(passages: Sequence[Passage], answering: Answering, more: Sequence[str] = ()) -> list[Suggestion]:
    """Return questions to begin with, of as many documents as possible; `more` are further candidates, tried first."""
    candidates = [Candidate(question, "written") for question in more]
    candidates += _in_turn(sorted(formed(passages), key=lambda c: (-c.score, c.question)))
    return _answered(candidates, answering, NUM_FIRST)


def follow_ups(
    answer: CitedAnswer, passages: Sequence[Passage], answering: Answering, more: Sequence[str] = ()
) -> list[Suggestion]:
    """Return questions on what stands near an answer and is not said in it; `passages` are its documents' own."""
    said = {" ".join(c.quote.split()) for c in answer.citations} | {" ".join(answer.text.split())}
    words = set(content_words(f"{answer.question} {answer.understood} {answer.text}"))
    asked = [answer.understood or answer.question]
    document = answer.citations[0].passage.document_id if answer.citations else ""
    formed_here = [c for c in formed(passages) if not any(c.sentence and c.sentence in one for one in said)]
    most = max((c.score for c in formed_here), default=0.0) or 1.0

    def near(candidate: Candidate) -> float:
        own = share_found(content_words(f"{candidate.question} {candidate.sentence}"), words)
        is_own = candidate.source is not None and candidate.source.document_id == document
        return candidate.score / most + NEARNESS * own + SAME_DOCUMENT * is_own

    candidates = [Candidate(question, "written") for question in more]
    candidates += sorted(formed_here, key=lambda c: (-near(c), c.question))
    return _answered(candidates, answering, NUM_FOLLOWING, asked, said)


def formed(passages: Sequence[Passage]) -> Iterator[Candidate]:
    """Yield the questions that are formed of the statements, headings and titles of passages."""
    salience = Salience(passages)
    by_document: dict[str, list[Passage]] = {}
    for passage in passages:
        by_document.setdefault(passage.document_id or passage.id, []).append(passage)
    for own in by_document.values():
        title = own[0].title.split(" › ")[0]
        spelling, named = Spelling.of(" ".join(p.text for p in own), title), set(content_words(title))

        opening = _opening(own[0])
        penalty = 0.0 if len(by_document) == 1 else UNNAMED

        def scored(form: Form, source: Statement, named: set[str] = named, penalty: float = penalty) -> float:
            cost = LENGTH_COST * max(0, len(form.question.split()) - SHORT)
            of_title = bool(named & set(content_words(form.question)))
            names = of_title + (_NAME.search(form.question) is not None)
            named_share = NAMED_SHARE * names if names else -penalty
            return salience.of(source) + WORTH.get(form.asks, 0.0) + named_share - cost

        telling = sorted(statements_of(own), key=lambda s: (-salience.of(s), s.passage.start, s.number))
        for statement in telling[:MAX_FORMED]:
            for form in forms_of(statement.text, spelling)[:MAX_FORMS]:
                score = scored(form, statement)
                yield Candidate(form.question, form.asks, statement.passage, statement.text, score=score)
        number = 0  # of the row
        for passage in own:
            for sentence in passage.sentences:
                row = " ".join(sentence.span.of(passage.text).split())
                if asked := row_form(row, number):
                    number += 1
                    score = scored(asked, Statement(passage, 0, row))
                    yield Candidate(asked.question, asked.asks, passage, row, score=score)
        for heading, passage, section in headings_of(own):
            if heading in (title, opening) and not heading.endswith("?"):
                continue  # names the whole document
            for form in heading_forms(heading, title, spelling):
                score = scored(form, Statement(passage, 0, heading))
                yield Candidate(form.question, form.asks, passage, section=section, score=score)


def _opening(passage: Passage) -> str:
    """Return the heading that a document begins with; empty where it begins with none."""
    first = passage.sentences[0] if passage.sentences else None
    return " ".join(first.span.of(passage.text).split()) if first and first.is_heading else ""


def most_telling(passages: Sequence[Passage]) -> list[Passage]:
    """Return passages with the most telling statements of each document, those of many documents first."""
    salience = Salience(passages)
    ranked = sorted(statements_of(passages), key=lambda s: (-salience.of(s), s.passage.id, s.number))
    candidates = [Candidate("", "", statement.passage) for statement in ranked]
    in_turn = (c.source for c in _in_turn(candidates) if c.source)
    return list({passage.id: passage for passage in in_turn}.values())


def _in_turn(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Order candidates so that the first of every document come first, the best before others."""
    turns: Counter[str] = Counter()
    placed: list[tuple[int, int, Candidate]] = []
    for place, candidate in enumerate(candidates):
        document = candidate.source.document_id if candidate.source else ""
        placed.append((turns[document], place, candidate))
        turns[document] += 1
    return [candidate for *_, candidate in sorted(placed, key=lambda one: one[:2])]


def _answered(
    candidates: Sequence[Candidate],
    answering: Answering,
    number: int,
    asked: Sequence[str] = (),
    said: Iterable[str] = (),
) -> list[Suggestion]:
    """Return the first candidates that are answered and ask something new.

    Those that ask for the same, or of the same section, as others are tried last.  At most `MAX_READ` are read.
    """
    found: list[Suggestion] = []
    kinds: Counter[str] = Counter()
    sections: set[str] = set()
    stated, put_off = list(said), list[Candidate]()
    num_read = 0
    for is_last, some in ((False, candidates), (True, put_off)):
        for candidate in some:
            if len(found) == number or num_read == MAX_READ:
                return found
            questions = (*asked, *(one.question for one in found))
            if any(_same(candidate.question, one) for one in questions) or _is_said(candidate.sentence, stated):
                continue
            section = candidate.source.title if candidate.source else ""
            if not is_last and section and (kinds[candidate.asks] >= MAX_SAME_KIND or section in sections):
                put_off.append(candidate)
                continue
            num_read += 1
            suggestion = answering.answer_to(candidate)
            if suggestion and not _is_said(suggestion.quote, stated):
                found.append(suggestion)
                stated.append(suggestion.quote)
                kinds[candidate.asks] += 1
                sections.add(section)
    return found


def _is_said(sentence: str, stated: Iterable[str]) -> bool:
    return bool(sentence) and any(sentence in one or _same(sentence, one) for one in stated)


def _is_below(passage: Passage, source: Passage, section: str) -> bool:
    """Return whether a passage is the source, or stands in this section of its document."""
    is_own = bool(section) and passage.document_id == source.document_id
    return passage.id == source.id or (is_own and f"{passage.title} › ".startswith(f"{section} › "))


def _same(one: str, other: str) -> bool:
    """Return whether two questions, or statements, have mostly the same words; which document is asked is no matter."""
    shorter, longer = sorted((content_words(_OF_DOCUMENT.sub("", text)) for text in (one, other)), key=len)
    return not shorter or share_found(shorter, longer) >= SAME_QUESTION
