"""Export formats of answers: the options that choose one, writing, and the list of formats."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import AsJson, Panel, check_file, cli, open_parts, write_file, write_json
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:  # the forms load numpy: only an answer in one of them needs it
    from propcite.attribution.citations import CitedAnswer
    from propcite.attribution.formats import Format, Unit
    from propcite.attribution.formats.cited_documents import Documents


class Counted(StrEnum):
    code_points = "code-points"
    utf_16 = "utf-16"
    bytes = "bytes"


FormName = Annotated[str, typer.Option("--format", "-f", help="Output format: propcite formats lists them.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file.")]
Offsets = Annotated[Counted, typer.Option("--offsets", help="The unit of text offsets in JSON formats.")]


@dataclass(frozen=True, slots=True)
class Export:
    """An export format, its offset unit, and its target: a file or standard output."""

    form: Format
    unit: Unit
    out: Path | None
    as_json: bool = False

    def write(self, answer: CitedAnswer, documents: Documents | None = None) -> None:
        if self.as_json and self.out is None:
            from propcite.attribution.formats.json.native import to_native

            write_json(to_native(answer, self.unit))  # one line, for whatever reads the pipe
            return
        data = self.form.write(answer, self.unit, documents)
        if self.out is None:
            show_data(data)
            return
        write_file(data, self.out)


def requested_export(as_json: bool, name: str, out: Path | None, offsets: Counted) -> Export | None:
    """Return the requested export, or None.  Raise an error here, before any search, if it is impossible."""
    if as_json and name:
        raise PropCiteError("--json is --format json: give one of them")
    if not name and not as_json:
        if out or offsets is not Counted.code_points:
            raise PropCiteError("--out and --offsets need a --format: propcite formats lists them")
        return None
    from propcite.attribution.formats import FORMATS, Unit

    form = FORMATS.get(name or "json")
    if form is None:
        raise PropCiteError(f"there is no format {name!r}: give one of {', '.join(FORMATS)}")
    if offsets is not Counted.code_points and not form.has_units:
        raise PropCiteError(f"{form.name} cannot count places in {offsets.value}: leave --offsets out")
    _check_file(form, out)
    if lacking := form.missing_program():
        raise PropCiteError(f"{form.name} needs {lacking}, which is not here: install it, or take --format html")
    return Export(form, Unit(offsets.value), out, as_json)


def _check_file(form: Format, out: Path | None) -> None:
    if out is None:
        if not form.is_text:
            raise PropCiteError(f"{form.name} is not text: name a file, --out answer{form.suffix}")
    else:
        check_file(out)


def show_data(data: bytes) -> None:
    """Write UTF-8 bytes to standard output; a terminal with another encoding gets decoded text."""
    if "utf" in (sys.stdout.encoding or "").lower() and hasattr(sys.stdout, "buffer"):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        sys.stdout.write(data.decode())


@cli.command(rich_help_panel=Panel.LISTS)
def formats(as_json: AsJson = False) -> None:
    """List the export formats of answers."""
    from propcite.app.terminal import show_table
    from propcite.attribution.formats import FORMATS

    listed = FORMATS.values()
    if as_json:
        write_json(
            [{"name": f.name, "suffix": f.suffix, "media_type": f.media_type, "what": f.description} for f in listed]
        )
    else:
        show_table(("format", "file", "what it is"), [(f.name, f.suffix, f.description) for f in listed])


@cli.command(rich_help_panel=Panel.ASKING)
def record(
    answer_id: Annotated[str, typer.Argument(help="An answer's id: propcite list --answers.", metavar="ANSWER")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file: .html or .pdf.")] = None,
) -> None:
    """Write a kept answer as a page to print: facts, quotes, verdicts, models, versions, who asked and when."""
    from propcite.app.library.answer_records import record_page
    from propcite.attribution.formats.pdf import print_pdf
    from propcite.attribution.formats.text import utf8

    if out:
        check_file(out, ".html", ".pdf")
    parts = open_parts()
    page = record_page(parts, parts.library.answer(answer_id))
    if out is None:
        show_data(utf8(page))
        return
    write_file(print_pdf(page) if out.suffix.lower() == ".pdf" else utf8(page), out)
