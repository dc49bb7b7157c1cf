"""The answers given over a library's collections, kept as they were given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from propcite.app.errors import CollidedError, NotFoundError
from propcite.app.library.store.database import aware
from propcite.app.library.store.infos import AnswerInfo, CollectionInfo
from propcite.app.library.store.opened import Opened
from propcite.app.library.store.tables import AnswerRow, CitationRow, CollectionRow, now
from propcite.attribution.citations import CitedAnswer, Label
from propcite.attribution.formats.json import from_json, to_json

_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no database takes
AGAIN = 3  # tries where another keeps the same answer at the same moment


class Lacking(StrEnum):
    """What may be wrong with an answer's facts."""

    UNSUPPORTED = "unsupported"  # some fact has no support
    CONTRADICTED = "contradicted"  # a source says otherwise


WRONG: dict[Lacking, ColumnElement[bool]] = {
    Lacking.UNSUPPORTED: AnswerRow.num_cited < AnswerRow.num_facts,
    Lacking.CONTRADICTED: AnswerRow.num_contradicted > 0,
}


class Answers(Opened):
    """Every method is one transaction."""

    def keep_answer(self, collection: CollectionInfo, answer: CitedAnswer) -> None:
        """The same answer with the same citations is kept once, dated anew; what people said of it stays."""
        for _ in range(AGAIN):
            with suppress(CollidedError), self.session() as session:
                _put_answer(session, collection, answer)
                return
        with self.session() as session:
            _put_answer(session, collection, answer)

    def has_answer(self, answer_id: str) -> bool:
        with self.session() as session:
            return session.scalar(select(AnswerRow.id).where(AnswerRow.id == answer_id)) is not None

    def answer(self, answer_id: str) -> CitedAnswer:
        """An answer as it was given, by its id or a beginning of it that only one answer has."""
        begins = AnswerRow.id.startswith(answer_id, autoescape=True)
        with self.session() as session:
            rows = list(session.scalars(select(AnswerRow).where(begins).limit(2)))
            if len(rows) != 1 or not answer_id:
                many = "several answers begin with" if rows else "no answer"
                raise NotFoundError(f"{many} {answer_id!r}: propcite list --answers shows their ids")
            return from_json(rows[0].body)

    def answers(
        self, collection: CollectionInfo | None = None, limit: int | None = 100, lacking: Lacking | None = None
    ) -> list[AnswerInfo]:
        """The newest answers first; only those that lack something, where that is asked for."""
        query = (
            select(AnswerRow, CollectionRow.name)
            .join(CollectionRow, CollectionRow.id == AnswerRow.collection_id)
            .order_by(AnswerRow.asked_at.desc())
            .limit(limit)
        )
        if collection is not None:
            query = query.where(AnswerRow.collection_id == collection.id)
        if lacking is not None:
            query = query.where(WRONG[lacking])
        with self.session() as session:
            return [answer_info(row, name) for row, name in session.execute(query)]

    def answers_citing(self, document_id: str) -> int:
        with self.session() as session:
            query = select(func.count(CitationRow.answer_id.distinct())).where(CitationRow.document_id == document_id)
            return session.scalar(query) or 0


def answer_info(row: AnswerRow, collection: str) -> AnswerInfo:
    counts = (row.num_facts, row.num_cited, row.num_contradicted)
    return AnswerInfo(row.id, row.question, collection, aware(row.asked_at), *counts, row.after)


def _put_answer(session: Session, collection: CollectionInfo, answer: CitedAnswer) -> None:
    """Who keeps the same answer at the same time waits for the first."""
    row = session.get(AnswerRow, answer.id, with_for_update=True) or AnswerRow(id=answer.id, question=answer.question)
    write_facts(session, row, answer)
    row.collection_id, row.body, row.asked_at = collection.id, to_json(answer), now()
    session.add(row)
    session.flush()


def write_facts(session: Session, row: AnswerRow, answer: CitedAnswer) -> None:
    """What is asked of answers without reading them: whom they cite and follow, their words, how their facts stand."""
    session.execute(delete(CitationRow).where(CitationRow.answer_id == row.id))
    row.num_facts, row.num_cited, row.num_contradicted = counted(answer)
    row.after, row.words = answer.after, words_of(answer)
    row.citations = [CitationRow(**cited) for cited in cited_words(answer)]


def words_of(answer: CitedAnswer) -> str:
    """By which an answer is found; both databases compare them alike.

    >>> words_of(CitedAnswer("Über 3  metres.", question="How HIGH?"))
    'how high? über 3 metres.'
    """
    told = f"{answer.question} {answer.understood} {answer.text}".casefold().replace("\0", " ")
    return " ".join(_SURROGATE.sub("\ufffd", told).split())


def counted(answer: CitedAnswer) -> tuple[int, int, int]:
    against = sum(fact.verdict is not None and fact.verdict.label is Label.CONTRADICTED for fact in answer.facts)
    return len(answer.facts), sum(bool(fact.citations) for fact in answer.facts), against


def cited_words(answer: CitedAnswer) -> Iterator[dict[str, str | int | float]]:
    for c in answer.citations:
        yield {
            "document_id": c.passage.document_id,
            "passage_id": c.passage.id,
            "start": c.span.start,
            "end": c.span.end,
            "quote": c.quote,
            "score": c.score,
        }
