"""The commands that show, check, repair and compact the index of a collection."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from propcite.app.commands import BELOW, AsJson, Collection, Panel, cli, find_collection, note, open_parts, write_json

index = typer.Typer(no_args_is_help=True, help="Show, check, repair or compact a collection's index.")
cli.add_typer(index, name="index", rich_help_panel=Panel.UPKEEP)


@index.command()
def stats(collection: Collection = "", as_json: AsJson = False) -> None:
    """Show the contents of a collection's index: passages, tokens, bytes, segments, deletions, search regime."""
    from dataclasses import asdict

    from propcite.app.terminal import show_table

    parts = open_parts()
    chosen = find_collection(parts, collection)
    index_stats = parts.workspace(chosen).stats()
    if index_stats is None:
        note(f"{chosen.name} has no index yet: propcite ingest PATH")
        raise typer.Exit(BELOW)
    fields = asdict(index_stats) | {"bytes_per_token": round(index_stats.bytes_per_token, 1)}
    if as_json:
        write_json(fields)
    else:
        show_table(["", ""], [[name.replace("_", " "), _cell(value)] for name, value in fields.items()])


def _cell(value: object) -> str:
    if isinstance(value, int | float):
        return f"{value:,}"
    return ", ".join(str(v) for v in value) if isinstance(value, list | tuple) else str(value)


@index.command()
def check(
    repair: Annotated[bool, typer.Option("--repair", help="Repair the index from the stored passages.")] = False,
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Verify the checksums of an index and compare its passages with the library's.

    Exit code 1 if a fault is left.
    """
    from propcite.app.terminal_progress import sharing

    parts = open_parts()
    chosen = find_collection(parts, collection)
    with sharing() as report:
        workspace = parts.workspace(chosen, progress=report)
        faults = workspace.faults()
        encoded = workspace.repair(lambda: parts.encoder) if faults and repair else 0
        left = workspace.faults() if repair else faults
    if as_json:
        write_json({"collection": chosen.name, "faults": faults, "encoded_again": encoded, "whole": not left})
    else:
        for fault in faults:
            note(fault)
        if not faults:
            note(f"the index of {chosen.name} is whole")
        elif not left:
            note(f"repaired: {encoded} passages were read again")
        else:
            note(f"{len(left)} wrong: propcite index check --repair --collection {shlex.quote(chosen.name)}")
    if left:
        raise typer.Exit(BELOW)


@index.command()
def compact(collection: Collection = "", as_json: AsJson = False) -> None:
    """Merge the segments of an index into one and free the space of deleted passages."""
    from propcite.app.terminal_progress import sharing

    parts = open_parts()
    chosen = find_collection(parts, collection)
    with sharing() as report:
        workspace = parts.workspace(chosen, progress=report)
        before = workspace.stats()
        workspace.compact()
        after = workspace.stats()
    freed = (before.bytes if before else 0) - (after.bytes if after else 0)
    if as_json:
        write_json({"collection": chosen.name, "freed_bytes": freed, "segments": after.segments if after else 0})
    else:
        note(f"{chosen.name}: one part, {freed / 2**20:.1f} MB freed")
