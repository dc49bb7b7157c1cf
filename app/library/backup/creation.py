"""Back up the whole library while other processes read and write it.

Rows are read from a snapshot of the database, which names the version of each index; that is taken if it holds exactly
the passages of the snapshot.  A writer may have replaced it meanwhile, so new snapshots are tried until both agree.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from propcite.app.errors import AppError, StoreError
from propcite.app.library.backup.archive import file_chunks, write_backup
from propcite.app.library.backup.rows import TABLES, json_lines, snapshot_connection
from propcite.app.library.store import Library
from propcite.app.library.store.database import HEAD, database_errors
from propcite.app.library.store.tables import CollectionRow, DocumentRow, PassageRow, VersionRow, now
from propcite.retrieval.errors import IndexFormatError, OtherVersionError
from propcite.retrieval.index import ProgressReport, ignore_progress
from propcite.retrieval.index.container import link
from propcite.retrieval.sharding.folder import open_index, snapshot_folder
from propcite.retrieval.sharding.layout import Versions

TRIES, PAUSE_S = 40, 0.05
ROW_COST = 1000  # a row counts as so many bytes in the reported progress


@dataclass(frozen=True, slots=True)
class BackupSummary:
    """What a backup contains; `notes` are shown after the backup and stored in it."""

    path: Path
    bytes: int
    collections: int
    documents: int
    passages: int
    answers: int
    indexes: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A database snapshot, and copies of the usable indexes by collection number and of the stored files by name."""

    connection: Connection
    indexes: Mapping[int, Path]
    originals: Mapping[str, Path]
    notes: tuple[str, ...]


def create_backup(
    library: Library,
    data_dir: Path,
    path: Path,
    *,
    with_index: bool = True,
    force: bool = False,
    progress: ProgressReport = ignore_progress,
) -> BackupSummary:
    """Write everything the library stores to one file, which exists only when it is complete."""
    _check(path, force)
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".backup-", dir=data_dir))
    except OSError as error:
        raise StoreError(f"cannot write {data_dir} ({error.strerror}): set PROPCITE_DATA_DIR") from error
    try:
        with _take_snapshot(library, data_dir, folder, with_index) as taken:
            return _write(library, taken, path, progress)
    except OSError as error:
        raise AppError(f"cannot write {path} ({error.strerror or error}): free space, or give another file") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check(path: Path, force: bool) -> None:
    if path.is_dir() or not path.parent.is_dir():
        raise AppError(f"cannot write {path}: name a file in a folder that exists")
    if path.exists() and not force:
        raise AppError(f"{path} exists already: give another name, or --force")


@contextmanager
def _take_snapshot(library: Library, data_dir: Path, folder: Path, with_index: bool) -> Iterator[_Snapshot]:
    """Take a database snapshot with matching indexes; after the last try, indexes that differ get a note."""
    for tries_left in reversed(range(TRIES)):
        with database_errors(library.url), ExitStack() as stack:
            connection = stack.enter_context(snapshot_connection(library.engine))
            indexes, notes, differing = _copy_indexes(connection, data_dir, folder if with_index else None)
            if not differing or not tries_left:
                originals = _link_originals(connection, data_dir, folder)
                yield _Snapshot(connection, indexes, originals, (*notes, *differing))
                return
        time.sleep(PAUSE_S)


def _copy_indexes(
    connection: Connection, data_dir: Path, folder: Path | None
) -> tuple[dict[int, Path], list[str], list[str]]:
    """Copy each collection's index; return the copies, notes on unusable ones, and notes on those that differ."""
    copies: dict[int, Path] = {}
    notes: list[str] = []
    differing: list[str] = []
    rows = select(CollectionRow.id, CollectionRow.name, CollectionRow.index_versions)
    for id_, name, versions in connection.execute(rows).all() if folder else ():
        index, copy = data_dir / "indexes" / str(id_), folder / str(id_) if folder else Path()
        try:
            try:
                exists = snapshot_folder(index, copy, Versions.from_json(versions) if versions else None)
            except OtherVersionError:  # joined or divided since it was noted, or replaced since the snapshot
                exists = snapshot_folder(index, copy)
            if not exists:
                continue
            indexed = open_index(copy).ids()
        except IndexFormatError as error:
            notes.append(f"the index of {name!r} is left out ({error})")
            continue
        copies[id_] = copy
        expected = select(PassageRow.id).join(DocumentRow).where(DocumentRow.collection_id == id_)
        if indexed != set(connection.scalars(expected)):
            differing.append(f"the index of {name!r} differs from its passages: propcite doctor --mend after restoring")
    return copies, notes, differing


def _link_originals(connection: Connection, data_dir: Path, folder: Path) -> dict[str, Path]:
    """Link the stored files of current and former documents, so that removal by others does not affect the backup."""
    digests = select(DocumentRow.sha256).union(select(VersionRow.sha256))
    links: dict[str, Path] = {}
    for sha256 in sorted(connection.scalars(digests)):
        name = f"originals/{sha256[:2]}/{sha256}"
        with suppress(FileNotFoundError):
            link(data_dir / name, folder / sha256)
            links[name] = folder / sha256
    return links


def _write(library: Library, taken: _Snapshot, path: Path, progress: ProgressReport) -> BackupSummary:
    connection = taken.connection
    counts = {t.name: connection.scalar(select(func.count()).select_from(t)) or 0 for t in TABLES}
    files = {
        f"indexes/{id_}/{file.relative_to(copy).as_posix()}": file
        for id_, copy in taken.indexes.items()
        for file in sorted(copy.rglob("*"))
        if file.is_file()
    }
    files |= taken.originals
    total = max(1, sum(counts.values()) * ROW_COST + sum(file.stat().st_size for file in files.values()))
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        progress("backing up", min(1.0, done / total))

    with write_backup(path, _about(library, taken, counts)) as backup:
        for table in TABLES:
            backup.add(f"rows/{table.name}.jsonl", _counted(json_lines(connection, table), count), compress=True)
        for name, file in files.items():
            backup.add(name, file_chunks(file, count))
    contents = {name: counts[name] for name in ("collections", "documents", "passages", "answers")}
    return BackupSummary(path, path.stat().st_size, **contents, indexes=len(taken.indexes), notes=taken.notes)


def _counted(lines: Iterator[bytes], count: Callable[[int], None]) -> Iterator[bytes]:
    for line in lines:
        count(ROW_COST)
        yield line


def _about(library: Library, taken: _Snapshot, counts: Mapping[str, int]) -> dict[str, Any]:
    collections = taken.connection.execute(select(CollectionRow.id, CollectionRow.name).order_by(CollectionRow.name))
    return {
        "propcite": version("propcite"),
        "schema": HEAD,
        "made_at": now().isoformat(),
        "database": library.engine.dialect.name,
        "rows": dict(counts),
        "collections": [{"id": i, "name": name, "index": i in taken.indexes} for i, name in collections],
        "notes": list(taken.notes),
    }
