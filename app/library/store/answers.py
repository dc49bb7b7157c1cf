"""Answers over a library's collections, stored as they were given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from propcite.app.errors import CollidedError, InUseError, NotFoundError
from propcite.app.library.records import AnswerInfo, CollectionInfo
from propcite.app.library.store.database import Database, aware
from propcite.app.library.store.tables import AnswerRow, CitationRow, CollectionRow, now
from propcite.attribution.citations import CitedAnswer, Label
from propcite.attribution.formats.json import from_json, to_json
from propcite.attribution.formats.links import linked_by

_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no database accepts
RETRIES = 3  # when another process saves the same answer at the same moment


class AnswerProblem(StrEnum):
    """Problems of an answer's facts by which answers are filtered."""

    UNSUPPORTED = "unsupported"  # a fact has no support
    CONTRADICTED = "contradicted"  # a source contradicts a fact


PROBLEMS: dict[AnswerProblem, ColumnElement[bool]] = {
    AnswerProblem.UNSUPPORTED: AnswerRow.num_cited < AnswerRow.num_facts,
    AnswerProblem.CONTRADICTED: AnswerRow.num_contradicted > 0,
}


class Answers(Database):
    """Every method is one transaction."""

    def save_answer(self, collection: CollectionInfo, answer: CitedAnswer, *, of_draft: bool = False) -> None:
        """Store an answer; the same answer with the same citations gets a new date and keeps its feedback.

        One `of_draft` goes with its drafts, unless it was stored for itself too.
        """
        for _ in range(RETRIES):
            with suppress(CollidedError), self.session() as session:
                _put_answer(session, collection, answer, of_draft)
                return
        with self.session() as session:
            _put_answer(session, collection, answer, of_draft)

    def has_answer(self, answer_id: str) -> bool:
        with self.session() as session:
            return session.scalar(select(AnswerRow.id).where(AnswerRow.id == answer_id)) is not None

    def kept_at(self, answer_id: str) -> datetime | None:
        """Return when an answer was kept last; None if it is not."""
        with self.session() as session:
            at = session.scalar(select(AnswerRow.asked_at).where(AnswerRow.id == answer_id))
        return aware(at) if at else None

    def answer(self, answer_id: str) -> CitedAnswer:
        """Return an answer as it was given, by its id or the start of it if only one answer matches."""
        begins = AnswerRow.id.startswith(answer_id, autoescape=True)
        with self.session() as session:
            rows = list(session.scalars(select(AnswerRow).where(begins).limit(2)))
            if len(rows) != 1 or not answer_id:
                many = "several answers begin with" if rows else "no answer"
                raise NotFoundError(f"{many} {answer_id!r}", ": propcite list --answers shows their ids")
            return from_json(rows[0].body)

    def answers(
        self,
        collection: CollectionInfo | None = None,
        limit: int | None = 100,
        problem: AnswerProblem | None = None,
    ) -> list[AnswerInfo]:
        """Return the newest answers first, or only those with a problem."""
        query = (
            select(AnswerRow, CollectionRow.name)
            .join(CollectionRow, CollectionRow.id == AnswerRow.collection_id)
            .order_by(AnswerRow.asked_at.desc())
            .limit(limit)
        )
        if collection is not None:
            query = query.where(AnswerRow.collection_id == collection.id)
        if problem is not None:
            query = query.where(PROBLEMS[problem])
        with self.session() as session:
            return [answer_info(row, name) for row, name in session.execute(query)]

    def count_answers_citing(self, collection: CollectionInfo, document_id: str) -> int:
        """Return how many answers over a collection cite a document."""
        inside = select(AnswerRow.id).where(AnswerRow.collection_id == collection.id)
        query = select(func.count(CitationRow.answer_id.distinct())).where(
            CitationRow.document_id == document_id, CitationRow.answer_id.in_(inside)
        )
        with self.session() as session:
            return session.scalar(query) or 0


def answer_info(row: AnswerRow, collection: str) -> AnswerInfo:
    counts = (row.num_facts, row.num_cited, row.num_contradicted)
    return AnswerInfo(row.id, row.question, collection, aware(row.asked_at), *counts, row.after)


def _put_answer(session: Session, collection: CollectionInfo, answer: CitedAnswer, of_draft: bool) -> None:
    """Insert or update an answer; FOR UPDATE makes a second writer of the same answer wait."""
    if session.get(CollectionRow, collection.id) is None:
        raise NotFoundError(f"the collection {collection.name!r} was deleted meanwhile: its answers are not kept")
    row = session.get(AnswerRow, answer.id, with_for_update=True)
    if row is None:
        row = AnswerRow(id=answer.id, question=answer.question, of_draft=of_draft)
    elif row.collection_id != collection.id:
        raise InUseError(f"another collection has an answer {answer.id}: change a word, and it gets another id")
    row.of_draft = row.of_draft and of_draft
    write_index_columns(session, row, answer)
    with linked_by(lambda *_: ""):  # links end, answers stay
        row.collection_id, row.body, row.asked_at = collection.id, to_json(answer), now()
    session.add(row)
    session.flush()


def write_index_columns(session: Session, row: AnswerRow, answer: CitedAnswer) -> None:
    """Write the columns by which answers are found without reading them: citations, predecessor, words, counts."""
    session.execute(delete(CitationRow).where(CitationRow.answer_id == row.id))
    row.num_facts, row.num_cited, row.num_contradicted = count_facts(answer)
    row.after, row.words = answer.after, search_text(answer)
    row.citations = [CitationRow(**fields) for fields in citation_fields(answer)]


def search_text(answer: CitedAnswer) -> str:
    """Return the text by which an answer is found, normalized so that both databases compare it alike.

    >>> search_text(CitedAnswer("Über 3  metres.", question="How HIGH?"))
    'how high? über 3 metres.'
    """
    text = f"{answer.question} {answer.understood} {answer.text}".casefold().replace("\0", " ")
    return " ".join(_SURROGATE.sub("\ufffd", text).split())


def count_facts(answer: CitedAnswer) -> tuple[int, int, int]:
    """Count the facts of an answer: all, cited, contradicted."""
    against = sum(fact.verdict is not None and fact.verdict.label is Label.CONTRADICTED for fact in answer.facts)
    return len(answer.facts), sum(bool(fact.citations) for fact in answer.facts), against


def citation_fields(answer: CitedAnswer) -> Iterator[dict[str, str | int | float]]:
    for c in answer.citations:
        yield {
            "document_id": c.passage.document_id,
            "passage_id": c.passage.id,
            "start": c.span.start,
            "end": c.span.end,
            "quote": c.quote,
            "score": c.score,
        }
