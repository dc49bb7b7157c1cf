"""The commands that show what the storage has, bring it to this disk, and put what is here there."""

from __future__ import annotations

from dataclasses import asdict

import typer

from propcite.app.commands import AsJson, Panel, cli, note, open_parts, write_json

storage = typer.Typer(no_args_is_help=True, help="Indexes and kept files in the storage that machines share.")
cli.add_typer(storage, name="storage", rich_help_panel=Panel.UPKEEP)


@storage.command()
def show(as_json: AsJson = False) -> None:
    """Show the version of each collection's index in the storage and on this disk, and its size."""
    from propcite.app.storage.moving import stored_indexes
    from propcite.app.terminal import show_table

    rows = [asdict(one) for one in stored_indexes(open_parts())]
    if as_json:
        write_json(rows)
    elif rows:
        show_table(list(rows[0]), [[_cell(value) for value in row.values()] for row in rows])
    else:
        note("there is no collection yet: propcite ingest PATH")


@storage.command()
def pull(as_json: AsJson = False) -> None:
    """Bring all indexes and kept files to this disk, for a machine that starts, or that will be offline."""
    from propcite.app.storage.moving import pull
    from propcite.app.terminal_progress import sharing

    with sharing() as progress:
        indexes, files = pull(open_parts(), progress)
    _report("on this disk", indexes, files, as_json)


@storage.command()
def push(as_json: AsJson = False) -> None:
    """Put the indexes and kept files of this disk into the storage; once, after the setting storage is given."""
    from propcite.app.storage.moving import push
    from propcite.app.terminal_progress import sharing

    with sharing() as progress:
        indexes, files = push(open_parts(), progress)
    _report("in the storage", indexes, files, as_json)


def _report(where: str, indexes: int, files: int, as_json: bool) -> None:
    if as_json:
        write_json({"indexes": indexes, "files": files})
    else:
        note(f"{indexes} indexes and {files} kept files are {where}")


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
