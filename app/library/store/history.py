"""The answers of a library as somebody looks for them: by words, page by page, in their conversations, and removed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from propcite.app.errors import NotFoundError
from propcite.app.library.store.answers import answer_info
from propcite.app.library.store.infos import AnswerInfo, CollectionInfo, Part, Turn
from propcite.app.library.store.opened import Opened, by_few
from propcite.app.library.store.tables import AnswerRow, CollectionRow

MOST_TURNS = 50  # of a conversation that are looked at


class History(Opened):
    """Every method is one transaction."""

    def find_answers(
        self,
        collection: CollectionInfo | None = None,
        words: str = "",
        *,
        asked: bool | None = None,
        first: int = 0,
        limit: int = 20,
    ) -> Part[AnswerInfo]:
        """The newest first: those that hold every word in question or answer, to questions or to given texts alone."""
        conditions = list(_conditions(collection, words, asked))
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
            return Part([answer_info(row, name) for row, name in session.execute(query)], total)

    def conversation(self, answer_id: str, collection: CollectionInfo | None = None) -> list[Turn]:
        """An answer, by its id or a beginning of it, with those that it follows; the oldest first.

        The last of a long one.  Where one before was removed, it begins behind that.
        """
        with self.session() as session:
            row: Any = _named(session, answer_id, collection)
            found = [_turn(row)]
            while row.after and len(found) < MOST_TURNS and all(turn.id != row.after for turn in found):
                row = session.execute(_told().where(AnswerRow.id == row.after)).one_or_none()
                if row is None:
                    break
                found.append(_turn(row))
        return found[::-1]

    def following(self, answer_id: str) -> list[str]:
        """Ids of the answers that follow one, directly or over others."""
        with self.session() as session:
            return _following(session, answer_id)

    def remove_answer(self, answer_id: str) -> int:
        """Out of the history, with those that follow it.  -> how many"""
        with self.session() as session:
            wanted = [answer_id, *_following(session, answer_id)]
            return sum(_rows(session.execute(delete(AnswerRow).where(AnswerRow.id.in_(few)))) for few in by_few(wanted))


def _conditions(collection: CollectionInfo | None, words: str, asked: bool | None) -> Iterator[ColumnElement[bool]]:
    if collection is not None:
        yield AnswerRow.collection_id == collection.id
    if asked is not None:
        yield AnswerRow.question != "" if asked else AnswerRow.question == ""
    for word in dict.fromkeys(words.casefold().split()):
        yield AnswerRow.words.contains(word, autoescape=True)


def _told() -> Any:
    """What a turn is read from: not the words that an answer cites."""
    told = (AnswerRow.question, AnswerRow.body, AnswerRow.num_facts, AnswerRow.num_cited)
    return select(AnswerRow.id, AnswerRow.after, *told)


def _named(session: Session, answer_id: str, collection: CollectionInfo | None) -> Any:
    begins = AnswerRow.id.startswith(answer_id, autoescape=True)
    within = [AnswerRow.collection_id == collection.id] if collection else []
    rows = session.execute(_told().where(begins, *within).limit(2)).all()
    if len(rows) != 1 or not answer_id:
        many, of = (
            "several answers begin with" if rows else "no answer",
            f" in {collection.name!r}" if collection else "",
        )
        raise NotFoundError(f"{many} {answer_id[:40]!r}{of}: propcite list --answers shows their ids")
    return rows[0]


def _turn(row: Any) -> Turn:
    told = json.loads(row.body)
    text, understood = str(told.get("text", "")), str(told.get("understood", ""))
    return Turn(
        row.id,
        row.question,
        understood or row.question,
        text,
        told.get("abstained") is True,
        row.num_facts,
        row.num_cited,
    )


def _following(session: Session, answer_id: str) -> list[str]:
    found: dict[str, None] = {}
    wanted = [answer_id]
    while wanted:
        rows = [
            id_
            for few in by_few(wanted)
            for id_ in session.scalars(select(AnswerRow.id).where(AnswerRow.after.in_(few)))
        ]
        wanted = [id_ for id_ in rows if id_ not in found and id_ != answer_id]
        found.update(dict.fromkeys(wanted))
    return list(found)


def _rows(result: Any) -> int:
    return int(result.rowcount)
