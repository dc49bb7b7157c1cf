"""The commands that show, check, repair and compact the index of a collection, and divide it into shards."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from propcite.app.commands import BELOW, AsJson, Collection, Panel, cli, find_collection, note, open_parts, write_json
from propcite.app.library.shards import Shards

index = typer.Typer(no_args_is_help=True, help="Show, check, repair or compact a collection's index.")
cli.add_typer(index, name="index", rich_help_panel=Panel.UPKEEP)
shards = typer.Typer(no_args_is_help=True, help="Show the shards of a collection's index, divide it, or move a shard.")
cli.add_typer(shards, name="shards", rich_help_panel=Panel.UPKEEP)


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


@shards.command("show")
def show_shards(collection: Collection = "", as_json: AsJson = False) -> None:
    """List the shards of a collection's index: passages, tokens, bytes, and the folder of each."""
    from propcite.app.terminal import show_table

    parts = open_parts()
    chosen = find_collection(parts, collection)
    workspace = parts.workspace(chosen)
    sizes = Shards(workspace).stats()
    if not sizes:
        note(f"{chosen.name} has no index yet: propcite ingest PATH")
        raise typer.Exit(BELOW)
    rows = [
        {"shard": n, "passages": size.passages, "tokens": size.tokens, "bytes": size.bytes, "folder": str(folder)}
        for n, (size, folder) in enumerate(zip(sizes, Shards(workspace).folders(), strict=True))
    ]
    if as_json:
        write_json({"collection": chosen.name, "shards": rows})
    else:
        show_table(list(rows[0]), [[_cell(value) for value in row.values()] for row in rows])


@shards.command("hosts")
def show_hosts(collection: Collection = "", as_json: AsJson = False) -> None:
    """Show the machine and the process of the cluster in which each shard is open; opens those that are not."""
    from propcite.app.terminal import show_table

    parts = open_parts()
    chosen = find_collection(parts, collection)
    held = Shards(parts.workspace(chosen))
    places = held.hosts(parts.encoder)
    if not places:
        note(f"{chosen.name} is searched in this process: set cluster, and divide it by propcite shards split NUMBER")
        raise typer.Exit(BELOW)
    replicas = len(places) // len(held.folders())
    rows = [
        {"shard": n // replicas, "machine": machine, "process": process, "propcite": version}
        for n, (machine, process, version) in enumerate(places)
    ]
    if as_json:
        write_json({"collection": chosen.name, "hosts": rows})
    else:
        show_table(list(rows[0]), [[str(value) for value in row.values()] for row in rows])


@shards.command("stop")
def stop_hosts(collection: Collection = "", as_json: AsJson = False) -> None:
    """End the processes of the cluster in which the shards are open; the next search opens them again."""
    parts = open_parts()
    chosen = find_collection(parts, collection)
    stopped = Shards(parts.workspace(chosen)).stop_hosts()
    if as_json:
        write_json({"collection": chosen.name, "stopped": stopped})
    else:
        note(f"{chosen.name}: {stopped} processes stopped")


@shards.command("split")
def split_shards(
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="Shards to divide it into; 1 joins them.", min=1)],
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Divide a collection's index into so many shards, by documents; searches return what they returned before.

    It needs the size of the index on the disk again while it runs.  An interrupt leaves the index as it was.
    """
    from propcite.app.terminal_progress import sharing

    parts = open_parts()
    chosen = find_collection(parts, collection)
    with sharing() as report:
        workspace = parts.workspace(chosen, progress=report)
        Shards(workspace).divide(number)
        sizes = Shards(workspace).stats()
    if as_json:
        write_json({"collection": chosen.name, "shards": len(sizes), "passages": [size.passages for size in sizes]})
    else:
        note(f"{chosen.name}: {_counted(len(sizes))} with {', '.join(f'{size.passages:,}' for size in sizes)} passages")


@shards.command("move")
def move_shard(
    number: Annotated[int, typer.Argument(metavar="SHARD", help="Its number in `propcite shards show`.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to put it, on another disk for example.")],
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Move a shard into a folder on another disk; the index is read there from then on.

    A backup contains moved shards too.
    """
    parts = open_parts()
    chosen = find_collection(parts, collection)
    new = Shards(parts.workspace(chosen)).move(number, folder)
    if as_json:
        write_json({"collection": chosen.name, "shard": number, "folder": str(new)})
    else:
        note(f"shard {number} of {chosen.name} is in {new} now")


def _counted(number: int) -> str:
    return "one piece" if number == 1 else f"{number} shards"
