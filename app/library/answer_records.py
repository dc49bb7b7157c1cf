"""The record of a kept answer: who asked for it and when, with which program, and which files its sources were."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

from propcite.app.ingest.names import file_name
from propcite.app.library.store import Action, Library
from propcite.app.library.store.tables import now
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.cited_documents import with_documents
from propcite.attribution.formats.html import to_html
from propcite.attribution.formats.record.values import AnswerRecord, Asking, SourceVersion
from propcite.attribution.formats.text import is_address

ASKED = (Action.ASKED.value, Action.CITED.value)
MAX_LISTED = 100  # of the newest entries of the audit log on one answer


def record_page(parts: Parts, answer: CitedAnswer, may_see: Callable[[str], bool] = lambda _: True) -> str:
    """Return the report of a kept answer with its record, as one HTML file that prints."""
    documents = parts.library.cited_documents(answer)
    return to_html(with_documents(answer, documents), answer_record(parts, answer, may_see))


def answer_record(parts: Parts, answer: CitedAnswer, may_see: Callable[[str], bool] = lambda _: True) -> AnswerRecord:
    """Return what is known of a kept answer; `may_see` says whose name the reader may see.

    The audit log forgets entries after its days; then nobody is named.
    """
    library = parts.library
    entries = parts.audit.find([library.collection(answer.collection)], subject=answer.id, limit=MAX_LISTED).items
    asked = [entry for entry in entries if entry.action in ASKED]
    seen = [Asking(entry.at, entry.who, entry.via) for entry in asked if may_see(entry.who)]
    return AnswerRecord(
        kept_at=library.kept_at(answer.id),
        made_by=f"PropCite {version('propcite')}",
        askings=tuple(reversed(seen)),
        num_hidden=len(asked) - len(seen),
        sources=_sources(library, answer),
        written_at=now(),
    )


def _sources(library: Library, answer: CitedAnswer) -> tuple[SourceVersion, ...]:
    """Return the files that the cited documents were read from, also of former documents."""
    documents, collection = library.cited_documents(answer), library.collection(answer.collection)
    files = library.source_files(documents, collection)
    read_at = {info.id: info.added_at for info in library.documents(collection, list(files))}
    if files.keys() - read_at.keys():
        read_at |= {info.document_id: info.added_at for info in library.versions(collection)} | read_at
    return tuple(
        SourceVersion(
            document.title,
            document.source if is_address(document.source) else file_name(document.source),
            files[id_].sha256 if id_ in files else "",
            read_at.get(id_),
            document.status,
        )
        for id_, document in documents.items()
    )
