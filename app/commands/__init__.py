"""The commands of propcite, a module a subject; what they share stands here and imports no model."""

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
    from propcite.app.library.store import CollectionInfo
    from propcite.app.parts import Parts

BELOW, COULD_NOT, INTERRUPTED = 1, 2, 130

cli = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Answers over your own documents in which every fact shows the words that support it.",
)

Collection = Annotated[str, typer.Option("--collection", "-c", help="The collection; PROPCITE_COLLECTION otherwise.")]
Documents = Annotated[
    list[str] | None, typer.Option("--document", "-d", help="Only this document, by id, path or file name; repeatable.")
]
Where = Annotated[
    list[str] | None,
    typer.Option("--where", help="Only documents of which this holds: kind=pdf and date>=2024-05; repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


class Level(StrEnum):
    passage = "passage"
    sentence = "sentence"
    proposition = "proposition"


def open_parts(**arguments: object) -> Parts:
    from propcite.app.parts import Parts
    from propcite.app.settings import load_settings

    return Parts(load_settings(**arguments))


def find_collection(parts: Parts, name: str) -> CollectionInfo:
    return parts.library.collection(name or parts.settings.collection)


def document_names(parts: Parts, collection: CollectionInfo) -> dict[str, str]:
    return {d.id: os.path.basename(d.source) or d.source for d in parts.library.documents(collection)}


def write_json(data: object) -> None:
    few_letters = "utf" not in (sys.stdout.encoding or "").lower()  # then JSON escapes what the terminal cannot show
    text = json.dumps(data, ensure_ascii=few_letters, indent=2 if sys.stdout.isatty() else None)
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    from rich.markup import escape

    from propcite.app.terminal import err

    err.print(f"[dim]{escape(text)}[/dim]", soft_wrap=True)


def opened(file: str) -> TextIO:
    """A file or standard input, as UTF-8 whatever the locale says; left open, since closing it would wait for input."""
    try:
        return open(os.dup(0) if file == "-" else file, encoding="utf-8-sig", errors="replace", newline="\n")
    except OSError as error:
        name = "standard input" if file == "-" else file
        raise PropCiteError(f"{name} cannot be read ({error.strerror}): give a file or a pipe") from error


def read_text(file: str) -> str:
    from propcite.app.ingest.readers import read_document

    if file != "-":
        return read_document(Path(file)).text
    text = opened("-").read()
    if not text.strip():
        raise PropCiteError("there is nothing to read on standard input")
    return text


def filter_lines(kind: type[Any], work: Callable[[Any], list[dict[str, Any]]], file: str = "-", most: int = 0) -> None:
    """Answer every line of a file or of standard input as it comes, at `most` so many together."""
    from propcite.app.commands import filters

    def write(line: str) -> None:
        sys.stdout.write(line)
        sys.stdout.flush()

    if filters.run(opened(file), write, kind, work, most or filters.MOST_LINES):
        raise typer.Exit(BELOW)
