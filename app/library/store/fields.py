"""The fields of a collection's documents, kept in memory: after a change only the rows that it wrote are read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

from sqlalchemy import Text, cast, select
from sqlalchemy.orm import Session

from propcite.app.library.conditions.columns import DocumentColumns
from propcite.app.library.records import CollectionInfo
from propcite.app.library.store.database import IDS_PER_QUERY, Database
from propcite.app.library.store.details import TAGS, merge_details, merge_title
from propcite.app.library.store.tables import CollectionRow, DocumentRow, VersionRow

_OPENING = Lock()


class DocumentFields(Database):
    """Every method is one transaction."""

    def document_fields(self, collection: CollectionInfo) -> dict[str, Mapping[str, Any]]:
        """Return the fields of each document by its id, for conditions.  Passages are not read."""
        with self.session() as session:
            rows = session.execute(_rows(collection.id)).all()
        return {row[0]: _fields(row) for row in sorted(rows, key=lambda row: row[1])}

    def columns(self, collection: CollectionInfo) -> DocumentColumns:
        """Return the fields of all documents as they are now; they stay in memory for the next call."""
        of_collection = CollectionRow.id == collection.id
        with self.session() as session:
            found = session.execute(select(CollectionRow.history, CollectionRow.changes).where(of_collection)).first()
            history, changes = found or ("", 0)
            with _OPENING:
                columns = self._columns.get(collection.id)
                if not columns or columns.history != history or changes < columns.changes:
                    columns = self._columns[collection.id] = DocumentColumns(history)
            with columns.lock:
                _refresh(columns, session, collection.id, changes)
        return columns

    @cached_property
    def _columns(self) -> dict[int, DocumentColumns]:
        return {}


def _refresh(columns: DocumentColumns, session: Session, collection_id: int, changes: int) -> None:
    """Read what changed since the last time."""
    after = columns.changes
    if changes <= after:  # another thread has read more
        return
    if after >= 0:  # a document that was removed and added again is among the rows too
        ended = select(VersionRow.document_id).where(VersionRow.collection_id == collection_id)
        for id_ in session.scalars(ended.where(VersionRow.changed > after)).all():
            columns.remove(id_)
    changed = _rows(collection_id).where(DocumentRow.changed > after)
    for row in session.execute(changed.execution_options(yield_per=IDS_PER_QUERY)):
        columns.put(row[0], _fields(row))
    columns.changes = changes


def _rows(collection_id: int) -> Any:
    # As text: parsing a hundred thousand dates that no condition reads is slow.
    texts = (cast(c, Text) for c in (DocumentRow.added_at, DocumentRow.details, DocumentRow.described))
    query = select(DocumentRow.id, DocumentRow.source, DocumentRow.title, *texts)
    return query.where(DocumentRow.collection_id == collection_id)


def _fields(row: Sequence[Any]) -> dict[str, Any]:
    id_, source, title, added, details, described = row
    fields: dict[str, Any] = json.loads(details)
    by_users = json.loads(described) if described != "{}" else {}
    if by_users or TAGS in fields:
        fields, title = merge_details(fields, by_users), merge_title(title, by_users)
    fields.update(id=id_, source=source, title=title, added=added)
    return fields
