"""Claims from questions: the answer as a statement, and other names or numbers of the passage in its place."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from propcite.attribution.judges.training.making.entities import Entity, differ
from propcite.attribution.judges.training.making.example import SUPPORTED, UNSUPPORTED
from propcite.attribution.judges.training.making.passages import Question
from propcite.attribution.judges.training.making.rewrites.names import are_related
from propcite.attribution.judges.training.making.rewriting import Draft, compose, plain
from propcite.attribution.judges.training.making.statements import statement_with

if TYPE_CHECKING:
    from spacy.tokens import Doc

_EXPECTED = (  # what a question asks for
    (re.compile(r"\b(?:what|which) (?:year|date|month|day|century|decade)\b|\bwhen\b"), ("DATE",)),
    (re.compile(r"\bhow many\b"), ("CARDINAL",)),
    (re.compile(r"\bhow much\b"), ("MONEY", "QUANTITY")),
    (re.compile(r"\b(?:what|which) percent"), ("PERCENT",)),
    (re.compile(r"\b(?:what|which) (?:city|country|state|town|region|continent|county|place)\b|\bwhere\b"), ("PLACE",)),
    (re.compile(r"\bwho\b"), ("PERSON",)),
)


def question_drafts(
    asked: Doc, question: Question, sentences: Sequence[Doc], entities: Sequence[Entity], rng: random.Random
) -> Iterator[tuple[int, Draft]]:
    """Yield statements with the number of the sentence that answers, or from which the wrong answer comes."""
    if question.answer and question.sentence is not None:
        named = _is_named(sentences[question.sentence], question.answer)
        pieces = statement_with(asked, question.answer) if named else []
        made = list(compose(pieces, SUPPORTED, "answer")) if pieces else []
        yield from ((question.sentence, draft) for draft in made)
        if made:
            yield from _wrong_answer(asked, question, sentences, entities, rng)
    elif not question.answer:
        yield from _plausible_answer(asked, entities, rng)


def _is_named(doc: Doc, answer: str) -> bool:
    """Return whether the answer is a noun, a number or a phrase with a preposition, and so can stand in a statement."""
    start = doc.text.find(answer)
    span = doc.char_span(start, start + len(answer), alignment_mode="expand") if start >= 0 else None
    return span is not None and span.root.pos_ in ("NOUN", "PROPN", "NUM", "SYM", "ADP") and span.root.dep_ != "amod"


def _wrong_answer(
    asked: Doc, question: Question, sentences: Sequence[Doc], entities: Sequence[Entity], rng: random.Random
) -> Iterator[tuple[int, Draft]]:
    """Put another name of the passage in the place of the answer, of the same group and shape."""
    number = question.sentence or 0
    own = [e for e in entities if e.sentence == number and plain(e.text) == plain(question.answer)]
    if not own:
        return
    others = [e for e in entities if own[0].fits(e) and differ(e.text, asked.text)]
    others = [e for e in others if e.sentence != number or not are_related(sentences[number], own[0], e)]
    others = [e for e in others if not {own[0].text, e.text} <= _listed(sentences, e)]
    if others:
        other = rng.choice(others)
        for draft in compose(
            statement_with(asked, other.text, wrong=True), UNSUPPORTED, "wrong_answer", other.sentence
        ):
            yield number, draft


def _plausible_answer(asked: Doc, entities: Sequence[Entity], rng: random.Random) -> Iterator[tuple[int, Draft]]:
    """Answer a question that the passage does not answer, with a name of the kind that it asks for."""
    groups = expected_groups(asked.text)
    fitting = [e for e in entities if e.group in groups and differ(e.text, asked.text)]
    if fitting:
        entity = rng.choice(fitting)
        for draft in compose(statement_with(asked, entity.text), UNSUPPORTED, "unanswerable"):
            yield entity.sentence, Draft(draft.claim, draft.label, draft.kind, None)


def expected_groups(question: str) -> tuple[str, ...]:
    """Return the groups of entities that a question asks for; empty where that is not clear."""
    return next((groups for pattern, groups in _EXPECTED if pattern.search(question.lower())), ())


def _listed(sentences: Sequence[Doc], entity: Entity) -> set[str]:
    """Return the names of the list that an entity stands in: each of them may be a right answer."""
    doc = sentences[entity.sentence]
    span = doc.char_span(entity.start, entity.end, alignment_mode="expand")
    return set() if span is None else {entity.text, *(doc[t.left_edge.i : t.i + 1].text for t in span.root.conjuncts)}
