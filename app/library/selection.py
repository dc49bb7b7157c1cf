"""Select documents of a collection by name, by conditions on their fields, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from propcite.app.errors import AppError, NotFoundError
from propcite.app.library.conditions import EXAMPLE, Condition, parse_condition
from propcite.app.library.store import CollectionInfo, Library

STANDARD_FIELDS = ("added", "author", "date", "id", "kind", "source", "tags", "title")  # valid in any collection


def selected_passages(
    library: Library, collection: CollectionInfo, documents: Sequence[str] = (), where: Sequence[str] = ()
) -> frozenset[str] | None:
    """Return the ids of the passages of the selected documents; None if nothing narrows the selection."""
    if not documents and not where:
        return None
    ids = selected_documents(library, collection, documents, where)
    if not ids:
        options = " ".join([*(f"--document {name}" for name in documents), *(f"--where {text}" for text in where)])
        raise NotFoundError(f"no document of {collection.name!r} matches {options}: give others")
    return frozenset(library.passages_of(ids))


def selected_documents(
    library: Library, collection: CollectionInfo, documents: Sequence[str] = (), where: Sequence[str] = ()
) -> list[str]:
    """Return the ids of the named documents, or of all, that meet every condition, sorted by source."""
    conditions = [parse_condition(text) for text in where]
    named = {library.find_document(collection, name).id for name in documents}
    fields_by_id = library.document_fields(collection)
    for text, condition in zip(where, conditions, strict=True):
        _check_fields(text, condition, fields_by_id)
    return [
        i
        for i, fields in fields_by_id.items()
        if (not named or i in named) and all(condition.holds(fields) for condition in conditions)
    ]


def _check_fields(text: str, condition: Condition, fields_by_id: Mapping[str, Mapping[str, Any]]) -> None:
    """Reject a field that no document has: it is most likely misspelt."""
    existing = set(STANDARD_FIELDS).union(*fields_by_id.values())
    missing = {key for key in condition.field_names() if key not in existing and key.split(".")[0] not in existing}
    if missing:
        listed = ", ".join(sorted(existing))
        raise AppError(f"--where {text!r}: no document has a field {min(missing)!r}; there is {listed}: {EXAMPLE}")
