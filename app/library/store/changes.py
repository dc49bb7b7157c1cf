"""What changes of a collection's documents leave behind, in the same transaction: a number, and the set of passages.

Every process keeps the fields of documents in memory and reads only those with a later number.  The set of passages is
named by its size and the sum of its ids' hashes, as an index names its own, so that comparing both reads no id.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from propcite.app.library.store.database import id_batches
from propcite.app.library.store.tables import CollectionRow, DocumentRow, PassageRow
from propcite.retrieval.index.passage_ids import PassageIds


@dataclass(frozen=True, slots=True)
class PassageSet:
    """The number of some passages, and the sum of the hashes of their ids."""

    count: int = 0
    digest: int = 0

    @classmethod
    def of(cls, ids: Sequence[str]) -> PassageSet:
        return cls(len(ids), PassageIds.of(ids).total)

    @classmethod
    def parse(cls, text: str) -> PassageSet:
        return cls(*map(int, text.split(":")))

    def __add__(self, other: PassageSet) -> PassageSet:
        return PassageSet(self.count + other.count, (self.digest + other.digest) % 2**64)

    def __sub__(self, other: PassageSet) -> PassageSet:
        return PassageSet(self.count - other.count, (self.digest - other.digest) % 2**64)

    def __str__(self) -> str:
        return f"{self.count}:{self.digest}"


def begin_change(session: Session, collection_id: int) -> int:
    """Return the number of a change.  Other changes of the collection wait until this transaction ends."""
    number = CollectionRow.changes + 1
    session.execute(update(CollectionRow).where(CollectionRow.id == collection_id).values(changes=number))
    return session.scalar(select(CollectionRow.changes).where(CollectionRow.id == collection_id)) or 0


def note_passages(session: Session, collection_id: int, added: PassageSet, removed: PassageSet) -> None:
    """Note which passages a change added and removed; nothing is noted where the set is not known yet."""
    of_collection = CollectionRow.id == collection_id
    if text := session.scalar(select(CollectionRow.passage_set).where(of_collection)):
        changed = str(PassageSet.parse(text) + added - removed)
        session.execute(update(CollectionRow).where(of_collection).values(passage_set=changed))


def forget_passage_set(session: Session, collection_id: int) -> None:
    session.execute(update(CollectionRow).where(CollectionRow.id == collection_id).values(passage_set=None))


def passages_of_documents(session: Session, document_ids: Iterable[str]) -> PassageSet:
    return PassageSet.of(
        [
            id_
            for batch in id_batches(document_ids)
            for id_ in session.scalars(select(PassageRow.id).where(PassageRow.document_id.in_(batch)))
        ]
    )


def passage_set(session: Session, collection_id: int) -> PassageSet:
    """Return the set of a collection's passages; all ids are read only where the set is not known yet."""
    of_collection = CollectionRow.id == collection_id
    if text := session.scalar(select(CollectionRow.passage_set).where(of_collection)):
        return PassageSet.parse(text)
    # Any update keeps other writers out until the set is noted.
    session.execute(update(CollectionRow).where(of_collection).values(history=CollectionRow.history))
    ids = select(PassageRow.id).join(DocumentRow).where(DocumentRow.collection_id == collection_id)
    known = PassageSet.of(list(session.scalars(ids)))
    session.execute(update(CollectionRow).where(of_collection).values(passage_set=str(known)))
    return known
