"""Questions that a collection answers: candidates from its own statements and headings, each read before it is offered.

A candidate is kept only where a search finds passages that, in the judgement of PropCite's reader of questions, answer
it, and where the sentence that it was made from is among those that do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from propcite.app.answering.extracting.candidates import find
from propcite.app.answering.extracting.choosing import choose
from propcite.app.answering.finding import found_passages
from propcite.app.answering.naming import without_number
from propcite.app.overview.question_forms import Form, forms_of
from propcite.app.overview.statements import Salience, Statement, heading_questions, statements_of
from propcite.app.overview.subjects import Spelling
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.english import content_words, is_question, question_parts, share_found
from propcite.attribution.questions.reader import QuestionReader
from propcite.retrieval.interrupting import check_interrupt
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage, Span

NUM_FIRST, NUM_FOLLOWING = 4, 3
MAX_FORMED = 60  # statements, the most telling first, of which questions are formed per document
MAX_READ = 12  # candidates that are searched and read
MAX_SAME_KIND = 2  # questions that ask for the same, as `when`
OPENS = frozenset("who whose what which when where why how".split())  # of headings: others ask for yes or no
SAME_QUESTION = 0.7  # questions that share this much of the shorter one's words ask the same
NEARNESS, SAME_DOCUMENT = 3.0, 1.0  # weights of an answer's words and of its first document, beside salience
SHORT, LENGTH_COST = 10, 0.05  # words of a question, and what each further one costs


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
    sentence: str = ""  # which must answer; empty where any of the passage may
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
        for chosen in choose(found.candidates):
            at_heading = candidate.source is None or chosen.passage.id == candidate.source.id
            if chosen.text == candidate.sentence or (not candidate.sentence and at_heading):
                span = chosen.passage.sentences[chosen.number].span.trimmed(chosen.passage.text)
                return Suggestion(question, chosen.passage, span)
        return None


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
    return _answered(candidates, answering, NUM_FOLLOWING, asked, unsaid=said)


def formed(passages: Sequence[Passage]) -> Iterator[Candidate]:
    """Yield the questions that are formed of the statements and headings of passages, one per sentence."""
    salience, spelling = Salience(passages), Spelling.of(" ".join(p.text for p in passages))
    by_document: dict[str, list[Statement]] = {}
    for statement in statements_of(passages):
        by_document.setdefault(statement.document, []).append(statement)
    for own in by_document.values():
        for statement in sorted(own, key=lambda s: (-salience.of(s), s.passage.start, s.number))[:MAX_FORMED]:
            forms: list[Form] = forms_of(statement.text, spelling)
            if forms:
                question, asks = forms[0].question, forms[0].asks
                score = salience.of(statement) - LENGTH_COST * max(0, len(question.split()) - SHORT)
                yield Candidate(question, asks, statement.passage, statement.text, score)
    for passage, span in heading_questions(passages):
        heading = Statement(passage, 0, without_number(" ".join(span.of(passage.text).split())))
        opens = heading.text.partition(" ")[0].lower()
        if opens in OPENS and is_question(heading.text) and len(content_words(heading.text)) > 1:
            yield Candidate(heading.text, "heading", passage, score=salience.of(heading))


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
    unsaid: Iterable[str] = (),
) -> list[Suggestion]:
    """Return the first candidates that are answered and ask something new, of different kinds where there are some."""
    found: list[Suggestion] = []
    kinds: Counter[str] = Counter()
    said = tuple(unsaid)
    for candidate in _varied(candidates, kinds):
        if any(_same(candidate.question, other) for other in (*asked, *(s.question for s in found))):
            continue
        suggestion = answering.answer_to(candidate)
        if suggestion and not any(suggestion.quote in one for one in said):
            found.append(suggestion)
            kinds[candidate.asks] += 1
        if len(found) == number:
            break
    return found


def _varied(candidates: Sequence[Candidate], kinds: Counter[str]) -> Iterator[Candidate]:
    """Yield at most `MAX_READ` candidates, those of a kind that was kept often enough last."""
    put_off: list[Candidate] = []
    num_yielded = 0
    for is_last, some in ((False, candidates), (True, put_off)):
        for candidate in some:
            if num_yielded == MAX_READ:
                return
            if not is_last and candidate.asks != "written" and kinds[candidate.asks] >= MAX_SAME_KIND:
                put_off.append(candidate)
                continue
            num_yielded += 1
            yield candidate


def _same(one: str, other: str) -> bool:
    shorter, longer = sorted((content_words(one), content_words(other)), key=len)
    return not shorter or share_found(shorter, longer) >= SAME_QUESTION
