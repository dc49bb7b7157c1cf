"""Kept answers out of the library, many at once, and back into one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import BELOW, AsJson, Collection, Panel, cli, find_collection, note, open_parts, write_json
from propcite.app.commands.exports import Counted, Offsets, show_data
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.parts import Parts
    from propcite.attribution.citations import CitedAnswer
    from propcite.attribution.formats import Format, Unit
    from propcite.attribution.formats.cited_documents import CitedDocument

ONE_FILE = ("jsonl", "bibtex")  # forms in which many answers are one file


@cli.command("export", rich_help_panel=Panel.DOCUMENTS)
def export(
    answers: Annotated[list[str] | None, typer.Argument(help="Ids of answers; all without one.")] = None,
    form: Annotated[str, typer.Option("--format", "-f", help="jsonl and bibtex: one file of all.")] = "jsonl",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="This file; other formats: this folder.")] = None,
    offsets: Offsets = Counted.code_points,
    collection: Annotated[str, typer.Option("--collection", "-c", help="Only answers of this collection.")] = "",
) -> None:
    """Write stored answers with their quotes and sources: JSON lines that `import` reads, BibTeX, or a file each."""
    from propcite.attribution.formats import FORMATS, Unit

    chosen = FORMATS.get(form)
    if chosen is None:
        raise PropCiteError(f"there is no format {form!r}: give one of {', '.join(FORMATS)}")
    if lacking := chosen.missing_program():
        raise PropCiteError(f"{form} needs {lacking}, which is not here: install it, or take --format html")
    if offsets is not Counted.code_points and not chosen.has_units:
        raise PropCiteError(f"{form} cannot count places in {offsets.value}: leave --offsets out")
    parts = open_parts()
    ids = _ids(parts, answers or (), collection)
    if form not in ONE_FILE:
        _each(parts, ids, chosen, Unit(offsets.value), out)
    else:
        _together(_one_file(parts, ids, chosen, Unit(offsets.value)), out)
    note(f"{len(ids)} {'answer' if len(ids) == 1 else 'answers'} written" + (f" to {out}" if out else ""))


def _ids(parts: Parts, answers: Sequence[str], collection: str) -> list[str]:
    if answers:
        return [parts.library.answer(one).id for one in answers]
    chosen = find_collection(parts, collection) if collection else None
    return [info.id for info in reversed(parts.library.answers(chosen, limit=None))]


def _one_file(parts: Parts, ids: Iterable[str], form: Format, unit: Unit) -> Iterator[bytes]:
    if form.name == "bibtex":
        from propcite.attribution.formats.bibtex import bibtex_entries
        from propcite.attribution.formats.text import utf8

        cited = {i: d for one in ids for i, d in _cited(parts, parts.library.answer(one)).items()}
        yield utf8(bibtex_entries(cited.values()))
        return
    for one in ids:
        yield form.write(parts.library.answer(one), unit)


def _cited(parts: Parts, answer: CitedAnswer) -> dict[str, CitedDocument]:
    cited = {passage.document_id for passage in answer.passages}
    return {i: document for i, document in parts.library.cited_documents(answer).items() if i in cited}


def _together(pieces: Iterable[bytes], out: Path | None) -> None:
    if out is None:
        for piece in pieces:
            show_data(piece)
        return
    from propcite.app.library.backup.archive import replace_file

    try:
        with replace_file(out) as file:
            file.writelines(pieces)
    except OSError as error:
        raise PropCiteError(f"{out} cannot be written ({error.strerror}): give another --out") from error


def _each(parts: Parts, ids: Iterable[str], form: Format, unit: Unit, folder: Path | None) -> None:
    if folder is None or folder.is_file():
        raise PropCiteError(f"{form.name} is a file an answer: name a folder, --out answers")
    try:
        folder.mkdir(exist_ok=True)
        for one in ids:
            answer = parts.library.answer(one)
            data = form.write(answer, unit, parts.library.cited_documents(answer))
            (folder / f"{one}{form.suffix}").write_bytes(data)
    except OSError as error:
        raise PropCiteError(f"{folder} cannot be written ({error.strerror}): give another --out") from error


@cli.command("import", rich_help_panel=Panel.DOCUMENTS)
def import_(
    file: Annotated[str, typer.Argument(help="JSON of an answer, or JSON lines; - reads standard input.")],
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Import exported answers unchanged.  Existing answers stay; unreadable ones are reported.

    Each goes to the collection that it was cited over, which is made if it is not there.
    """
    from propcite.app.library.answer_import import import_answers, read_answers

    parts = open_parts()
    outcomes = []
    for outcome in import_answers(parts.library, read_answers(_text(file)), collection or parts.settings.collection):
        outcomes.append(outcome)
        if as_json:
            write_json(asdict(outcome))
        elif outcome.reason:
            note(f"{file}, {outcome.place}: {outcome.reason}")
    new, bad = sum(o.state == "kept" for o in outcomes), sum(o.state == "failed" for o in outcomes)
    gone = {document for o in outcomes for document in o.missing}
    if not as_json:
        there = sum(o.state == "already here" for o in outcomes)
        note(f"{new} answers kept, {there} already here, {bad} not read")
        if gone:
            note(f"{len(gone)} documents that they cite are not here: their quotes are in the answers")
    if bad:
        raise typer.Exit(BELOW)


def _text(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PropCiteError(f"{file} cannot be read ({error}): give a file that propcite export has written") from error
