"""What could not be read, and why: kept until it is read or dismissed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import delete, select

from propcite.app.library.store.database import aware
from propcite.app.library.store.infos import CollectionInfo, FailureInfo
from propcite.app.library.store.opened import Opened, by_few
from propcite.app.library.store.tables import FailureRow


class Failures(Opened):
    """Every method is one transaction."""

    def failures(self, collection: CollectionInfo) -> list[FailureInfo]:
        """The newest first."""
        query = select(FailureRow).where(FailureRow.collection_id == collection.id)
        with self.session() as session:
            rows = session.scalars(query.order_by(FailureRow.failed_at.desc(), FailureRow.source))
            return [FailureInfo(row.source, row.reason, aware(row.failed_at)) for row in rows]

    def note_failures(self, collection: CollectionInfo, failed: Mapping[str, str], read: Iterable[str] = ()) -> None:
        """Sources with the reasons why they failed now; those that were read are forgotten."""
        with self.session() as session:
            for few in by_few([*failed, *read]):
                here = FailureRow.collection_id == collection.id
                session.execute(delete(FailureRow).where(here, FailureRow.source.in_(few)))
            session.add_all(
                FailureRow(collection_id=collection.id, source=source, reason=reason)
                for source, reason in failed.items()
            )
