"""Lists of documents filtered by words, kind and state, in any order, page by page; and the answers that cite one."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from datetime import timedelta
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, Text, and_, any_, bindparam, cast, exists, func, literal, or_, select
from sqlalchemy.orm import Session

from propcite.app.library.records import (
    AnswerInfo,
    CollectionInfo,
    DocumentInfo,
    DocumentQuery,
    DocumentState,
    ResultPage,
    SortKey,
)
from propcite.app.library.store.answers import answer_info
from propcite.app.library.store.database import Database, aware
from propcite.app.library.store.documents import document_info, documents_with_counts
from propcite.app.library.store.tables import AnswerRow, CitationRow, CollectionRow, DocumentRow, PassageRow, VersionRow
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.fidelity import LOSSES

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
    DocumentState.PARTLY: or_(*(DocumentRow.details[name].as_string().not_in(["", "0"]) for name in LOSSES)),
}
NUM_PASSAGES = select(func.count(PassageRow.id)).where(PassageRow.document_id == DocumentRow.id).scalar_subquery()
SORT_COLUMNS: dict[SortKey, Any] = {
    SortKey.TITLE: func.lower(TITLE),
    SortKey.SOURCE: DocumentRow.source,
    SortKey.ADDED: DocumentRow.added_at,
    SortKey.PASSAGES: NUM_PASSAGES,
}


class Catalogue(Database):
    """Every method is one transaction."""

    def num_documents_after(self, answer: CitedAnswer) -> int:
        """Return how many documents its collection has that came or changed after an answer was begun."""
        with self.session() as session:
            row = session.get(AnswerRow, answer.id)
            if row is None:
                return 0
            begun = aware(row.asked_at) - timedelta(milliseconds=sum(answer.timings_ms.values()))
            later = [DocumentRow.collection_id == row.collection_id, DocumentRow.added_at > begun]
            return session.scalar(select(func.count()).select_from(DocumentRow).where(*later)) or 0

    def find_documents(self, collection: CollectionInfo, query: DocumentQuery) -> ResultPage[DocumentInfo]:
        """Return one page of the matching documents, and their number."""
        with self.session() as session:
            conditions = [DocumentRow.collection_id == collection.id, *_conditions(session, query)]
            column = SORT_COLUMNS[query.order]
            matches = select(DocumentRow.id).where(*conditions)
            matches = matches.order_by(column.desc() if query.descending else column.asc(), DocumentRow.source)
            ids = list(session.scalars(matches.offset(query.first).limit(query.limit)))
            total = session.scalar(select(func.count()).select_from(DocumentRow).where(*conditions)) or 0
            rows = session.execute(documents_with_counts().where(DocumentRow.id.in_(ids)))
            by_id = {info.id: info for info in map(document_info, rows)}
            return ResultPage([by_id[i] for i in ids], total)

    def kinds(self, collection: CollectionInfo) -> dict[str, int]:
        """Count the documents of each kind, the most frequent kind first."""
        count = func.count()
        query = select(KIND, count).where(DocumentRow.collection_id == collection.id).group_by(KIND)
        with self.session() as session:
            return {kind: n for kind, n in session.execute(query.order_by(count.desc(), KIND)) if kind}

    def find_answers_citing(
        self, collection: CollectionInfo, document_id: str, first: int = 0, limit: int = 20
    ) -> ResultPage[AnswerInfo]:
        """Return the stored answers over a collection that cite a document, the newest first."""
        cites = and_(
            exists().where(CitationRow.answer_id == AnswerRow.id, CitationRow.document_id == document_id),
            AnswerRow.collection_id == collection.id,
        )
        query = select(AnswerRow, CollectionRow.name).join(CollectionRow, CollectionRow.id == AnswerRow.collection_id)
        page = query.where(cites).order_by(AnswerRow.asked_at.desc(), AnswerRow.id).offset(first).limit(limit)
        with self.session() as session:
            total = session.scalar(select(func.count()).select_from(AnswerRow).where(cites)) or 0
            return ResultPage([answer_info(row, name) for row, name in session.execute(page)], total)


def _conditions(session: Session, query: DocumentQuery) -> Iterator[ColumnElement[bool]]:
    for word in dict.fromkeys(query.words.split()):
        # SQLite ignores the case of ASCII letters only, so words with other letters are searched in every form.
        forms = dict.fromkeys((word, word.lower(), word.upper(), word.capitalize()))
        yield or_(*(_contains(column, form) for form in forms for column in (TITLE, DocumentRow.source)))
    if query.kind:
        yield KIND.in_([query.kind])
    if query.state is not None:
        yield STATES[query.state]
    if query.ids is not None:
        yield _id_in(session, query.ids)


def _contains(column: Any, word: str) -> ColumnElement[bool]:
    condition: ColumnElement[bool] = column.icontains(word, autoescape=True)
    return condition


def _id_in(session: Session, ids: Collection[str]) -> ColumnElement[bool]:
    """Pass any number of ids as one parameter: neither database accepts a hundred thousand parameters."""
    if session.get_bind().dialect.name == "postgresql":
        return DocumentRow.id == any_(literal(list(ids), ARRAY(Text)))
    values = func.json_each(bindparam(None, json.dumps(list(ids)), Text)).table_valued("value")
    return DocumentRow.id.in_(select(values.c.value))
