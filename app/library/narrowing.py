"""Which documents are looked at: some by name, or all about which something holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from propcite.app.errors import AppError, NotFoundError
from propcite.app.library.conditions import EXAMPLE, Condition, condition_of
from propcite.app.library.store import CollectionInfo, Library

ALWAYS = ("added", "author", "date", "id", "kind", "source", "tags", "title")  # may be asked of any collection


def passages_within(
    library: Library, collection: CollectionInfo, documents: Sequence[str] = (), where: Sequence[str] = ()
) -> frozenset[str] | None:
    """Ids of the passages of any of the named documents of which every condition holds; None for no narrowing."""
    if not documents and not where:
        return None
    chosen = documents_within(library, collection, documents, where)
    if not chosen:
        raise NotFoundError(f"no document of {collection.name!r} is left by {_told(documents, where)}: give others")
    return frozenset(library.passages_of(chosen))


def documents_within(
    library: Library, collection: CollectionInfo, documents: Sequence[str] = (), where: Sequence[str] = ()
) -> list[str]:
    """Ids of the named documents, or of all, of which every condition holds, by their sources."""
    conditions = [condition_of(text) for text in where]
    named = {library.find_document(collection, name).id for name in documents}
    known = library.about_documents(collection)
    for text, condition in zip(where, conditions, strict=True):
        _check_keys(text, condition, known)
    return [
        i
        for i, about in known.items()
        if (not named or i in named) and all(condition.holds(about) for condition in conditions)
    ]


def _check_keys(text: str, condition: Condition, known: Mapping[str, Mapping[str, Any]]) -> None:
    """A field that no document has is most likely misspelt."""
    there = set(ALWAYS).union(*known.values())
    missing = {key for key in condition.asked() if key not in there and key.split(".")[0] not in there}
    if missing:
        listed = ", ".join(sorted(there))
        raise AppError(f"--where {text!r}: no document has a field {min(missing)!r}; there is {listed}: {EXAMPLE}")


def _told(documents: Sequence[str], where: Sequence[str]) -> str:
    return " ".join([*(f"--document {d}" for d in documents), *(f"--where {w}" for w in where)])
