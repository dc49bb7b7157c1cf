"""Files that documents were read from: where each was, its digest, whether it is still needed, and failed reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, exists, select

from propcite.app.errors import NotFoundError
from propcite.app.library.records import CollectionInfo, FailureInfo
from propcite.app.library.store.database import Database, aware, id_batches
from propcite.app.library.store.tables import CitationRow, CollectionRow, DocumentRow, FailureRow, VersionRow


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The file that a document was read from."""

    document_id: str
    title: str
    source: str
    sha256: str
    kind: str


class Sources(Database):
    """Every method is one transaction."""

    def source_file(self, document_id: str) -> SourceFile:
        """Return the file of a current or former document."""
        files = self.source_files([document_id])
        if not files:
            raise NotFoundError(
                f"there never was a document {document_id[:40]!r}", ": propcite list -c NAME shows the documents"
            )
        return files[document_id]

    def source_files(
        self, document_ids: Iterable[str], collection: CollectionInfo | None = None
    ) -> dict[str, SourceFile]:
        """Return the files of current and former documents by id, without unknown ones and other collections'."""
        ids = list(document_ids)
        with self.session() as session:
            return {
                row[0]: _source_file(row)
                for table in (VersionRow, DocumentRow)  # a current document overrides a former one
                for batch in id_batches(ids)
                for row in session.execute(_query(table, collection).where(_document_id(table).in_(batch)))
            }

    def collections_with(self, document_id: str) -> set[str]:
        """Return the names of the collections that have a document, or had it; empty if there never was one."""
        with self.session() as session:
            return {
                name
                for table in (VersionRow, DocumentRow)
                for name in session.scalars(
                    select(CollectionRow.name)
                    .join(table, table.collection_id == CollectionRow.id)
                    .where(_document_id(table) == document_id)
                )
            }

    def digests_in_use(self, digests: Iterable[str]) -> set[str]:
        """Return the digests that a document has, or a former document that a stored answer cites."""
        cited = exists().where(CitationRow.document_id == VersionRow.document_id)
        with self.session() as session:
            return {
                sha256
                for batch in id_batches(digests)
                for query in (select(DocumentRow.sha256), select(VersionRow.sha256).where(cited))
                for sha256 in session.scalars(query.where(query.selected_columns[0].in_(batch)))
            }

    def failures(self, collection: CollectionInfo) -> list[FailureInfo]:
        """Return the sources that could not be read, newest failures first."""
        query = select(FailureRow).where(FailureRow.collection_id == collection.id)
        with self.session() as session:
            rows = session.scalars(query.order_by(FailureRow.failed_at.desc(), FailureRow.source))
            return [FailureInfo(row.source, row.reason, aware(row.failed_at)) for row in rows]

    def note_failures(self, collection: CollectionInfo, failed: Mapping[str, str], read: Iterable[str] = ()) -> None:
        """Store sources that failed with their reasons, and drop the failures of sources that were read."""
        with self.session() as session:
            for batch in id_batches([*failed, *read]):
                here = FailureRow.collection_id == collection.id
                session.execute(delete(FailureRow).where(here, FailureRow.source.in_(batch)))
            session.add_all(
                FailureRow(collection_id=collection.id, source=source, reason=reason)
                for source, reason in failed.items()
            )


def _document_id(table: Any) -> Any:
    return table.id if table is DocumentRow else table.document_id


def _query(table: Any, collection: CollectionInfo | None) -> Any:
    query = select(_document_id(table), table.title, table.source, table.sha256, table.details)
    return query.where(table.collection_id == collection.id) if collection else query


def _source_file(row: Any) -> SourceFile:
    id_, title, source, sha256, details = row
    return SourceFile(id_, title, source, sha256, str(details.get("kind", "")))
