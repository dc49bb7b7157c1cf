"""A backup back into a library: everything is taken out and compared first, then rows come in one transaction.

An index's folder follows its rows.  What is stopped between the two is a library without that index, which the next
`propcite ingest`, `reindex` or `doctor --mend` makes from the passages.
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
from propcite.app.library.backup.archive import Backup, BackupError, reading
from propcite.app.library.backup.rows import Loading, Rows, clear, empty, read_lines
from propcite.app.library.store import CollectionInfo, Library
from propcite.app.library.store.database import told as told_of
from propcite.app.library.store.tables import CollectionRow
from propcite.app.library.workspace import Workspace
from propcite.retrieval.index import Told, nobody


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back, by the names of the collections; those without an index need one made."""

    collections: tuple[str, ...]
    documents: int
    passages: int
    without_index: tuple[str, ...]


def restore(
    path: Path,
    open_library: Callable[[], Library],
    data_dir: Path,
    *,
    collection: str = "",
    force: bool = False,
    told: Told = nobody,
) -> Restored:
    """All that a backup holds, or one collection of it.  The library is opened when the backup is known to be whole."""
    with reading(path) as backup, _beside(data_dir) as folder:
        named = _collections(backup, collection)
        folders = ["rows/", *(f"indexes/{id_}/" for id_ in named), "originals/"]
        names = [name for start in folders for name in backup.names(start)]
        backup.take_out(names, folder, _sharing(told, "reading", _size(backup, names)))
        read = read_lines(folder / "rows", str(backup.about["schema"]))
        library = open_library()
        numbers = _loaded(backup, library, data_dir, read, collection, force, told)
        _move_originals(library, folder / "originals", data_dir / "originals")
        for old, new in numbers.items():
            _move(folder / "indexes" / str(old), data_dir / "indexes" / str(new))
        return _told(library, data_dir, [named[old] for old in numbers])


def _collections(backup: Backup, wanted: str) -> dict[int, str]:
    known = {int(c["id"]): str(c["name"]) for c in backup.about["collections"]}
    if wanted and wanted not in known.values():
        there = ", ".join(known.values()) or "none"
        raise BackupError(f"{backup.path} holds no collection {wanted!r}: there is {there}")
    return {i: name for i, name in known.items() if not wanted or name == wanted}


@contextmanager
def _beside(data_dir: Path) -> Iterator[Path]:
    """A folder on the same disk, so that what was compared needs only a new name."""
    try:
        is_new = not data_dir.exists()
        data_dir.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".restore-", dir=data_dir))
    except OSError as error:
        raise StoreError(f"{data_dir} cannot be written ({error.strerror}): give another --into") from error
    try:
        yield folder
    except OSError as error:
        why = error.strerror or error
        raise StoreError(f"{data_dir} cannot take it ({why}): free space, or give another --into") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if is_new:
            with suppress(OSError):
                data_dir.rmdir()  # if nothing came


def _loaded(
    backup: Backup, library: Library, data_dir: Path, read: Rows, collection: str, force: bool, told: Told
) -> dict[int, int]:
    """Every row in one transaction.  -> the new numbers of the collections"""
    there = library.collections()
    replaced = [c for c in there if not collection or c.name == collection] if force else []
    with ExitStack() as held:
        for info in replaced:
            held.enter_context(Workspace(data_dir, library, info).writing())
        with told_of(library.url), library.engine.begin() as connection:
            _make_room(connection, there, collection, force)
            loading = Loading(connection, collection)
            loading.load(read, _sharing(told, "restoring", sum(backup.about["rows"].values())))
    for info in replaced:
        Workspace(data_dir, library, info).remove()
    return loading.collections


def _make_room(connection: Connection, there: Sequence[CollectionInfo], collection: str, force: bool) -> None:
    """Nothing is overwritten unasked."""
    if collection:
        taken = [info for info in there if info.name == collection]
        if taken and not force:
            raise AppError(f"there is a collection {collection!r} already: --force puts the backup's in its place")
        for info in taken:
            connection.execute(delete(CollectionRow).where(CollectionRow.id == info.id))
    elif force:
        clear(connection)
    elif not empty(connection):
        names = ", ".join(sorted(connection.scalars(select(CollectionRow.name)))[:5]) or "keys or runs"
        raise AppError(
            f"the library is not empty (it holds {names}): restore --into another folder, one --collection, or --force"
        )


def _move_originals(library: Library, folder: Path, place: Path) -> None:
    """The files that were kept for what came back."""
    there = {path.name: path for path in folder.glob("*/*")}
    for sha256 in library.contents_in_use(there):
        target = place / sha256[:2] / sha256
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(there[sha256], target)


def _move(folder: Path, place: Path) -> None:
    if folder.is_dir():
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(folder, place)


def _told(library: Library, data_dir: Path, names: Sequence[str]) -> Restored:
    infos = [info for info in library.collections() if info.name in names]
    lacking = [info.name for info in infos if info.num_passages and Workspace(data_dir, library, info).differs()]
    counts = sum(info.num_documents for info in infos), sum(info.num_passages for info in infos)
    return Restored(tuple(info.name for info in infos), *counts, tuple(lacking))


def _size(backup: Backup, names: Sequence[str]) -> int:
    return sum(int(backup.about["files"][name]["bytes"]) for name in names)


def _sharing(told: Told, what: str, total: int) -> Callable[[int], None]:
    done = 0

    def went(by: int) -> None:
        nonlocal done
        done += by
        told(what, min(1.0, done / max(1, total)))

    return went
