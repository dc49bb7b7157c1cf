"""The commands that list and remove documents and rebuild an index."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propcite.app.commands import (
    AsJson,
    Collection,
    Panel,
    Where,
    cli,
    find_collection,
    note,
    open_parts,
    record,
    write_json,
)
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.library.store import CollectionInfo
    from propcite.app.parts import Parts

MOST_FOUND = 100


@cli.command("list", rich_help_panel=Panel.DOCUMENTS)
def list_(
    collection: Collection = "",
    answers: Annotated[bool, typer.Option("--answers", help="List the stored answers instead.")] = False,
    unsupported: Annotated[bool, typer.Option("--unsupported", help="Answers with an unsupported fact.")] = False,
    contradicted: Annotated[bool, typer.Option("--contradicted", help="Answers that a source contradicts.")] = False,
    versions: Annotated[bool, typer.Option("--versions", help="List earlier versions and removed documents.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="List files that could not be read, and why.")] = False,
    search: Annotated[str, typer.Option("--search", help="Answers that contain these words.")] = "",
    where: Where = None,
    as_json: AsJson = False,
) -> None:
    """List collections, the documents of one (with --collection or --where), or the stored answers."""
    from propcite.app.library.selection import selected_documents
    from propcite.app.library.store import AnswerProblem

    parts = open_parts()
    chosen = find_collection(parts, collection) if collection or where or versions or failed else None
    if search:
        rows: list[Any] = list(parts.library.find_answers(chosen, search, limit=MOST_FOUND).items)
        columns = ["id", "question", "collection", "asked_at"]
    elif failed and chosen is not None:
        rows, columns = parts.library.failures(chosen), ["source", "reason", "failed_at"]
    elif answers or unsupported or contradicted:
        lacking = AnswerProblem.UNSUPPORTED if unsupported else AnswerProblem.CONTRADICTED if contradicted else None
        rows = parts.library.answers(chosen, problem=lacking)
        columns = ["id", "question", "collection", *(["facts"] if lacking else []), "asked_at"]
    elif versions and chosen is not None:
        rows = parts.library.versions(chosen)
        columns = ["document_id", "title", "source", "added_at", "ended_at", "became"]
    elif chosen is not None:
        rows = parts.library.documents(chosen, selected_documents(parts.library, chosen, (), where) if where else None)
        lacks = [] if all(row.fidelity.is_whole for row in rows) else ["lacks"]
        columns = ["id", "title", "source", "num_passages", *lacks]
    else:
        rows = parts.library.collections()
        own = [name for name in ("alignment", "owner") if any(getattr(row, name) for row in rows)]
        columns = ["name", "num_documents", "num_passages", *own]
    asked = where or unsupported or contradicted or versions or failed or search
    none = "nothing of that kind" if asked else "nothing there yet: propcite ingest PATH, or propcite demo"
    _list(rows, columns, as_json, none)
    if rows and not as_json and columns[0] == "id" and columns[1] == "title" and chosen is not None and not where:
        _show_stats(parts, chosen)


def _list(rows: Sequence[Any], columns: Sequence[str], as_json: bool, none: str) -> None:
    from dataclasses import asdict

    from propcite.app.terminal import show_table

    if as_json:
        write_json(
            [{k: v.isoformat() if hasattr(v, "isoformat") else v for k, v in asdict(row).items()} for row in rows]
        )
    elif rows:
        shown = [[_cell(row, column) for column in columns] for row in rows]
        show_table([c.removeprefix("num_").replace("_", " ") for c in columns], shown)
    else:
        note(none)


def _cell(row: Any, column: str) -> str:
    if column == "facts":
        return f"{row.num_cited} of {row.num_facts} supported"
    if column == "became":
        return "replaced" if row.replaced else "removed"
    if column == "lacks":
        return str(row.fidelity.line)
    value = getattr(row, column)
    return f"{value:%Y-%m-%d %H:%M}" if hasattr(value, "strftime") else str(value)


def _show_stats(parts: Parts, collection: CollectionInfo) -> None:
    from propcite.retrieval.alignment import NEAREST

    stats = parts.workspace(collection).stats()
    if stats is not None:
        size = f"{stats.tokens:,} tokens, {stats.bytes / 2**20:.1f} MB ({stats.bytes_per_token:.0f} bytes per token)"
        alignment = parts.alignment(collection)
        told = "" if alignment == NEAREST else f", ranked by {alignment}"
        note(f"{stats.regime} index: {stats.passages:,} passages, {size}, made by {stats.encoder}{told}")


@cli.command(rich_help_panel=Panel.DOCUMENTS)
def remove(
    document: Annotated[str, typer.Argument(help="A document's id, path or file name.")] = "",
    collection: Collection = "",
    everything: Annotated[bool, typer.Option("--all", help="Remove the whole collection with its answers.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --all: do not ask first.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove a document.  Answers that cite it keep their quotes."""
    from propcite.app.library.store import Action

    parts = open_parts()
    chosen = find_collection(parts, collection)
    if everything == bool(document):
        raise PropCiteError("name one document, or give --all for the whole collection")
    if everything:
        if not yes:
            _ask_before_removing(chosen)
        parts.remove_collection(chosen)
        record(parts, Action.REMOVED_COLLECTION, chosen.name)
        removed = {"collection": chosen.name, "documents": chosen.num_documents}
        said = f"removed the collection {chosen.name} with {chosen.num_documents} documents"
    else:
        found = parts.library.find_document(chosen, document)
        cited = parts.library.count_answers_citing(chosen, found.id)
        parts.ingester(chosen).remove(found.id)
        record(parts, Action.REMOVED_DOCUMENT, chosen.name, found.id)
        removed = {"id": found.id, "source": found.source, "answers_citing": cited}
        said = f"removed {found.source}" + (f"; {cited} kept answers still quote it" if cited else "")
    if as_json:
        write_json(removed)
    else:
        note(said)


def _ask_before_removing(collection: CollectionInfo) -> None:
    """Ask on a terminal whether to remove a collection; a script has to say so."""
    what = f"the collection {collection.name} with {collection.num_documents} documents and its answers"
    if not sys.stdin.isatty():
        raise PropCiteError(f"this removes {what}: give --yes, or run it on a terminal, where it asks")
    typer.confirm(f"Remove {what}?", abort=True, err=True)


@cli.command(rich_help_panel=Panel.DOCUMENTS)
def reindex(collection: Collection = "", as_json: AsJson = False) -> None:
    """Rebuild a collection's index from its stored passages, for another encoder or after damage."""
    from propcite.app.terminal_progress import counting

    parts = open_parts()
    chosen = find_collection(parts, collection)
    note(f"encoding {chosen.num_passages} passages")
    with counting(chosen.num_passages, "encoding") as advance:
        workspace = parts.workspace(chosen, progress=lambda what, share: advance(f"{what} {share:.0%}", 0))
        count = workspace.rebuild(parts.encoder, advance)
    if as_json:
        write_json({"collection": chosen.name, "passages": count})
    else:
        _show_stats(parts, chosen)
