"""The commands of notes: list, add, change, cite, remove and export them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propcite.app.commands import (
    AsJson,
    Collection,
    Panel,
    account_name,
    cli,
    find_collection,
    note,
    open_parts,
    read_text,
    record,
    write_json,
)
from propcite.app.commands.exports import Counted, requested_export
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.library.store import Note

notes = typer.Typer(no_args_is_help=True, help="Notes of a collection: pin, write, cite, export.")
cli.add_typer(notes, name="notes", rich_help_panel=Panel.ASKING)

NoteId = Annotated[str, typer.Argument(help="A note's id: propcite notes list.", metavar="NOTE")]


@notes.command("list")
def list_(collection: Collection = "", as_json: AsJson = False) -> None:
    """List the notes, the oldest first."""
    from propcite.app.terminal import show_table

    parts = open_parts()
    found = parts.notes.all(find_collection(parts, collection))
    if as_json:
        write_json([_as_dict(one) for one in found])
    elif found:
        rows = [[one.id, _line(one.pinned.text if one.pinned else ""), _line(one.text), one.by] for one in found]
        show_table(["id", "pinned", "written", "by"], rows)
    else:
        note("no notes yet: run propcite notes add TEXT, or pin an answer with --answer")


@notes.command()
def add(
    text: Annotated[str, typer.Argument(help="What to write.")] = "",
    answer: Annotated[str, typer.Option("--answer", help="Pin this answer: an id, or last.")] = "",
    fact: Annotated[str, typer.Option("--fact", help="Of the answer pin this fact only, by number or id.")] = "",
    quote: Annotated[bool, typer.Option("--quote", help="Of the fact pin the words that it cites.")] = False,
    citation: Annotated[str, typer.Option("--citation", help="With --quote: the marker, if there are several.")] = "",
    cited: Annotated[bool, typer.Option("--cite", help="Cite what is written over the collection.")] = False,
    file: Annotated[str, typer.Option("--file", help="Take the text from a file; - from standard input.")] = "",
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Add a note, and pin a quote, a fact or an answer to it."""
    from propcite.app.commands.explaining import named_answer
    from propcite.app.library.store import Action
    from propcite.app.notes.pinning import pinned

    if (fact and not answer) or (quote and not fact):
        raise PropCiteError("--fact needs --answer, --quote needs --fact: propcite notes add --answer last --fact 1")
    parts = open_parts()
    found = named_answer(parts, answer) if answer else None
    chosen = find_collection(parts, collection or (found.collection if found else ""))
    taken = pinned(found, fact, citation, quote=quote) if found else None
    words = read_text(file) if file else text
    made, is_new = parts.notes.keep(chosen, words, taken, account_name(), found.id if found else "")
    if is_new:
        record(parts, Action.WROTE_NOTE, chosen.name, made.id)
    else:
        note(f"it is pinned already, in the note {made.id}")
    if cited and made.text:
        made = parts.notes.set_cited(made.id, parts.pipeline(chosen).cite(made.text), made.version)
    _show(made, as_json=as_json)


@notes.command()
def write(note_id: NoteId, text: Annotated[str, typer.Argument(help="The new text.")], as_json: AsJson = False) -> None:
    """Change what is written in a note; its citations are dropped until it is cited again."""
    from propcite.app.library.store import Action

    parts = open_parts()
    found = parts.notes.find(note_id)
    changed = parts.notes.write(found.id, text, found.version)
    record(parts, Action.WROTE_NOTE, changed.collection, changed.id)
    _show(changed, as_json=as_json)


@notes.command()
def cite(note_id: NoteId, as_json: AsJson = False) -> None:
    """Cite what is written in a note over its collection."""
    parts = open_parts()
    found = parts.notes.find(note_id)
    pipeline = parts.pipeline(parts.library.collection(found.collection))
    _show(parts.notes.set_cited(found.id, pipeline.cite(found.text), found.version), as_json=as_json)


@notes.command()
def remove(note_id: NoteId) -> None:
    """Remove a note."""
    from propcite.app.library.store import Action

    parts = open_parts()
    found = parts.notes.find(note_id)
    parts.notes.remove(found.id)
    record(parts, Action.REMOVED_NOTE, found.collection, found.id)
    note(f"removed {found.id}")


@notes.command()
def export(
    form: Annotated[str, typer.Option("--format", "-f", help="markdown, docx, html, pdf, …")] = "markdown",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file.")] = None,
    collection: Collection = "",
) -> None:
    """Export the notes with their references."""
    from propcite.app.notes.notebook import notebook_answer

    chosen_form = requested_export(False, form, out, Counted.code_points)
    parts = open_parts()
    chosen = find_collection(parts, collection)
    found = parts.notes.all(chosen)
    if not found:
        raise PropCiteError(f"{chosen.name!r} has no notes: run propcite notes add TEXT")
    whole = notebook_answer(chosen.name, found)
    if chosen_form:
        chosen_form.write(whole, parts.library.cited_documents(whole))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:80].rsplit(' ', 1)[0]} …"


def _show(made: Note, *, as_json: bool) -> None:
    if as_json:
        write_json(_as_dict(made))
        return
    cited = made.cited
    how = f", {sum(bool(f.citations) for f in cited.facts)} of {len(cited.facts)} facts cited" if cited else ""
    note(f"note {made.id}, version {made.version}{how}")


def _as_dict(one: Note) -> dict[str, Any]:
    from propcite.app.server.results import stored_note

    return stored_note(one).model_dump(mode="json")
