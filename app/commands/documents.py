"""Documents listed and out; the index anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands import (
    AsJson,
    Collection,
    cli,
    find_collection,
    note,
    open_parts,
    write_json,
)
from retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from app.bootstrap import Parts
    from app.store import CollectionInfo


@cli.command("list")
def list_(
    collection: Collection = "",
    answers: Annotated[bool, typer.Option("--answers", help="List the kept answers instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """List collections, the documents of one (with --collection), or the kept answers."""
    from dataclasses import asdict

    from app.terminal import show_table

    parts = open_parts()
    chosen = parts.library.collection(collection) if collection else None
    if answers:
        rows: list[Any] = parts.library.answers(chosen)
        columns = ["id", "question", "collection", "asked_at"]
    elif chosen is not None:
        rows = parts.library.documents(chosen)
        columns = ["id", "title", "source", "num_passages"]
    else:
        rows = parts.library.collections()
        own = ["alignment"] if any(row.alignment for row in rows) else []
        columns = ["name", "num_documents", "num_passages", *own]
    if as_json:
        write_json(
            [{k: v.isoformat() if hasattr(v, "isoformat") else v for k, v in asdict(row).items()} for row in rows]
        )
    elif rows:
        shown = [[_cell(getattr(row, column)) for column in columns] for row in rows]
        show_table([c.removeprefix("num_").replace("_", " ") for c in columns], shown)
        if chosen is not None and not answers:
            _show_stats(parts, chosen)
    else:
        note("nothing there yet: propcite ingest PATH, or propcite demo")


def _cell(value: Any) -> str:
    return f"{value:%Y-%m-%d %H:%M}" if hasattr(value, "strftime") else str(value)


def _show_stats(parts: Parts, collection: CollectionInfo) -> None:
    from retrieval.alignment import NEAREST

    stats = parts.workspace(collection).stats()
    if stats is not None:
        size = f"{stats.tokens:,} tokens, {stats.bytes / 2**20:.1f} MB ({stats.bytes_per_token:.0f} bytes a token)"
        alignment = parts.alignment(collection)
        told = "" if alignment == NEAREST else f", ranked by {alignment}"
        note(f"{stats.regime} index: {stats.passages:,} passages, {size}, made by {stats.encoder}{told}")


@cli.command()
def remove(
    document: Annotated[str, typer.Argument(help="A document's id, path or file name.")] = "",
    collection: Collection = "",
    everything: Annotated[bool, typer.Option("--all", help="Remove the whole collection with its answers.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove a document.  Answers that cite it keep their quotes."""
    parts = open_parts()
    chosen = find_collection(parts, collection)
    if everything == bool(document):
        raise PropCiteError("name one document, or give --all for the whole collection")
    if everything:
        workspace = parts.workspace(chosen)
        with workspace.writing():
            parts.library.remove_collection(chosen)
        workspace.remove()
        removed = {"collection": chosen.name, "documents": chosen.num_documents}
        said = f"removed the collection {chosen.name} with {chosen.num_documents} documents"
    else:
        found = parts.library.find_document(chosen, document)
        cited = parts.library.answers_citing(found.id)
        parts.ingester(chosen).remove(found.id)
        removed = {"id": found.id, "source": found.source, "answers_citing": cited}
        said = f"removed {found.source}" + (f"; {cited} kept answers still quote it" if cited else "")
    if as_json:
        write_json(removed)
    else:
        note(said)


@cli.command()
def reindex(collection: Collection = "", as_json: AsJson = False) -> None:
    """Build a collection's index anew from the stored passages, for another encoder or after damage."""
    from app.terminal import counting

    parts = open_parts()
    chosen = find_collection(parts, collection)
    note(f"encoding {chosen.num_passages} passages")
    with counting(chosen.num_passages, "encoding") as advance:
        workspace = parts.workspace(chosen)
        workspace.told = lambda what, share: advance(f"{what} {share:.0%}", 0)
        count = workspace.rebuild(parts.encoder, advance)
    if as_json:
        write_json({"collection": chosen.name, "passages": count})
    else:
        _show_stats(parts, chosen)
