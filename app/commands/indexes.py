"""The index of a collection: how large it is, whether it is whole, and made whole again."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from propcite.app.commands import BELOW, AsJson, Collection, cli, find_collection, note, open_parts, write_json

index = typer.Typer(no_args_is_help=True, help="A collection's index: its size, its faults, its repair.")
cli.add_typer(index, name="index")


@index.command()
def stats(collection: Collection = "", as_json: AsJson = False) -> None:
    """Show what a collection's index holds: passages, tokens, bytes, segments, deletions, how it is searched."""
    from dataclasses import asdict

    from propcite.app.terminal import show_table

    parts = open_parts()
    chosen = find_collection(parts, collection)
    found = parts.workspace(chosen).stats()
    if found is None:
        note(f"{chosen.name} has no index yet: propcite ingest PATH")
        raise typer.Exit(BELOW)
    told = asdict(found) | {"bytes_per_token": round(found.bytes_per_token, 1)}
    if as_json:
        write_json(told)
    else:
        show_table(["", ""], [[name.replace("_", " "), _cell(value)] for name, value in told.items()])


def _cell(value: object) -> str:
    if isinstance(value, int | float):
        return f"{value:,}"
    return ", ".join(str(v) for v in value) if isinstance(value, list | tuple) else str(value)


@index.command()
def check(
    repair: Annotated[bool, typer.Option("--repair", help="Mend what is wrong from the stored passages.")] = False,
    collection: Collection = "",
    as_json: AsJson = False,
) -> None:
    """Read every byte of an index and compare its checksums, and its passages with the library's.

    Exit code 1 when something is wrong and was not repaired.
    """
    from propcite.app.terminal import sharing

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
    """Join the parts of an index into one and give the room of deleted passages back."""
    from propcite.app.terminal import sharing

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
