"""The commands that check, back up and restore the whole library."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propcite.app.commands import BELOW, AsJson, Panel, cli, find_collection, note, open_parts, write_json

if TYPE_CHECKING:
    from propcite.app.library.finding import Finding

OnlyCollection = Annotated[str, typer.Option("--collection", "-c", help="Only this collection.")]


@cli.command(rich_help_panel=Panel.UPKEEP)
def doctor(
    mend: Annotated[bool, typer.Option("--mend", help="Repair what can be repaired.")] = False,
    collection: OnlyCollection = "",
    quick: Annotated[bool, typer.Option("--quick", help="Do not read every index and answer.")] = False,
    sources: Annotated[
        bool, typer.Option("--sources", help="List the documents whose text lacks most of their source instead.")
    ] = False,
    backup: Annotated[
        Path | None, typer.Option("--backup", help="With --mend: restore lost files of documents from this backup.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that database, indexes, answers, files and models are consistent.  Exit code 1 if a problem is left."""
    from propcite.app.ingest.ocr.choosing import available, way_to_read
    from propcite.app.library import doctor as looking
    from propcite.app.library.source_findings import source_findings
    from propcite.app.terminal_progress import sharing

    parts = open_parts()
    chosen = [find_collection(parts, collection)] if collection else []
    with sharing() as progress:
        checked = looking.Doctor(parts, chosen, not quick, progress, backup)
        found = list(source_findings(parts, chosen) if sources else checked.findings())
        done, left = looking.mend(found) if mend else ([], found)
    if as_json:
        mended = [_fields(one) for one in done]
        write_json(
            {
                "findings": [_fields(one) for one in found],
                "mended": mended,
                "left": [_fields(one) for one in left],
            }
        )
    else:
        for one in done:
            note(f"mended: {one.where}: {one.what}")
        for one in left:
            note(one.line)
        if not found:
            note(f"{collection or 'everything'} is as it should be")
        if not collection:
            reads = available(parts.settings.ocr)
            note(f"scans are read by {reads}" if reads else f"scans are not read: {way_to_read(parts.settings.ocr)}")
    if left:
        raise typer.Exit(BELOW)


def _fields(one: Finding) -> dict[str, object]:
    return {"where": one.where, "what": one.what, "mend": one.remedy, "can_mend": one.fix is not None}


@cli.command(rich_help_panel=Panel.UPKEEP)
def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.", metavar="FILE")],
    without_index: Annotated[
        bool, typer.Option("--without-index", help="Smaller file: restoring rebuilds the indexes from the passages.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Save the whole library in one file; other commands may run meanwhile."""
    from dataclasses import asdict

    from propcite.app.library.backup import create_backup
    from propcite.app.storage.moving import pull
    from propcite.app.terminal_progress import sharing

    parts = open_parts()
    with sharing() as progress:
        data_dir = parts.settings.data_dir
        if parts.settings.storage:
            pull(parts, progress)
        saved = create_backup(
            parts.library, data_dir, file, with_index=not without_index, force=force, progress=progress
        )
    if as_json:
        write_json({**asdict(saved), "path": str(saved.path)})
        return
    for line in saved.notes:
        note(line)
    held = f"{saved.collections} collections, {saved.documents} documents, {saved.answers} answers"
    note(f"{file}: {held}, {saved.indexes} indexes, {saved.bytes / 2**20:.1f} MB")


@cli.command(rich_help_panel=Panel.UPKEEP)
def restore(
    file: Annotated[Path, typer.Argument(help="A file written by propcite backup.", metavar="FILE")],
    into: Annotated[Path | None, typer.Option("--into", help="Into this data directory.", metavar="DIR")] = None,
    collection: OnlyCollection = "",
    force: Annotated[bool, typer.Option("--force", help="Replace existing data.")] = False,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into SQLite or PostgreSQL, whichever it came from, completely or not at all."""
    from dataclasses import asdict

    from propcite.app.library import backup as kept
    from propcite.app.library.store import Library
    from propcite.app.storage.moving import push
    from propcite.app.terminal_progress import sharing

    parts = open_parts(data_dir=into)
    with sharing() as progress:
        data_dir = parts.settings.data_dir
        back = kept.restore_backup(
            file,
            lambda: Library(parts.settings.database_url),  # also where the database was lost
            data_dir,
            collection=collection,
            force=force,
            storage=parts.settings.storage,
            progress=progress,
        )
        if parts.settings.storage:
            push(parts, progress)
    if as_json:
        write_json(asdict(back))
        return
    note(f"{len(back.collections)} collections, {back.documents} documents, {back.passages} passages came back")
    for name in back.without_index:
        note(f"{name} has no index of all its passages: propcite reindex --collection {shlex.quote(name)}")
