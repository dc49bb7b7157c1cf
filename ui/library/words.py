"""Wording of documents and collections."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from propcite.app.ingest.outcomes import Outcome
from propcite.app.library.store import DocumentInfo, DocumentState, FailureInfo, SortKey
from propcite.attribution.formats.text import is_address
from propcite.attribution.formats.wording import location_of
from propcite.retrieval.fidelity import Fidelity
from propcite.retrieval.index import IndexStats
from propcite.retrieval.text import Passage, Span
from propcite.ui.words import counted, file_name

OUTCOMES = {
    "added": "added",
    "changed": "replaced",
    "moved": "moved to its new name",
    "unchanged": "already there",
    "duplicate": "not added again",
    "removed": "removed",
    "failed": "not added",
}
STATES = {
    DocumentState.CITED: "Cited by an answer",
    DocumentState.CHANGED: "Changed since it was added",
    DocumentState.DESCRIBED: "With fields added by people",
    DocumentState.PARTLY: "Not read as a whole",
}
ORDERS = {SortKey.TITLE: "Title", SortKey.SOURCE: "File", SortKey.ADDED: "Added", SortKey.PASSAGES: "Passages"}
FIELDS = ("title", "author", "date", "tags")  # with an input of their own
TAKEN = ("id", "source", "added", "kind")


def about(outcome: Outcome) -> str:
    """Say what was read of a file, what its text lacks, and which documents are nearly the same."""
    alike = [f"{one.share:.0%} the same as {file_name(one.source)}" for one in outcome.alike]
    passages = counted(outcome.num_passages, "passage")
    return ", ".join(filter(None, [passages, outcome.reason, *alike, outcome.fidelity.line]))


def row(info: DocumentInfo) -> dict[str, Any]:
    """Return a document as a row of the table."""
    return {
        "Title": info.title or file_name(info.source),
        "File": file_name(info.source),
        "Kind": str(info.details.get("kind", "")),
        "Passages": info.num_passages,
        "Lacks": lacks(info.fidelity),
        "Added": info.added_at,
    }


def lacks(fidelity: Fidelity) -> str:
    """Return what the text of a document lacks in as few words as a column has room for.

    >>> lacks(Fidelity(pages=24, pages_without_text=3, lost_characters=12)), lacks(Fidelity(pages=9, ocr_pages=1))
    ('3 pages, 12 characters', '1 page recognised')
    """
    pages, recognised = fidelity.pages_without_text + fidelity.pages_left_out, fidelity.ocr_pages
    losses = ((pages, "page"), (fidelity.lost_characters, "character"), (fidelity.dropped_blocks, "block"))
    few = [counted(number, what) for number, what in losses if number]
    return ", ".join([*few, *([f"{counted(recognised, 'page')} recognised"] if recognised else [])])


def can_be_tried(failure: FailureInfo) -> bool:
    """Return whether a failed source can be read again: an upload is gone with its page.

    >>> from datetime import datetime
    >>> [can_be_tried(FailureInfo(s, "", datetime.now())) for s in ("/srv/a.pdf", "https://a.example/x", "a.pdf")]
    [True, True, False]
    """
    return failure.source.startswith("/") or failure.source[1:3] == ":\\" or is_address(failure.source)


def passage_line(passage: Passage) -> str:
    """Say where a passage is and how long it is."""
    place = location_of(passage, [Span(0, len(passage.text))])
    sentences = counted(sum(not s.is_heading for s in passage.sentences), "sentence")
    return " · ".join(filter(None, [place, sentences]))


def size(number: float) -> str:
    """
    >>> size(900), size(20_480), size(3_500_000)
    ('1 kB', '20 kB', '3.3 MB')
    """
    return f"{max(1, round(number / 1024)):,} kB" if number < 2**20 else f"{number / 2**20:,.1f} MB"


def document_line(info: DocumentInfo) -> str:
    kind = str(info.details.get("kind", ""))
    read = f"{counted(info.num_passages, 'passage')}, {info.num_characters:,} characters"
    return " · ".join(
        filter(None, [file_name(info.source), kind, read, f"added {info.added_at.astimezone():%d %b %Y}"])
    )


def as_text(value: Any) -> str:
    """Return a field's value as one line.

    >>> as_text(["a", "b"]), as_text({"volume": 3}), as_text(None)
    ('a, b', '{"volume": 3}', '')
    """
    if value is None:
        return ""
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def changed_fields(before: Mapping[str, Any], boxes: Mapping[str, str], more: str) -> list[str]:
    """Return KEY=VALUE for each input that changed, and each line of `more`.

    >>> changed_fields({"title": "A", "author": "Zoe"}, {"title": "A", "author": "", "date": "2024"}, "pages=12\\n")
    ['author=', 'date=2024', 'pages=12']
    """
    changed = [f"{key}={text.strip()}" for key, text in boxes.items() if text.strip() != as_text(before.get(key))]
    return [*changed, *(line.strip() for line in more.splitlines() if line.strip())]


def index_rows(stats: IndexStats) -> dict[str, str]:
    """Return the figures of `propcite index stats`."""
    return {
        "Tokens": f"{stats.tokens:,}",
        "Index": f"{size(stats.bytes)}, {stats.bytes_per_token:.0f} bytes per token",
        "Regime": stats.regime,
        "Segments": f"{stats.segments:,}" + (f", {stats.deleted:,} passages deleted in them" if stats.deleted else ""),
        "Encoder": stats.encoder,
    }
