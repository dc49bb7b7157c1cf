"""The history of answers: search them page by page, follow conversations, and remove answers."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from propcite.app.errors import NotFoundError
from propcite.app.library.records import AnswerInfo, CollectionInfo, ResultPage, Turn
from propcite.app.library.store.answers import answer_info
from propcite.app.library.store.database import Database, id_batches
from propcite.app.library.store.tables import AnswerRow, CollectionRow

MAX_TURNS = 50  # of a conversation that are read


class History(Database):
    """Every method is one transaction."""

    def find_answers(
        self,
        within: CollectionInfo | Collection[CollectionInfo] | None = None,
        words: str = "",
        *,
        questions: bool | None = None,
        first: int = 0,
        limit: int = 20,
    ) -> ResultPage[AnswerInfo]:
        """Return answers of one, some or all collections with every word in question or text, the newest first.

        With `questions`, only answers to questions (True) or only texts that a user gave to be cited (False).
        """
        conditions = list(_conditions(within, words, questions))
        query = (
            select(AnswerRow, CollectionRow.name)
            .join(CollectionRow, CollectionRow.id == AnswerRow.collection_id)
            .where(*conditions)
            .order_by(AnswerRow.asked_at.desc(), AnswerRow.id)
            .offset(first)
            .limit(limit)
        )
        with self.session() as session:
            total = session.scalar(select(func.count()).select_from(AnswerRow).where(*conditions)) or 0
            return ResultPage([answer_info(row, name) for row, name in session.execute(query)], total)

    def conversation(self, answer_id: str, collection: CollectionInfo | None = None) -> list[Turn]:
        """Return an answer, by its id or a unique start of it, with those it follows; the oldest first.

        A long conversation is cut to its last turns; it begins after an answer that was removed.
        """
        with self.session() as session:
            row: Any = _find_answer(session, answer_id, collection)
            turns = [_turn(row)]
            while row.after and len(turns) < MAX_TURNS and all(turn.id != row.after for turn in turns):
                row = session.execute(_turn_query().where(AnswerRow.id == row.after)).one_or_none()
                if row is None:
                    break
                turns.append(_turn(row))
        return turns[::-1]

    def following(self, answer_id: str) -> list[str]:
        """Return the ids of the answers that follow one, directly or through others."""
        with self.session() as session:
            return _following(session, answer_id)

    def remove_answer(self, answer_id: str) -> int:
        """Remove an answer and those that follow it; return how many were removed."""
        with self.session() as session:
            ids = [answer_id, *_following(session, answer_id)]
            return sum(
                _num_rows(session.execute(delete(AnswerRow).where(AnswerRow.id.in_(batch))))
                for batch in id_batches(ids)
            )


def _conditions(
    within: CollectionInfo | Collection[CollectionInfo] | None, words: str, questions: bool | None
) -> Iterator[ColumnElement[bool]]:
    if isinstance(within, CollectionInfo):
        within = [within]
    if within is not None:
        yield AnswerRow.collection_id.in_([collection.id for collection in within])
    if questions is not None:
        yield AnswerRow.question != "" if questions else AnswerRow.question == ""
        if not questions:
            yield ~AnswerRow.of_draft  # drafts have a list of their own
    for word in dict.fromkeys(words.casefold().split()):
        yield AnswerRow.words.contains(word, autoescape=True)


def _turn_query() -> Any:
    """Return a query of the columns of a turn, without the citations."""
    columns = (AnswerRow.question, AnswerRow.body, AnswerRow.num_facts, AnswerRow.num_cited)
    return select(AnswerRow.id, AnswerRow.after, *columns)


def _find_answer(session: Session, answer_id: str, collection: CollectionInfo | None) -> Any:
    begins = AnswerRow.id.startswith(answer_id, autoescape=True)
    within = [AnswerRow.collection_id == collection.id] if collection else []
    rows = session.execute(_turn_query().where(begins, *within).limit(2)).all()
    if len(rows) == 1 and answer_id:
        return rows[0]
    many = "several answers begin with" if rows else "no answer"
    where = f" in {collection.name!r}" if collection else ""
    raise NotFoundError(f"{many} {answer_id[:40]!r}{where}", ": propcite list --answers shows their ids")


def _turn(row: Any) -> Turn:
    body = json.loads(row.body)
    text, understood = str(body.get("text", "")), str(body.get("understood", ""))
    return Turn(
        row.id,
        row.question,
        understood or row.question,
        text,
        body.get("abstained") is True,
        row.num_facts,
        row.num_cited,
    )


def _following(session: Session, answer_id: str) -> list[str]:
    following: dict[str, None] = {}
    newest = [answer_id]
    while newest:
        ids = [
            id_
            for batch in id_batches(newest)
            for id_ in session.scalars(select(AnswerRow.id).where(AnswerRow.after.in_(batch)))
        ]
        newest = [id_ for id_ in ids if id_ not in following and id_ != answer_id]
        following.update(dict.fromkeys(newest))
    return list(following)


def _num_rows(result: Any) -> int:
    return int(result.rowcount)
