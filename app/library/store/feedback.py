"""Feedback on citations, stored with the answer: one opinion of each person on each citation."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sqlalchemy import delete, select

from propcite.app.errors import NotFoundError
from propcite.app.library.records import CollectionInfo, Feedback, Opinion, QuotedSpan
from propcite.app.library.store.database import Database, aware
from propcite.app.library.store.tables import AnswerRow, CollectionRow, FeedbackRow, now


class FeedbackStore:
    """The feedback in one database.  Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, feedback: Feedback) -> Feedback:
        """Store feedback in place of the same person's earlier feedback on the citation; return it with id and date."""
        same = (
            FeedbackRow.answer_id == feedback.answer_id,
            FeedbackRow.fact == feedback.fact,
            FeedbackRow.citation == feedback.citation,
            FeedbackRow.by == feedback.by,
        )
        with self._database.session() as session:
            if session.get(AnswerRow, feedback.answer_id) is None:
                raise NotFoundError(f"no answer {feedback.answer_id!r}", ": propcite list --answers shows their ids")
            session.execute(delete(FeedbackRow).where(*same))
            row = FeedbackRow(
                id=secrets.token_hex(6), given_at=now(), better=_span_json(feedback.better), **_plain(feedback)
            )
            session.add(row)
            session.flush()
            return _feedback(row)

    def of(self, answer_id: str) -> list[Feedback]:
        """Return the feedback on one answer, the oldest first."""
        query = select(FeedbackRow).where(FeedbackRow.answer_id == answer_id)
        with self._database.session() as session:
            return [_feedback(row) for row in session.scalars(query.order_by(FeedbackRow.given_at, FeedbackRow.id))]

    def all(self, collection: CollectionInfo | None = None) -> list[Feedback]:
        """Return all feedback, or that on the answers of one collection, the oldest first."""
        query = select(FeedbackRow).order_by(FeedbackRow.given_at, FeedbackRow.id)
        if collection is not None:
            query = query.join(AnswerRow).join(CollectionRow).where(CollectionRow.id == collection.id)
        with self._database.session() as session:
            return [_feedback(row) for row in session.scalars(query)]

    def remove(self, ids: Sequence[str]) -> int:
        """Remove feedback by id; return how many were removed."""
        with self._database.session() as session:
            rows = list(session.scalars(select(FeedbackRow).where(FeedbackRow.id.in_(ids))))
            for row in rows:
                session.delete(row)
            return len(rows)


def _plain(feedback: Feedback) -> dict[str, str]:
    return {
        "answer_id": feedback.answer_id,
        "fact": feedback.fact,
        "citation": feedback.citation,
        "opinion": feedback.opinion.value,
        "note": feedback.note.strip(),
        "by": feedback.by,
    }


def _span_json(span: QuotedSpan | None) -> dict[str, str | int] | None:
    if span is None:
        return None
    return {"passage_id": span.passage_id, "start": span.start, "end": span.end, "quote": span.quote}


def _feedback(row: FeedbackRow) -> Feedback:
    better = QuotedSpan(**row.better) if row.better else None
    target = (row.answer_id, row.fact, row.citation, Opinion(row.opinion))
    return Feedback(*target, better, row.note, row.by, row.id, aware(row.given_at))
