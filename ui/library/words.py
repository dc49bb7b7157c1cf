"""Wording of documents and collections."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from propcite.app.ingest.names import file_name
from propcite.app.ingest.outcomes import Outcome
from propcite.app.ingest.uploads import Job
from propcite.app.library.store import CollectionInfo, DocumentInfo, DocumentState, FailureInfo, SortKey
from propcite.attribution.formats.text import is_address
from propcite.attribution.formats.wording import location_of
from propcite.retrieval.fidelity import Fidelity
from propcite.retrieval.index import IndexStats
from propcite.retrieval.text import Passage, Span
from propcite.ui.markdown import plain
from propcite.ui.words import counted

NAMED = 3  # files in the line on a job
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


def outcome_line(outcome: Outcome, escape: Callable[[str], str]) -> str:
    """Return what became of one file, with its name in bold."""
    what = outcome.reason if outcome.state == "failed" else about(outcome)
    return f"**{escape(file_name(outcome.source))}** {OUTCOMES[outcome.state]}: {escape(what)}"


def job_line(job: Job, outcomes: Sequence[Outcome]) -> str:
    """Say how a job ended, in one line; of a file that was sent twice, what became of it first.

    >>> job = Job("1", "town", ("a.txt", "b.txt"))
    >>> outcomes = [Outcome("a.txt", "added", num_passages=2)]
    >>> job_line(job, outcomes)
    'a.txt added: 2 passages'
    >>> job_line(job, [*outcomes, Outcome("b.txt", "failed", reason="it is empty"), Outcome("c.txt", "added")])
    '2 added, 1 not added: a.txt, b.txt, c.txt'
    >>> job_line(job, [Outcome("a.txt", "unchanged"), Outcome("b.txt", "changed", num_passages=2)])
    '1 replaced, 1 already there: b.txt, a.txt'
    """
    if len({outcome.source for outcome in outcomes}) == 1 and not job.reason:
        newest = min(outcomes, key=lambda outcome: list(OUTCOMES).index(outcome.state))
        return outcome_line(newest, str).replace("**", "")
    counts = Counter(OUTCOMES[outcome.state] for outcome in outcomes)
    counted_ = ", ".join(f"{counts[what]:,} {what}" for what in OUTCOMES.values() if counts[what])
    # What changed says more, and files are read in no order.
    named = sorted((outcome.state == "unchanged", file_name(outcome.source)) for outcome in outcomes)
    names = [name for _, name in named]
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    listed = f"{counted_}: {', '.join(names[:NAMED])}{more}" if names else ""
    return ". ".join(filter(None, [f"{job.reason[:1].upper()}{job.reason[1:]}", listed]))


def jobs_line(ended: Sequence[tuple[Job, Sequence[Outcome]]]) -> str:
    """Say how jobs ended, in one line.

    >>> one, other = Job("1", "town", ("a.txt",)), Job("2", "town", ("b.txt",))
    >>> jobs_line([(one, [Outcome("a.txt", "added")]), (other, [Outcome("b.txt", "failed", reason="it is empty")])])
    '1 added, 1 not added: a.txt, b.txt'
    """
    if len(ended) == 1:
        return job_line(*ended[0])
    reasons = ". ".join(dict.fromkeys(filter(None, (job.reason for job, _ in ended))))
    return job_line(replace(ended[-1][0], reason=reasons), [outcome for _, outcomes in ended for outcome in outcomes])


def holds_line(collection: CollectionInfo) -> str:
    """Say what a collection holds, as Markdown."""
    holds = counted(collection.num_documents, "document"), counted(collection.num_passages, "passage")
    return f"**{plain(collection.name)}** holds {', '.join(holds)}."


def arriving_line(num_here: int, num_left: int) -> str:
    """Say that answers do not know yet what is still being read.

    >>> arriving_line(14, 8)
    '14 documents are here. 8 more are being read: answers given now do not know them.'
    """
    are = "is" if num_here == 1 else "are"
    more, them = ("1 more is", "it") if num_left == 1 else (f"{num_left:,} more are", "them")
    return f"{counted(num_here, 'document')} {are} here. {more} being read: answers given now do not know {them}."


def row(info: DocumentInfo) -> dict[str, Any]:
    """Return a document as a row of the table."""
    return {
        "Title": info.title or file_name(info.source),
        "File": file_name(info.source),
        "Kind": str(info.details.get("kind", "")),
        "Passages": info.num_passages,
        "Not read": lacks(info.fidelity),
        "Added": info.added_at,
    }


def lacks(fidelity: Fidelity) -> str:
    """Return what the text of a document lacks in as few words as a column has room for.

    >>> lacks(Fidelity(pages=24, pages_without_text=3, lost_characters=12)), lacks(Fidelity(pages=9, ocr_pages=1))
    ('3 pages, 12 characters', '1 page recognised')
    """
    pages = fidelity.pages_without_text + fidelity.pages_left_out
    recognised = fidelity.ocr_pages + fidelity.layer_pages + fidelity.unchecked_layers
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
        "Searched by": stats.regime,
        "Parts of the index": f"{stats.segments:,}"
        + (f", {stats.deleted:,} passages deleted in them" if stats.deleted else ""),
        **({"Shards": f"{stats.shards:,}"} if stats.shards > 1 else {}),
        "Model that searches": stats.encoder,
    }
