"""Restore a backup: extract and check everything first, then load the rows in one transaction.

An index's folder is moved into place after its rows.  If the process stops in between, the library lacks that index,
and the next `propcite ingest`, `reindex` or `doctor --mend` builds it from the passages.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, delete, select

from propcite.app.errors import AppError, StoreError
from propcite.app.library.backup.archive import BackupError, BackupReader, open_backup
from propcite.app.library.backup.rows import ReadRows, RowLoader, delete_all, is_empty, row_reader
from propcite.app.library.store import CollectionInfo, Library
from propcite.app.library.store.database import database_errors
from propcite.app.library.store.tables import CollectionRow
from propcite.app.library.workspace import Workspace
from propcite.retrieval.index import ProgressReport, ignore_progress


@dataclass(frozen=True, slots=True)
class RestoreSummary:
    """What was restored, by names of collections; `without_index` are those whose index must be rebuilt."""

    collections: tuple[str, ...]
    documents: int
    passages: int
    without_index: tuple[str, ...]


def restore_backup(
    path: Path,
    open_library: Callable[[], Library],
    data_dir: Path,
    *,
    collection: str = "",
    force: bool = False,
    storage: str = "",
    progress: ProgressReport = ignore_progress,
) -> RestoreSummary:
    """Restore a backup, or one collection of it.  The library is opened only once the backup is checked."""
    with open_backup(path) as backup, _temporary_folder(data_dir) as folder:
        names_by_id = _collections(backup, collection)
        folders = ["rows/", *(f"indexes/{id_}/" for id_ in names_by_id), "originals/"]
        names = [name for prefix in folders for name in backup.names(prefix)]
        backup.extract(names, folder, _share_counter(progress, "reading", _size(backup, names)))
        read = row_reader(folder / "rows", str(backup.about["schema"]))
        library = open_library()
        new_ids = _load_rows(backup, library, data_dir, storage, read, collection, force, progress)
        _move_originals(library, folder / "originals", data_dir / "originals")
        for old, new in new_ids.items():
            _move(folder / "indexes" / str(old), data_dir / "indexes" / str(new))
        return _summary(library, data_dir, [names_by_id[old] for old in new_ids])


def _collections(backup: BackupReader, only: str) -> dict[int, str]:
    names_by_id = {int(c["id"]): str(c["name"]) for c in backup.about["collections"]}
    if only and only not in names_by_id.values():
        existing = ", ".join(names_by_id.values()) or "none"
        raise BackupError(f"{backup.path} has no collection {only!r}: there is {existing}")
    return {i: name for i, name in names_by_id.items() if not only or name == only}


@contextmanager
def _temporary_folder(data_dir: Path) -> Iterator[Path]:
    """Create a folder on the disk of the data directory, so that checked files only need to be renamed."""
    try:
        is_new = not data_dir.exists()
        data_dir.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".restore-", dir=data_dir))
    except OSError as error:
        raise StoreError(f"cannot write {data_dir} ({error.strerror}): give another --into") from error
    try:
        yield folder
    except OSError as error:
        raise StoreError(
            f"cannot write {data_dir} ({error.strerror or error}): free space, or give another --into"
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if is_new:
            with suppress(OSError):
                data_dir.rmdir()  # succeeds only if nothing was restored


def _load_rows(
    backup: BackupReader,
    library: Library,
    data_dir: Path,
    storage: str,
    read: ReadRows,
    collection: str,
    force: bool,
    progress: ProgressReport,
) -> dict[int, int]:
    """Load every row in one transaction; return the new numbers of the collections by the old ones."""
    existing = library.collections()
    replaced = [c for c in existing if not collection or c.name == collection] if force else []
    with ExitStack() as locks:
        for info in replaced:
            locks.enter_context(Workspace(data_dir, library, info).exclusive())
        with database_errors(library.url), library.engine.begin() as connection:
            _make_room(connection, existing, collection, force)
            loader = RowLoader(connection, collection)
            loader.load(read, _share_counter(progress, "restoring", sum(backup.about["rows"].values())))
    for info in replaced:
        Workspace(data_dir, library, info, storage=storage).remove()
    return loader.collections


def _make_room(connection: Connection, existing: Sequence[CollectionInfo], collection: str, force: bool) -> None:
    """Delete what the backup replaces if `force` allows it; raise AppError otherwise."""
    if collection:
        same_name = [info for info in existing if info.name == collection]
        if same_name and not force:
            raise AppError(f"there is a collection {collection!r} already: --force replaces it with the backup's")
        for info in same_name:
            connection.execute(delete(CollectionRow).where(CollectionRow.id == info.id))
    elif force:
        delete_all(connection)
    elif not is_empty(connection):
        names = ", ".join(sorted(connection.scalars(select(CollectionRow.name)))[:5]) or "keys or runs"
        raise AppError(
            f"the library is not empty (it holds {names}): restore --into another folder, one --collection, or --force"
        )


def _move_originals(library: Library, folder: Path, target: Path) -> None:
    """Move the stored files that the restored documents and answers need."""
    by_digest = {path.name: path for path in folder.glob("*/*")}
    for sha256 in library.digests_in_use(by_digest):
        place = target / sha256[:2] / sha256
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(by_digest[sha256], place)


def _move(folder: Path, target: Path) -> None:
    if folder.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(folder, target)


def _summary(library: Library, data_dir: Path, names: Sequence[str]) -> RestoreSummary:
    infos = [info for info in library.collections() if info.name in names]
    without_index = [
        info.name for info in infos if info.num_passages and Workspace(data_dir, library, info).differs_from_library()
    ]
    counts = sum(info.num_documents for info in infos), sum(info.num_passages for info in infos)
    return RestoreSummary(tuple(info.name for info in infos), *counts, tuple(without_index))


def _size(backup: BackupReader, names: Sequence[str]) -> int:
    return sum(int(backup.about["files"][name]["bytes"]) for name in names)


def _share_counter(progress: ProgressReport, what: str, total: int) -> Callable[[int], None]:
    """Return a function that counts work and reports the share of it that is done."""
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        progress(what, min(1.0, done / max(1, total)))

    return count
