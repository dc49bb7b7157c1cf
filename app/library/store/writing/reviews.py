"""Drafts under review: their files, how far their citing has come, and what readers decided on their facts."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from propcite.app.errors import NotFoundError
from propcite.app.library.records import CollectionInfo, ReviewInfo, ReviewState
from propcite.app.library.store.database import Database, aware
from propcite.app.library.store.tables import AnswerRow, CollectionRow, DecisionRow, ReviewRow, now
from propcite.attribution.formats.reviewed.decisions import Choice, Decision

SILENT = timedelta(seconds=30)  # after which the process that cites a draft is taken for gone
MAX_LISTED = 200


class Reviews:
    """The drafts of one database.  Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, collection: CollectionInfo, name: str, content: bytes, total: int, by: str = "") -> ReviewInfo:
        """Keep a draft of `total` characters, which the caller begins to cite."""
        id_ = secrets.token_hex(6)
        with self._database.session() as session:
            if session.get(CollectionRow, collection.id) is None:
                raise NotFoundError(f"the collection {collection.name!r} was deleted meanwhile: choose another")
            about = {"name": name, "content": content, "by": by, "state": ReviewState.CITING.value}
            session.add(ReviewRow(id=id_, collection_id=collection.id, total=total, **about))
        return self.find(id_)

    def find(self, id_: str) -> ReviewInfo:
        """Return a draft by its id, or the start of it if only one matches."""
        begins = ReviewRow.id.startswith(id_, autoescape=True)
        with self._database.session() as session:
            rows = session.execute(_query().where(begins).limit(2)).all() if id_ else []
            if len(rows) != 1:
                many = "several drafts begin with" if rows else "no draft"
                raise NotFoundError(f"{many} {id_[:40]!r}", ": propcite reviews list shows their ids")
            return _info(*rows[0])

    def all(self, collections: Collection[CollectionInfo] | None = None) -> list[ReviewInfo]:
        """Return the drafts of all collections or of some, the newest first."""
        query = _query().order_by(ReviewRow.begun_at.desc(), ReviewRow.id).limit(MAX_LISTED)
        if collections is not None:
            query = query.where(ReviewRow.collection_id.in_([info.id for info in collections]))
        with self._database.session() as session:
            return [_info(*row) for row in session.execute(query)]

    def content(self, id_: str) -> bytes:
        """Return the draft's file."""
        with self._database.session() as session:
            content = session.scalar(select(ReviewRow.content).where(ReviewRow.id == id_))
        if content is None:
            raise _removed(id_)
        return content

    def claim(self, id_: str) -> bool:
        """Return whether the caller is to cite a draft (again): False where a process is citing it."""
        idle = or_(ReviewRow.state != ReviewState.CITING.value, ReviewRow.seen_at < now() - SILENT)
        changes = {"state": ReviewState.CITING.value, "reason": "", "done": 0, "seen_at": now()}
        return self._change(id_, idle, changes)

    def report(self, id_: str, done: int) -> bool:
        """Say how far the citing is; return whether it is to go on."""
        here = ReviewRow.state == ReviewState.CITING.value
        return self._change(id_, here, {"done": done, "seen_at": now()})

    def cancel(self, id_: str) -> bool:
        """Ask whoever cites a draft to stop; return whether it was being cited."""
        here = ReviewRow.state == ReviewState.CITING.value
        return self._change(id_, here, {"state": ReviewState.CANCELLED.value})

    def end(self, id_: str, state: ReviewState, answer_id: str = "", reason: str = "", done: int | None = None) -> None:
        """Keep how the citing ended; new citations replace earlier ones.  A draft that was removed stays away."""
        with self._database.session() as session:
            row = session.get(ReviewRow, id_)
            if row is None:
                _remove_unused(session, answer_id)
                return
            former, row.answer_id = row.answer_id, answer_id or row.answer_id
            row.state, row.reason, row.seen_at = state.value, reason, now()
            row.done = row.done if done is None else done
            session.flush()
            if former != row.answer_id:
                _remove_unused(session, former)

    def remove(self, id_: str) -> None:
        """Remove a draft with the decisions on it, and its citations if no other draft has the same."""
        with self._database.session() as session:
            row = session.get(ReviewRow, id_)
            if row is None:
                raise _removed(id_)
            answer_id = row.answer_id
            session.delete(row)
            session.flush()
            _remove_unused(session, answer_id)

    def decide(self, id_: str, decision: Decision) -> Decision:
        """Keep a decision in place of earlier ones on the same fact; return it with its date."""
        return self.decide_all(id_, [decision])[0]

    def decide_all(self, id_: str, decisions: Sequence[Decision]) -> list[Decision]:
        """Keep decisions on several facts, all or none; return them with their date."""
        with self._database.session() as session:
            if session.get(ReviewRow, id_) is None:
                raise _removed(id_)
            at = now()
            rows = [
                DecisionRow(
                    review_id=id_,
                    fact=one.fact,
                    by=one.by,
                    at=at,
                    choice=one.choice.value,
                    words=one.words.strip(),
                    note=one.note.strip(),
                )
                for one in decisions
            ]
            session.add_all(rows)
            session.flush()
            return list(map(_decision, rows))

    def decisions(self, id_: str) -> Mapping[str, Decision]:
        """Return the decision that counts of each fact, by the fact's id; facts that are open have none."""
        every = {one.fact: one for one in self.all_decisions(id_)}
        return {fact: one for fact, one in every.items() if one.choice is not Choice.OPEN}

    def all_decisions(self, id_: str) -> list[Decision]:
        """Return every decision, the oldest first."""
        query = select(DecisionRow).where(DecisionRow.review_id == id_).order_by(DecisionRow.id)
        with self._database.session() as session:
            return [_decision(row) for row in session.scalars(query)]

    def _change(self, id_: str, where: Any, changes: Mapping[str, Any]) -> bool:
        query = update(ReviewRow).where(ReviewRow.id == id_).values(**changes)
        with self._database.session() as session:
            result: Any = session.execute(query if where is None else query.where(where))
            return bool(result.rowcount)


