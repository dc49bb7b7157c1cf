"""Select documents of a collection by name, by conditions on their fields, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from propcite.app.errors import AppError, NotFoundError
from propcite.app.library.conditions import EXAMPLE, Condition, parse_condition
from propcite.app.library.conditions.columns import Chosen, DocumentColumns
from propcite.app.library.store import CollectionInfo, Library
from propcite.retrieval.index.allowed import OnlyDocuments
from propcite.retrieval.index.pruning import Mask
from propcite.retrieval.index.segment import Segment

STANDARD_FIELDS = ("added", "author", "date", "id", "kind", "source", "tags", "title")  # valid in any collection


@dataclass(frozen=True, eq=False)
class SelectedPassages:
    """The passages of the documents that were chosen, by their numbers in the columns."""

    columns: DocumentColumns
    chosen: Chosen

    def mask(self, segment: Segment) -> Mask:
        with self.columns.lock:
            numbers = self.columns.numbers_in(segment.ids)
        known = (numbers >= 0) & (numbers < len(self.chosen))
        of_documents = np.zeros(len(numbers), bool)
        of_documents[known] = self.chosen[numbers[known]]
        return of_documents[segment.ids.documents[1]]

    def portable(self) -> OnlyDocuments:
        """Return the same documents by their ids, which shards in other processes know."""
        with self.columns.lock:
            return OnlyDocuments.of(self.columns.ids(self.chosen))


def selected_passages(
    library: Library, collection: CollectionInfo, documents: Sequence[str] = (), where: Sequence[str] = ()
) -> SelectedPassages | None:
    """Return the passages of the selected documents; None if nothing narrows the selection."""
    if not documents and not where:
        return None
    columns = library.columns(collection)
    chosen = _chosen(columns, library, collection, documents, where)
    if not chosen.any():
        options = " ".join([*(f"--document {name}" for name in documents), *(f"--where {text}" for text in where)])
        raise NotFoundError(f"no document of {collection.name!r} matches {options}: give others")
    return SelectedPassages(columns, chosen)


def selected_documents(
    library: Library, collection: CollectionInfo, documents: Sequence[str] = (), where: Sequence[str] = ()
) -> list[str]:
    """Return the ids of the named documents, or of all, that meet every condition, sorted by source."""
    columns = library.columns(collection)
    with columns.lock:
        return columns.ids(_chosen(columns, library, collection, documents, where))


def _chosen(
    columns: DocumentColumns,
    library: Library,
    collection: CollectionInfo,
    documents: Sequence[str],
    where: Sequence[str],
) -> Chosen:
    conditions = [parse_condition(text) for text in where]
    with columns.lock:
        chosen = columns.alive
        if documents:
            named = np.zeros(len(chosen), bool)
            for name in documents:
                number = columns.number(name)
                if number is None:
                    number = columns.number(library.find_document(collection, name).id)
                if number is not None:  # None if it was added after the columns were read
                    named[number] = True
            chosen &= named
        for text, condition in zip(where, conditions, strict=True):
            _check_fields(text, condition, columns)
            chosen &= columns.holds(condition)
    return chosen


def _check_fields(text: str, condition: Condition, columns: DocumentColumns) -> None:
    """Reject a field that no document has: it is most likely misspelt."""
    missing = [
        key
        for key in condition.field_names()
        if not {key, root := key.split(".")[0]} & set(STANDARD_FIELDS)
        and not columns.existing(key)
        and not columns.existing(root)
    ]
    if missing:
        listed = ", ".join(sorted({*STANDARD_FIELDS, *columns.names()}))
        raise AppError(f"--where {text!r}: no document has a field {min(missing)!r}; there is {listed}: {EXAMPLE}")
