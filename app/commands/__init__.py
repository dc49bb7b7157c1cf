"""The `propcite` commands, one module per subject.  Shared code is here and imports no model."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:  # the parts load models and databases: each command imports what it needs
    from propcite.app.bulk.tasks import Task
    from propcite.app.library.store import Action, CollectionInfo
    from propcite.app.parts import Parts

BELOW, COULD_NOT, INTERRUPTED = 1, 2, 130

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Answer questions over your own documents, with a quoted source for each fact.",
)


class Panel(StrEnum):
    """The groups of commands in `propcite --help`, in this order."""

    ASKING = "Ask and cite"
    DOCUMENTS = "Documents and collections"
    SERVING = "Serve"
    UPKEEP = "Look after the library"
    FILTERS = "Filters: JSON lines in and out"
    LISTS = "Models, prompts and formats"
    MEASURING = "Measure, train and adapt"


Collection = Annotated[str, typer.Option("--collection", "-c", help="The collection (default: PROPCITE_COLLECTION).")]
Documents = Annotated[
    list[str] | None, typer.Option("--document", "-d", help="Only this document, by id, path or file name; repeatable.")
]
Where = Annotated[
    list[str] | None,
    typer.Option("--where", help="Only documents that match, e.g. kind=pdf and date>=2024-05; repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


class Level(StrEnum):
    passage = "passage"
    sentence = "sentence"
    proposition = "proposition"


class SearchWay(StrEnum):
    both = "both"
    vectors = "vectors"
    words = "words"


def open_parts(**arguments: object) -> Parts:
    from propcite.app.parts import Parts
    from propcite.app.settings import load_settings

    return Parts(load_settings(**arguments))


def find_collection(parts: Parts, name: str) -> CollectionInfo:
    return parts.library.collection(name or parts.settings.collection)


def record(parts: Parts, action: Action, collection: str = "", subject: str = "") -> None:
    """Record in the audit log what the user of this account did."""
    from propcite.app.library.store import Via

    parts.audit.record(account_name(), Via.COMMAND, action, collection, subject)


def account_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in a container
        return f"account {os.getuid()}"


def document_names(parts: Parts, collection: CollectionInfo) -> dict[str, str]:
    return {d.id: os.path.basename(d.source) or d.source for d in parts.library.documents(collection)}


def write_json(data: object) -> None:
    ascii_only = "utf" not in (sys.stdout.encoding or "").lower()  # escape characters that the terminal cannot show
    text = json.dumps(data, ensure_ascii=ascii_only, indent=2 if sys.stdout.isatty() else None)
    sys.stdout.write(text + "\n")


def check_file(out: Path, *suffixes: str) -> None:
    """Raise an error, before any work, if --out cannot be this file; with suffixes its name ends with one of them."""
    if suffixes and out.suffix.lower() not in suffixes:
        raise PropCiteError(f"--out {out}: name a file that ends with {' or '.join(suffixes)}")
    if out.is_dir() or not out.parent.is_dir():
        raise PropCiteError(f"{out} cannot be written: --out names a file in a folder that exists")


def write_file(data: bytes, out: Path, option: str = "--out", what: str = "") -> None:
    """Write a file and say so; `what` is what was written, if that is worth saying."""
    try:
        out.write_bytes(data)
    except OSError as error:
        raise PropCiteError(f"{out} cannot be written ({error.strerror}): give another {option}") from error
    note(f"{what} written to {out}".strip())


def note(text: str) -> None:
    from rich.markup import escape

    from propcite.app.terminal import err

    err.print(f"[dim]{escape(text)}[/dim]", soft_wrap=True)


def open_input(file: str) -> TextIO:
    """Open a file or standard input (-) as UTF-8, whatever the locale.

    Callers leave it open, because closing standard input would wait for input.
    """
    try:
        return open(os.dup(0) if file == "-" else file, encoding="utf-8-sig", errors="replace", newline="\n")
    except OSError as error:
        name = "standard input" if file == "-" else file
        raise PropCiteError(f"{name} cannot be read ({error.strerror}): give a file or a pipe") from error


def read_text(file: str) -> str:
    from propcite.app.ingest.readers import read_document

    if file != "-":
        return read_document(Path(file)).text
    text = open_input("-").read()
    if not text.strip():
        raise PropCiteError("standard input is empty: pipe a text in or name a file")
    return text


def answer_lines(task: Task, file: str, out: Path, workers: int) -> None:
    """Answer the JSON lines of a file into another, with progress; the same command goes on after an interrupt."""
    from propcite.app.bulk.running import answer_file
    from propcite.app.terminal_progress import sharing

    check_file(out)
    with sharing() as report:
        finished = answer_file(
            task,
            Path(file),
            out,
            workers,
            str(task.settings.get("cluster", "")),
            lambda done, total: report(f"{task.kind}: {done} of {total}", done / total),
        )
    resumed = f", {finished.earlier} of them before" if finished.earlier else ""
    wrong = f", {finished.bad} of them errors" if finished.bad else ""
    note(f"{finished.lines} lines answered in {out}{resumed}{wrong}")
    if finished.bad:
        raise typer.Exit(BELOW)


def filter_lines(kind: type[Any], work: Callable[[Any], list[dict[str, Any]]], file: str = "-", most: int = 0) -> None:
    """Answer the JSON lines of a file or of standard input as they arrive, at most `most` per batch."""
    from propcite.app.bulk import filters

    def write(line: str) -> None:
        sys.stdout.write(line)
        sys.stdout.flush()

    if filters.run(open_input(file), write, kind, work, most or filters.MAX_LINES):
        raise typer.Exit(BELOW)
