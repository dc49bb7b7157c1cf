"""The commands that set fields, tags and owners of documents and collections."""

from __future__ import annotations

import json
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
from propcite.app.library.fields import parse_change
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.library.store import DocumentInfo


@cli.command(rich_help_panel=Panel.DOCUMENTS)
def describe(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="A document by id, path or file name, then KEY=VALUE (may be JSON); KEY= clears it."),
    ] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="Add this tag; repeatable.")] = None,
    untag: Annotated[list[str] | None, typer.Option("--untag", help="Remove this tag; repeatable.")] = None,
    where: Where = None,
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Set title, author, date, tags or any field of a document, over those of its file.  --where selects several.

    Without anything to say it shows what is told.  What is said stays when the file changes.
    """
    from propcite.app.library.selection import selected_documents
    from propcite.app.library.store import Action

    parts = open_parts()
    chosen = find_collection(parts, collection)
    documents, said = _parted(words or (), bool(where))
    ids = selected_documents(parts.library, chosen, documents, where or ())
    if not documents and not where:
        raise PropCiteError("name a document or give --where: propcite describe minutes.pdf author='Ana Rossi'")
    change = parse_change(said, tags, untag)
    if change:
        count = parts.library.describe(ids, change)
        record(parts, Action.CHANGED_DOCUMENT, chosen.name, ids[0] if len(ids) == 1 else f"{len(ids)} documents")
        note(f"{count} {'document' if count == 1 else 'documents'} described")
    infos = parts.library.documents(chosen, ids)
    if as_json:
        write_json([_told(info) for info in infos])
    elif len(infos) == 1 or not change:
        for info in infos:
            _show(info)


def _parted(words: Sequence[str], narrowed: bool) -> tuple[list[str], list[str]]:
    """Split the arguments into the document (empty if none is named) and its fields."""
    first = [] if narrowed or not words else [words[0]]
    return first, list(words[len(first) :])


def _told(info: DocumentInfo) -> dict[str, Any]:
    fields = {"id": info.id, "title": info.title, "source": info.source, "details": dict(info.details)}
    return {**fields, "added_at": info.added_at.isoformat()}


def _show(info: DocumentInfo) -> None:
    from propcite.app.terminal import show_table

    rows = {"id": info.id, "source": info.source, "title": info.title, **info.details}
    show_table(["", ""], [[key, shown(value)] for key, value in rows.items()])


def shown(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@cli.command(rich_help_panel=Panel.DOCUMENTS)
def owner(
    name: Annotated[str | None, typer.Argument(help="The new owner; '' removes the owner.")] = None,
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Show or set the owner of a collection.  `propcite keys create --owner` limits a key to an owner's collections."""
    from propcite.app.library.store import Action

    parts = open_parts()
    chosen = find_collection(parts, collection)
    if name is not None:
        parts.library.set_owner(chosen, name)
        record(parts, Action.CHANGED_COLLECTION, chosen.name, f"owner: {name or 'nobody'}")
    now = chosen.owner if name is None else name
    if as_json:
        write_json({"collection": chosen.name, "owner": now})
    else:
        note(f"{chosen.name} belongs to {now or 'nobody'}")
