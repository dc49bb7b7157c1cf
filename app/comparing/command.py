"""The command that compares two documents, or two versions of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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


@cli.command(rich_help_panel=Panel.ASKING)
def compare(
    question: Annotated[str, typer.Argument(help="The question for both sides.")],
    left: Annotated[list[str], typer.Option("--left", help="A document by id, path or file name; repeatable.")],
    right: Annotated[list[str], typer.Option("--right", help="A document of the other side; repeatable.")],
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
    from propcite.attribution.formats.comparison import to_html, to_markdown
    from propcite.attribution.formats.json.comparisons import comparison_dict
    from propcite.attribution.formats.text import utf8

    if out:
        check_file(out, ".md", ".html")
    parts = open_parts()
    chosen = find_collection(parts, collection)
    check_sides(parts.library, chosen, left, right)
    comparison = compare_sides(parts.pipeline(chosen, left), parts.pipeline(chosen, right), question)
    for answer in (comparison.left, comparison.right):
        record(parts, Action.ASKED, chosen.name, answer.id)
    names = (", ".join(left), ", ".join(right))
    if as_json:
        write_json(comparison_dict(comparison))
    elif not out:
        show_comparison(comparison, document_names(parts, chosen), names)
    if out:
        write = to_html if out.suffix.lower() == ".html" else to_markdown
        write_file(utf8(write(comparison, names)), out)
    if not comparison.rows:
        raise typer.Exit(BELOW)
