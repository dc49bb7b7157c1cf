"""The command that compares two documents, or two versions of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import (
    BELOW,
    AsJson,
    Collection,
    Panel,
    check_file,
    cli,
    document_names,
    find_collection,
    open_parts,
    record,
    write_file,
    write_json,
)
from propcite.app.errors import AppError

if TYPE_CHECKING:
    from propcite.app.library.store import CollectionInfo
    from propcite.app.parts import Parts

USAGE = "name two documents: propcite compare A B, or --left A --right B"
Side = list[str] | None


@cli.command(rich_help_panel=Panel.ASKING)
def compare(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[A B | QUESTION]", help="Two documents; or the question, with --left and --right."),
    ] = None,
    question: Annotated[str, typer.Option("--question", "-q", help="Ask both sides this.")] = "",
    left: Annotated[Side, typer.Option("--left", help="A document by id, path or file name; repeatable.")] = None,
    right: Annotated[Side, typer.Option("--right", help="A document of the other side; repeatable.")] = None,
    collection: Collection = "",
    as_json: AsJson = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write a table to this file: .md or .html.")] = None,
) -> None:
    """Compare two documents, or two versions of one: what both say, where they differ, what only one says.

    With a question, both answer it; exit code 1 if neither has an answer.  Without one, they are compared whole,
    sentence by sentence.
    """
    from propcite.app.comparing import check_sides

    one, other, asked = _given(words or [], question, left or [], right or [])
    if out:
        check_file(out, ".md", ".html")
    parts = open_parts()
    chosen = find_collection(parts, collection)
    check_sides(parts.library, chosen, one, other)
    show = _show_answers if asked else _show_texts
    if not show(parts, chosen, (one, other), asked, as_json, out):
        raise typer.Exit(BELOW)


def _given(words: list[str], question: str, left: list[str], right: list[str]) -> tuple[list[str], list[str], str]:
    """Return the documents of both sides and the question; empty without one."""
    if not (left or right) and len(words) == 2:
        return words[:1], words[1:], question.strip()
    if not (left and right) or len(words) > 1 or (words and question):
        raise AppError(USAGE)
    return left, right, (words[0] if words else question).strip()


def _show_answers(
    parts: Parts,
    collection: CollectionInfo,
    sides: tuple[list[str], list[str]],
    question: str,
    as_json: bool,
    out: Path | None,
) -> bool:
    """Ask both sides, and return whether one of them has an answer."""
    from propcite.app.comparing import compare as compare_sides
    from propcite.app.comparing.terminal import show_comparison
    from propcite.app.library.store import Action
    from propcite.app.terminal_progress import sharing
    from propcite.attribution.formats.comparison import to_html, to_markdown
    from propcite.attribution.formats.json.comparisons import comparison_dict
    from propcite.attribution.formats.text import utf8

    left, right = (parts.pipeline(collection, side) for side in sides)
    with sharing() as report:
        comparison = compare_sides(left, right, question, report)
    for answer in (comparison.left, comparison.right):
        record(parts, Action.ASKED, collection.name, answer.id)
    names = _names(sides)
    if as_json:
        write_json(comparison_dict(comparison))
    elif not out:
        show_comparison(comparison, document_names(parts, collection), names)
    if out:
        write = to_html if out.suffix.lower() == ".html" else to_markdown
        write_file(utf8(write(comparison, names)), out)
    return bool(comparison.rows)


def _show_texts(
    parts: Parts,
    collection: CollectionInfo,
    sides: tuple[list[str], list[str]],
    _: str,
    as_json: bool,
    out: Path | None,
) -> bool:
    """Compare both sides whole, and return whether there was anything to compare."""
    from propcite.app.comparing import compare_whole
    from propcite.app.comparing.terminal import show_text_comparison
    from propcite.app.terminal_progress import sharing
    from propcite.attribution.formats.json.text_comparisons import text_comparison_dict
    from propcite.attribution.formats.text import utf8
    from propcite.attribution.formats.text_comparison import to_html, to_markdown

    left, right = (parts.pipeline(collection, side) for side in sides)
    with sharing() as report:
        comparison = compare_whole(left, right, report)
    names = _names(sides)
    if as_json:
        write_json(text_comparison_dict(comparison))
    elif not out:
        show_text_comparison(comparison, names)
    if out:
        write = to_html if out.suffix.lower() == ".html" else to_markdown
        write_file(utf8(write(comparison, names)), out)
    return bool(comparison.pairs)


def _names(sides: tuple[list[str], list[str]]) -> tuple[str, str]:
    return ", ".join(sides[0]), ", ".join(sides[1])
