"""What people say of citations: kept with the answer, one opinion of each person on each citation."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Engine, delete, select
from sqlalchemy.orm import Session

from propcite.app.errors import NotFoundError
from propcite.app.library.store.database import aware, told
from propcite.app.library.store.infos import CollectionInfo
from propcite.app.library.store.tables import AnswerRow, CollectionRow, FeedbackRow, now


class Opinion(StrEnum):
    """What may be said of a citation, or of a fact that has none."""

    RIGHT = "right"  # the cited words support the fact; of a fact without any: nothing does
    WRONG = "wrong"  # they do not; of a fact without any: something does
    TOO_BROAD = "too-broad"  # they do, among much else
    BETTER = "better"  # other words support it better, or at all


@dataclass(frozen=True, slots=True)
class Words:
    """A span of a passage, kept with its words, which outlive the document."""

    passage_id: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """One opinion.  `fact` is the proposition's id, `citation` the citation's, empty where the fact has none."""

    answer_id: str
    fact: str
    citation: str
    opinion: Opinion
    better: Words | None = None
    note: str = ""
    by: str = ""
    id: str = ""
    given_at: datetime | None = None


class Feedbacks:
    """The opinions of one database.  Every method is one transaction."""

    def __init__(self, engine: Engine, url: str) -> None:
        self._engine = engine
        self._url = url

    def keep(self, given: Feedback) -> Feedback:
        """The newest opinion of a person on a citation takes the place of an older one."""
        same = (
            FeedbackRow.answer_id == given.answer_id,
            FeedbackRow.fact == given.fact,
            FeedbackRow.citation == given.citation,
            FeedbackRow.by == given.by,
        )
        with told(self._url), Session(self._engine) as session, session.begin():
            if session.get(AnswerRow, given.answer_id) is None:
                raise NotFoundError(f"no answer {given.answer_id!r}: propcite list --answers shows their ids")
            session.execute(delete(FeedbackRow).where(*same))
            row = FeedbackRow(id=secrets.token_hex(6), given_at=now(), better=_json(given.better), **_plain(given))
            session.add(row)
            session.flush()
            return _feedback(row)

    def of(self, answer_id: str) -> list[Feedback]:
        """The opinions on one answer, in the order in which they were given."""
        query = select(FeedbackRow).where(FeedbackRow.answer_id == answer_id)
        with told(self._url), Session(self._engine) as session:
            return [_feedback(row) for row in session.scalars(query.order_by(FeedbackRow.given_at, FeedbackRow.id))]

    def all(self, collection: CollectionInfo | None = None) -> list[Feedback]:
        """All opinions, or those on the answers of one collection, the oldest first."""
        query = select(FeedbackRow).order_by(FeedbackRow.given_at, FeedbackRow.id)
        if collection is not None:
            query = query.join(AnswerRow).join(CollectionRow).where(CollectionRow.id == collection.id)
        with told(self._url), Session(self._engine) as session:
            return [_feedback(row) for row in session.scalars(query)]

    def remove(self, ids: Sequence[str]) -> int:
        """Take opinions back.  -> how many were there"""
        with told(self._url), Session(self._engine) as session, session.begin():
            found = list(session.scalars(select(FeedbackRow).where(FeedbackRow.id.in_(ids))))
            for row in found:
                session.delete(row)
            return len(found)


def _plain(given: Feedback) -> dict[str, str]:
    return {
        "answer_id": given.answer_id,
        "fact": given.fact,
        "citation": given.citation,
        "opinion": given.opinion.value,
        "note": given.note.strip(),
        "by": given.by,
    }


def _json(words: Words | None) -> dict[str, str | int] | None:
    if words is None:
        return None
    return {"passage_id": words.passage_id, "start": words.start, "end": words.end, "quote": words.quote}


def _feedback(row: FeedbackRow) -> Feedback:
    better = Words(**row.better) if row.better else None
    said = (row.answer_id, row.fact, row.citation, Opinion(row.opinion))
    return Feedback(*said, better, row.note, row.by, row.id, aware(row.given_at))
