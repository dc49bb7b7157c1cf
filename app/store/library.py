"""The library: collections, their documents and passages, and the answers given over them."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.errors import NotFoundError, StoreError
from app.store.database import aware, open_database, told
from app.store.rows import passage_of, passage_row
from app.store.tables import AnswerRow, CitationRow, CollectionRow, DocumentRow, PassageRow, now
from attribution.citations import CitedAnswer
from attribution.wire import from_json, to_json
from retrieval.text import Document, Page, Passage, Span

FEW = 500  # ids in one query: every database takes so many
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    id: int
    name: str
    num_documents: int
    num_passages: int
    created_at: datetime
    alignment: str = ""  # the collection's own, by its name


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    id: str
    title: str
    source: str
    sha256: str
    num_passages: int
    num_characters: int
    details: Mapping[str, str]
    added_at: datetime


@dataclass(frozen=True, slots=True)
class AnswerInfo:
    id: str
    question: str
    collection: str
    asked_at: datetime


def document_id(collection: str, source: str, sha256: str) -> str:
    """The same content from the same place is the same document, in every database and after every rebuild."""
    return hashlib.sha256(f"{collection}\x1f{source}\x1f{sha256}".encode()).hexdigest()[:12]


class Library:
    """What is kept.  Every method is one transaction."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = open_database(url)

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with told(self.url), Session(self.engine) as session, session.begin():
            yield session

    def collections(self) -> list[CollectionInfo]:
        with self._session() as session:
            counts = (
                select(
                    DocumentRow.collection_id,
                    func.count(DocumentRow.id.distinct()).label("documents"),
                    func.count(PassageRow.id).label("passages"),
                )
                .outerjoin(PassageRow, PassageRow.document_id == DocumentRow.id)
                .group_by(DocumentRow.collection_id)
                .subquery()
            )
            rows = session.execute(
                select(CollectionRow, counts.c.documents, counts.c.passages)
                .outerjoin(counts, counts.c.collection_id == CollectionRow.id)
                .order_by(CollectionRow.name)
            )
            return [
                CollectionInfo(c.id, c.name, documents or 0, passages or 0, aware(c.created_at), c.alignment)
                for c, documents, passages in rows
            ]

    def collection(self, name: str) -> CollectionInfo:
        known = self.collections()
        for collection in known:
            if collection.name == name:
                return collection
        there = f"there is {', '.join(c.name for c in known)}" if known else "there is none yet"
        raise NotFoundError(
            f"no collection {name!r} ({there}): propcite ingest PATH --collection {shlex.quote(name)} makes it"
        )

    def collection_id(self, name: str) -> int | None:
        """The number of a collection, without counting what it holds."""
        with self._session() as session:
            return session.scalar(select(CollectionRow.id).where(CollectionRow.name == name))

    def create_collection(self, name: str) -> CollectionInfo:
        """The collection of this name, made if it is not there."""
        if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
            raise StoreError(
                f"a collection cannot be named {name[:40]!r}: give it 1 to {LONGEST_NAME} visible characters"
            )
        made_by_another = suppress(IntegrityError)
        with told(self.url), made_by_another, Session(self.engine) as session, session.begin():
            if session.scalar(select(CollectionRow).where(CollectionRow.name == name)) is None:
                session.add(CollectionRow(name=name))
        return self.collection(name)

    def alignment(self, collection: CollectionInfo) -> str:
        """The collection's own as it is now; empty where it has none."""
        with self._session() as session:
            query = select(CollectionRow.alignment).where(CollectionRow.id == collection.id)
            return session.scalar(query) or ""

    def keep_alignment(self, collection: CollectionInfo, alignment: str) -> None:
        """Give the collection one of its own, by its name; the empty name takes it away."""
        with self._session() as session:
            session.execute(update(CollectionRow).where(CollectionRow.id == collection.id).values(alignment=alignment))

    def remove_collection(self, collection: CollectionInfo) -> None:
        with self._session() as session:
            session.execute(delete(CollectionRow).where(CollectionRow.id == collection.id))

    def documents(self, collection: CollectionInfo) -> list[DocumentInfo]:
        with self._session() as session:
            rows = session.execute(
                select(DocumentRow, func.count(PassageRow.id), func.sum(func.length(PassageRow.text)))
                .outerjoin(PassageRow, PassageRow.document_id == DocumentRow.id)
                .where(DocumentRow.collection_id == collection.id)
                .group_by(DocumentRow.id)
                .order_by(DocumentRow.source)
            )
            return [
                DocumentInfo(d.id, d.title, d.source, d.sha256, n, size or 0, d.details, aware(d.added_at))
                for d, n, size in rows
            ]

    def sources(self, document_ids: Iterable[str]) -> dict[str, str]:
        """Where these documents came from; those that are gone are left out."""
        wanted = list(set(document_ids))
        with self._session() as session:
            return {
                id_: source
                for first in range(0, len(wanted), FEW)
                for id_, source in session.execute(
                    select(DocumentRow.id, DocumentRow.source).where(DocumentRow.id.in_(wanted[first : first + FEW]))
                )
            }

    def find_document(self, collection: CollectionInfo, name: str) -> DocumentInfo:
        """By id, by source, or by a file name or id beginning that only one document has."""
        documents = self.documents(collection)
        found = [d for d in documents if name in (d.id, d.source)] or [
            d for d in documents if d.source.replace("\\", "/").endswith(f"/{name}") or d.id.startswith(name)
        ]
        if len(found) == 1:
            return found[0]
        if found:
            raise NotFoundError(
                f"{name!r} could be {', '.join(d.source for d in found[:4])}: give the id or whole path"
            )
        raise NotFoundError(f"no document {name!r} in {collection.name!r}: propcite list shows what is there")

    def document(self, document_id: str) -> Document:
        """A document with its text joined from its passages."""
        with self._session() as session:
            row = session.get(DocumentRow, document_id)
            if row is None:
                raise NotFoundError(
                    f"document {document_id} is no longer in the library: its quotes are in the answers"
                )
            return Document(
                id=row.id,
                text="".join(p.text for p in row.passages),
                title=row.title,
                source=row.source,
                pages=tuple(Page(n, Span(start, end)) for n, start, end in row.pages),
                metadata=row.details,
            )

    def put_document(
        self, collection: CollectionInfo, document: Document, sha256: str, passages: Sequence[Passage]
    ) -> None:
        """Keep a document in place of what this source held before."""
        with self._session() as session:
            session.execute(
                delete(DocumentRow).where(
                    DocumentRow.collection_id == collection.id, DocumentRow.source == document.source
                )
            )
            session.add(
                DocumentRow(
                    id=document.id,
                    collection_id=collection.id,
                    source=document.source,
                    title=document.title,
                    sha256=sha256,
                    headings=[[h.level, h.span.start, h.span.end] for h in document.headings],
                    pages=[[p.number, p.span.start, p.span.end] for p in document.pages],
                    details=dict(document.metadata),
                    passages=[passage_row(p) for p in passages],
                )
            )

    def remove_document(self, document_id: str) -> None:
        with self._session() as session:
            session.execute(delete(DocumentRow).where(DocumentRow.id == document_id))

    def passages(self, ids: Iterable[str]) -> dict[str, Passage]:
        """Passages by id; unknown ids are left out."""
        wanted = list(ids)
        with self._session() as session:
            rows = [
                row
                for first in range(0, len(wanted), FEW)
                for row in session.scalars(select(PassageRow).where(PassageRow.id.in_(wanted[first : first + FEW])))
            ]
            return {row.id: passage_of(row) for row in rows}

    def passage_ids(self, collection: CollectionInfo, document: str = "") -> list[str]:
        """Ids of all passages of a collection, or of one document of it, in order."""
        with self._session() as session:
            query = (
                select(PassageRow.id)
                .join(DocumentRow, DocumentRow.id == PassageRow.document_id)
                .where(DocumentRow.collection_id == collection.id)
                .order_by(DocumentRow.source, PassageRow.start)
            )
            return list(session.scalars(query.where(DocumentRow.id == document) if document else query))

    def is_empty(self, collection: CollectionInfo) -> bool:
        with self._session() as session:
            query = select(DocumentRow.id).where(DocumentRow.collection_id == collection.id).limit(1)
            return session.scalar(query) is None

    def keep_answer(self, collection: CollectionInfo, answer: CitedAnswer) -> None:
        """The same answer with the same citations is kept once, dated anew; what people said of it stays."""
        kept_by_another = suppress(IntegrityError)
        with told(self.url), kept_by_another, Session(self.engine) as session, session.begin():
            _put_answer(session, collection, answer)
            return
        with self._session() as session:  # it is there now
            _put_answer(session, collection, answer)

    def answer(self, answer_id: str) -> CitedAnswer:
        """An answer as it was given, by its id or a beginning of it that only one answer has."""
        with self._session() as session:
            rows = list(
                session.scalars(select(AnswerRow).where(AnswerRow.id.startswith(answer_id, autoescape=True)).limit(2))
            )
            if len(rows) != 1 or not answer_id:
                many = "several answers begin with" if rows else "no answer"
                raise NotFoundError(f"{many} {answer_id!r}: propcite list --answers shows their ids")
            return from_json(rows[0].body)

    def answers(self, collection: CollectionInfo | None = None, limit: int = 100) -> list[AnswerInfo]:
        """The newest answers first."""
        with self._session() as session:
            query = (
                select(AnswerRow.id, AnswerRow.question, CollectionRow.name, AnswerRow.asked_at)
                .join(CollectionRow, CollectionRow.id == AnswerRow.collection_id)
                .order_by(AnswerRow.asked_at.desc())
                .limit(limit)
            )
            if collection is not None:
                query = query.where(AnswerRow.collection_id == collection.id)
            return [AnswerInfo(i, question, name, aware(at)) for i, question, name, at in session.execute(query)]

    def answers_citing(self, document_id: str) -> int:
        with self._session() as session:
            query = select(func.count(CitationRow.answer_id.distinct())).where(CitationRow.document_id == document_id)
            return session.scalar(query) or 0


def _put_answer(session: Session, collection: CollectionInfo, answer: CitedAnswer) -> None:
    """Who keeps the same answer at the same time waits for the first."""
    row = session.get(AnswerRow, answer.id, with_for_update=True) or AnswerRow(id=answer.id, question=answer.question)
    session.execute(delete(CitationRow).where(CitationRow.answer_id == answer.id))
    row.collection_id, row.body, row.asked_at = collection.id, to_json(answer), now()
    row.citations = [
        CitationRow(
            document_id=c.passage.document_id,
            passage_id=c.passage.id,
            start=c.span.start,
            end=c.span.end,
            quote=c.quote,
            score=c.score,
        )
        for c in answer.citations
    ]
    session.add(row)
    session.flush()
