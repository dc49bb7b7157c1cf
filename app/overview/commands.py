"""The commands that suggest questions, and that sum up a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import BELOW, AsJson, Collection, Panel, cli, find_collection, note, open_parts, write_json

if TYPE_CHECKING:
    from propcite.app.overview.records import Line, SuggestedQuestion


@cli.command(rich_help_panel=Panel.ASKING)
def suggest(
    after: Annotated[
        str, typer.Option("--after", help="Questions that follow this answer: an id, or last.", metavar="ANSWER")
    ] = "",
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Suggest questions that the collection answers, each with the sentence that does.  Exit code 1 if none."""
    from dataclasses import asdict

    from propcite.app.commands.explaining import named_answer
    from propcite.app.overview.suggester import suggester_of

    parts = open_parts()
    answer = named_answer(parts, after) if after else None
    chosen = find_collection(parts, answer.collection if answer else collection)
    found = suggester_of(parts, chosen).questions(answer)
    if as_json:
        write_json([asdict(one) for one in found])
    else:
        _show(found)
    if not found:
        note("nothing here can be asked for sure: add documents, or ask what you want to know")
        raise typer.Exit(BELOW)


def _show(found: Sequence[SuggestedQuestion]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from propcite.app.terminal import out

    for one in found:
        out.print(Text(one.question, style="bold"))
        source = ", ".join(filter(None, [one.title, one.answer.place]))
        out.print(Padding(Text.assemble(f"“{one.answer.text}” ", (source, "dim")), (0, 0, 0, 2)))


@cli.command(rich_help_panel=Panel.DOCUMENTS)
def outline(
    document: Annotated[str, typer.Argument(help="A document's id, path or file name.")],
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Show a document's summary, made of its own sentences, and its headings, each with its place."""
    from dataclasses import asdict

    from propcite.app.overview.suggester import document_overview

    parts = open_parts()
    chosen = find_collection(parts, collection)
    info = parts.library.find_document(chosen, document)
    found = document_overview(parts.library, chosen, info.id)
    if as_json:
        write_json({"id": info.id, "title": info.title, "source": info.source, **asdict(found)})
        return
    _show_lines("Summary", found.summary, "• ")
    _show_lines("Outline", found.outline, "")
    if not found.summary and not found.outline:
        note(
            f"{info.title or info.source} has neither headings nor sentences that stand alone: propcite export shows it"
        )


def _show_lines(title: str, lines: Sequence[Line], mark: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from propcite.app.terminal import out

    if lines:
        out.print(Text(title, style="bold"))
    for line in lines:
        text = Text.assemble(f"{mark}{line.text} ", (line.place, "dim"))
        out.print(Padding(text, (0, 0, 0, 2 * max(1, line.level))))
