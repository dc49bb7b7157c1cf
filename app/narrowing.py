"""Which documents a question looks at: some by name, or all about which something holds."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from app.errors import AppError, NotFoundError
from app.store import CollectionInfo, DocumentInfo, Library


def passages_within(
    library: Library, collection: CollectionInfo, documents: Sequence[str] = (), where: Sequence[str] = ()
) -> frozenset[str] | None:
    """Ids of the passages of any of the named documents of which every `key=value` holds; None for no narrowing.

    A value may hold * and ?; keys are title, source and whatever the documents tell of themselves.
    """
    if not documents and not where:
        return None
    known = library.documents(collection)
    named = {library.find_document(collection, name).id for name in documents}
    conditions = [_condition(text, known) for text in where]
    chosen = [
        d for d in known if (not named or d.id in named) and all(_holds(d, key, pattern) for key, pattern in conditions)
    ]
    if not chosen:
        raise NotFoundError(f"no document of {collection.name!r} is left by {_told(documents, where)}: give others")
    return frozenset(i for d in chosen for i in library.passage_ids(collection, d.id))


def _about(document: DocumentInfo) -> dict[str, str]:
    return {**document.details, "title": document.title, "source": document.source}


def _condition(text: str, documents: Sequence[DocumentInfo]) -> tuple[str, str]:
    key, equals, pattern = text.partition("=")
    keys = sorted({key for d in documents for key in _about(d)})
    if not equals or key not in keys:
        raise AppError(f"--where {text!r} cannot be read: give KEY=VALUE, the key one of {', '.join(keys)}")
    return key, pattern.casefold()


def _holds(document: DocumentInfo, key: str, pattern: str) -> bool:
    return fnmatchcase(_about(document).get(key, "").casefold(), pattern)


def _told(documents: Sequence[str], where: Sequence[str]) -> str:
    return " ".join([*(f"--document {d}" for d in documents), *(f"--where {w}" for w in where)])
