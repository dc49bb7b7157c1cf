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
    cli,
    document_names,
    find_collection,
    note,
    open_parts,
    record,
    write_json,
)
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.attribution.citing.comparing import Comparison

Documents = list[str]


@cli.command(rich_help_panel=Panel.ASKING)
def compare(
    question: Annotated[str, typer.Argument(help="What both are asked.")],
    left: Annotated[Documents, typer.Option("--left", help="A document by id, path or file name; repeatable.")],
    right: Annotated[Documents, typer.Option("--right", help="A document of the other side; repeatable.")],
    collection: Collection = "",
    as_json: AsJson = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write a table to this file: .md or .html.")] = None,
) -> None:
    """Ask two documents, or two versions of one, the same: what both say, where they differ, what only one says.

    Exit code 1 if neither has an answer.
    """
    from propcite.app.comparing import check_sides
    from propcite.app.comparing import compare as compare_sides
    from propcite.app.comparing.terminal import show_comparison
    from propcite.app.library.store import Action
    from propcite.attribution.formats.json.comparisons import comparison_dict

    if out and out.suffix.lower() not in (".md", ".html"):
        raise PropCiteError(f"--out {out}: name a file that ends with .md or .html")
    parts = open_parts()
    chosen = find_collection(parts, collection)
    check_sides(parts.library, chosen, left, right)
    comparison = compare_sides(parts.pipeline(chosen, left), parts.pipeline(chosen, right), question)
    for answer in (comparison.left, comparison.right):
        record(parts, Action.ASKED, chosen.name, answer.id)
    if as_json:
        write_json(comparison_dict(comparison))
    elif not out:
        show_comparison(comparison, document_names(parts, chosen), (", ".join(left), ", ".join(right)))
    if out:
        _write(comparison, (", ".join(left), ", ".join(right)), out)
    if not comparison.rows:
        raise typer.Exit(BELOW)


def _write(comparison: Comparison, names: tuple[str, str], out: Path) -> None:
    from propcite.attribution.formats.comparison import to_html, to_markdown

    write = to_html if out.suffix.lower() == ".html" else to_markdown
    try:
        out.write_text(write(comparison, names), "utf-8", errors="replace")
    except OSError as error:
        raise PropCiteError(f"{out} cannot be written ({error.strerror}): give another --out") from error
    note(f"written to {out}")