def _remove_unused(session: Session, answer_id: str) -> None:
    """Remove the citations of drafts if no draft has them any more, and they are no answer that is kept for itself."""
    if answer_id and session.scalar(select(ReviewRow.id).where(ReviewRow.answer_id == answer_id).limit(1)) is None:
        session.execute(delete(AnswerRow).where(AnswerRow.id == answer_id, AnswerRow.of_draft))


def _query() -> Any:
    """Return a query of drafts with their collections' names, facts, and how many of these are decided."""
    newest = select(func.max(DecisionRow.id)).where(DecisionRow.review_id == ReviewRow.id).group_by(DecisionRow.fact)
    decided = (
        select(func.count())
        .where(DecisionRow.id.in_(newest.correlate(ReviewRow)), DecisionRow.choice != Choice.OPEN.value)
        .correlate(ReviewRow)
        .scalar_subquery()
    )
    facts = select(AnswerRow.num_facts).where(AnswerRow.id == ReviewRow.answer_id).scalar_subquery()
    return select(ReviewRow, CollectionRow.name, facts, decided).join(
        CollectionRow, CollectionRow.id == ReviewRow.collection_id
    )


def _info(row: ReviewRow, collection: str, num_facts: int | None, num_decided: int) -> ReviewInfo:
    state, answer_id = ReviewState(row.state), row.answer_id if num_facts is not None else ""
    if state is ReviewState.CITING and aware(row.seen_at) < now() - SILENT:
        state = ReviewState.INTERRUPTED
    if state is ReviewState.DONE and not answer_id:  # somebody removed its citations
        state = ReviewState.INTERRUPTED
    about = (row.name, row.by, state, row.reason, row.done, row.total, answer_id, aware(row.begun_at))
    return ReviewInfo(row.id, collection, *about, num_facts or 0, num_decided)


def _decision(row: DecisionRow) -> Decision:
    return Decision(row.fact, Choice(row.choice), row.words, row.note, row.by, aware(row.at))


def _removed(id_: str) -> NotFoundError:
    return NotFoundError(f"the draft {id_[:40]!r} was removed", ": propcite reviews list shows the others")
