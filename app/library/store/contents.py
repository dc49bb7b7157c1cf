"""The files behind documents: where each was, what was in it, and whether anybody still needs that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import exists, select

from propcite.app.errors import NotFoundError
from propcite.app.library.store.infos import CollectionInfo
from propcite.app.library.store.opened import Opened, by_few
from propcite.app.library.store.tables import CitationRow, DocumentRow, VersionRow


@dataclass(frozen=True, slots=True)
class Content:
    """What a document was read from."""

    document_id: str
    title: str
    source: str
    sha256: str
    kind: str


class Contents(Opened):
    """Every method is one transaction."""

    def content(self, document_id: str) -> Content:
        """Of a document that is here, or was here."""
        found = self.contents([document_id])
        if not found:
            raise NotFoundError(f"no document {document_id[:40]!r} was ever here: propcite list -c NAME shows what is")
        return found[document_id]

    def contents(self, document_ids: Iterable[str], collection: CollectionInfo | None = None) -> dict[str, Content]:
        """Of those that are known, or known in this collection."""
        ids = list(document_ids)
        with self.session() as session:
            return {
                row[0]: _content(row)
                for table in (VersionRow, DocumentRow)  # what is here counts
                for few in by_few(ids)
                for row in session.execute(_asked(table, collection).where(_id(table).in_(few)))
            }

    def contents_in_use(self, contents: Iterable[str]) -> set[str]:
        """Those of these digests that a document has, or one that was here and that a kept answer cites."""
        cited = exists().where(CitationRow.document_id == VersionRow.document_id)
        with self.session() as session:
            return {
                sha256
                for few in by_few(contents)
                for query in (select(DocumentRow.sha256), select(VersionRow.sha256).where(cited))
                for sha256 in session.scalars(query.where(query.selected_columns[0].in_(few)))
            }


def _id(table: Any) -> Any:
    return table.id if table is DocumentRow else table.document_id


def _asked(table: Any, collection: CollectionInfo | None) -> Any:
    query = select(_id(table), table.title, table.source, table.sha256, table.details)
    return query.where(table.collection_id == collection.id) if collection else query


def _content(row: Any) -> Content:
    id_, title, source, sha256, details = row
    return Content(id_, title, source, sha256, str(details.get("kind", "")))
