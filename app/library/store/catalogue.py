"""Documents as somebody looks for them: by words, kind and state, in any order, page by page; and who cites one."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, Text, any_, bindparam, cast, exists, func, literal, or_, select
from sqlalchemy.orm import Session

from propcite.app.library.store.answers import answer_info
from propcite.app.library.store.documents import counted_documents, document_info
from propcite.app.library.store.infos import (
    AnswerInfo,
    CollectionInfo,
    DocumentInfo,
    DocumentState,
    Order,
    Part,
    Wanted,
)
from propcite.app.library.store.opened import Opened
from propcite.app.library.store.tables import AnswerRow, CitationRow, CollectionRow, DocumentRow, PassageRow, VersionRow

TITLE: ColumnElement[str] = func.coalesce(DocumentRow.described["title"].as_string(), DocumentRow.title)
KIND: ColumnElement[str] = func.coalesce(
    DocumentRow.described["kind"].as_string(), DocumentRow.details["kind"].as_string(), ""
)
STATES: dict[DocumentState, ColumnElement[bool]] = {
    DocumentState.CITED: exists().where(CitationRow.document_id == DocumentRow.id),
    DocumentState.CHANGED: exists().where(
        VersionRow.collection_id == DocumentRow.collection_id, VersionRow.source == DocumentRow.source
    ),
    DocumentState.DESCRIBED: cast(DocumentRow.described, Text) != "{}",
    DocumentState.PARTLY: DocumentRow.details["pages_without_text"].as_string().is_not(None),
}
NUM_PASSAGES = select(func.count(PassageRow.id)).where(PassageRow.document_id == DocumentRow.id).scalar_subquery()
ORDERS: dict[Order, Any] = {
    Order.TITLE: func.lower(TITLE),
    Order.SOURCE: DocumentRow.source,
    Order.ADDED: DocumentRow.added_at,
    Order.PASSAGES: NUM_PASSAGES,
}


class Catalogue(Opened):
    """Every method is one transaction."""

    def find_documents(self, collection: CollectionInfo, wanted: Wanted) -> Part[DocumentInfo]:
        """One page of those that are wanted, and how many there are in all."""
        with self.session() as session:
            conditions = [DocumentRow.collection_id == collection.id, *_conditions(session, wanted)]
            order = ORDERS[wanted.order]
            query = select(DocumentRow.id).where(*conditions)
            query = query.order_by(order.desc() if wanted.descending else order.asc(), DocumentRow.source)
            ids = list(session.scalars(query.offset(wanted.first).limit(wanted.limit)))
            total = session.scalar(select(func.count()).select_from(DocumentRow).where(*conditions)) or 0
            found = session.execute(counted_documents().where(DocumentRow.id.in_(ids)))
            by_id = {info.id: info for info in map(document_info, found)}
            return Part([by_id[i] for i in ids], total)

    def kinds(self, collection: CollectionInfo) -> dict[str, int]:
        """The kinds of a collection's documents, and how many there are of each; the most first."""
        count = func.count()
        query = select(KIND, count).where(DocumentRow.collection_id == collection.id).group_by(KIND)
        with self.session() as session:
            return {kind: n for kind, n in session.execute(query.order_by(count.desc(), KIND)) if kind}

    def answers_that_cite(self, document_id: str, first: int = 0, limit: int = 20) -> Part[AnswerInfo]:
        """The newest first."""
        cites = exists().where(CitationRow.answer_id == AnswerRow.id, CitationRow.document_id == document_id)
        query = select(AnswerRow, CollectionRow.name).join(CollectionRow, CollectionRow.id == AnswerRow.collection_id)
        page = query.where(cites).order_by(AnswerRow.asked_at.desc(), AnswerRow.id).offset(first).limit(limit)
        with self.session() as session:
            total = session.scalar(select(func.count()).select_from(AnswerRow).where(cites)) or 0
            return Part([answer_info(row, name) for row, name in session.execute(page)], total)


def _conditions(session: Session, wanted: Wanted) -> Iterator[ColumnElement[bool]]:
    for word in dict.fromkeys(wanted.words.split()):
        # SQLite compares only the letters of ASCII alike, large or small: the others are asked in every form.
        forms = dict.fromkeys((word, word.lower(), word.upper(), word.capitalize()))
        told = [text for form in forms for text in (_holds(TITLE, form), _holds(DocumentRow.source, form))]
        yield or_(*told)
    if wanted.kind:
        yield KIND.in_([wanted.kind])
    if wanted.state is not None:
        yield STATES[wanted.state]
    if wanted.ids is not None:
        yield _among(session, wanted.ids)


def _holds(text: Any, word: str) -> ColumnElement[bool]:
    found: ColumnElement[bool] = text.icontains(word, autoescape=True)
    return found


def _among(session: Session, ids: Collection[str]) -> ColumnElement[bool]:
    """One value for any number of ids: neither database takes a hundred thousand of them one by one."""
    if session.get_bind().dialect.name == "postgresql":
        return DocumentRow.id == any_(literal(list(ids), ARRAY(Text)))
    several = func.json_each(bindparam(None, json.dumps(list(ids)), Text)).table_valued("value")
    return DocumentRow.id.in_(select(several.c.value))
