"""A backup of the whole library while others read and write it.

Rows are read out of one moment of the database, and an index is taken when it holds just that moment's passages.  A
writer changes the one a few milliseconds before the other, so another moment is tried until both agree.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from propcite.app.errors import AppError, StoreError
from propcite.app.library.backup.archive import pieces_of, writing
from propcite.app.library.backup.rows import TABLES, lines, one_moment
from propcite.app.library.store import Library
from propcite.app.library.store.database import HEAD, told
from propcite.app.library.store.tables import CollectionRow, DocumentRow, PassageRow, VersionRow, now
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import Told, nobody
from propcite.retrieval.index.snapshot import link, snapshot
from propcite.retrieval.index.token_index import TokenIndex

TRIES, PAUSE_S = 40, 0.05


@dataclass(frozen=True, slots=True)
class Saved:
    """What went into a backup; `notes` tell what a reader of it must know."""

    path: Path
    bytes: int
    collections: int
    documents: int
    passages: int
    answers: int
    indexes: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Moment:
    """The rows of a moment, the folder of each collection's index, if it has one that can be used, and kept files."""

    connection: Connection
    indexes: Mapping[int, Path]
    originals: Mapping[str, Path]
    notes: tuple[str, ...]


def save(
    library: Library, data_dir: Path, path: Path, *, with_index: bool = True, force: bool = False, told: Told = nobody
) -> Saved:
    """Everything that is kept, in one file, which is there whole or not at all."""
    _check(path, force)
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".backup-", dir=data_dir))
    except OSError as error:
        raise StoreError(f"{data_dir} cannot be written ({error.strerror}): set PROPCITE_DATA_DIR") from error
    try:
        with _moment(library, data_dir, folder, with_index) as moment:
            return _written(library, moment, path, told)
    except OSError as error:
        why = error.strerror or error
        raise AppError(f"{path} cannot be written ({why}): free space, or give another file") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check(path: Path, force: bool) -> None:
    if path.is_dir() or not path.parent.is_dir():
        raise AppError(f"{path} cannot be written: name a file in a folder that exists")
    if path.exists() and not force:
        raise AppError(f"{path} is there already: give another name, or --force")


@contextmanager
def _moment(library: Library, data_dir: Path, folder: Path, with_index: bool) -> Iterator[_Moment]:
    """A moment of the database with the indexes that belong to it."""
    for left in reversed(range(TRIES)):
        with told(library.url), ExitStack() as stack:
            connection = stack.enter_context(one_moment(library.engine))
            indexes, notes, torn = _indexes(connection, data_dir, folder if with_index else None)
            if not torn or not left:
                originals = _originals(connection, data_dir, folder)
                yield _Moment(connection, indexes, originals, (*notes, *torn))
                return
        time.sleep(PAUSE_S)


def _indexes(
    connection: Connection, data_dir: Path, folder: Path | None
) -> tuple[dict[int, Path], list[str], list[str]]:
    """Each collection's index as it is now, what cannot be taken along, and which differ from the rows."""
    found: dict[int, Path] = {}
    notes: list[str] = []
    torn: list[str] = []
    for id_, name in connection.execute(select(CollectionRow.id, CollectionRow.name)).all() if folder else ():
        place = folder / str(id_) if folder else Path()
        try:
            if not snapshot(data_dir / "indexes" / str(id_), place):
                continue
            there = TokenIndex.load(place).ids()
        except IndexFormatError as error:
            notes.append(f"the index of {name!r} is left out ({error})")
            continue
        found[id_] = place
        wanted = select(PassageRow.id).join(DocumentRow).where(DocumentRow.collection_id == id_)
        if there != set(connection.scalars(wanted)):
            torn.append(f"the index of {name!r} differs from its passages: propcite doctor --mend after restoring")
    return found, notes, torn


def _originals(connection: Connection, data_dir: Path, folder: Path) -> dict[str, Path]:
    """The kept files of the documents that are or were here, by their names in a backup; others may remove theirs."""
    both = select(DocumentRow.sha256).union(select(VersionRow.sha256))
    found: dict[str, Path] = {}
    for sha256 in sorted(connection.scalars(both)):
        name = f"originals/{sha256[:2]}/{sha256}"
        with suppress(FileNotFoundError):
            link(data_dir / name, folder / sha256)
            found[name] = folder / sha256
    return found


def _written(library: Library, moment: _Moment, path: Path, told: Told) -> Saved:
    connection = moment.connection
    counts = {t.name: connection.scalar(select(func.count()).select_from(t)) or 0 for t in TABLES}
    files = {f"indexes/{id_}/{f.name}": f for id_, place in moment.indexes.items() for f in sorted(place.iterdir())}
    files |= moment.originals
    total = max(1, sum(counts.values()) * 1000 + sum(file.stat().st_size for file in files.values()))
    done = 0

    def went(by: int) -> None:
        nonlocal done
        done += by
        told("backing up", min(1.0, done / total))

    with writing(path, _about(library, connection, moment, counts)) as backup:
        for table in TABLES:
            backup.add(f"rows/{table.name}.jsonl", _counted(lines(connection, table), went), packed=True)
        for name, file in files.items():
            backup.add(name, pieces_of(file, went))
    kept = {name: counts[name] for name in ("collections", "documents", "passages", "answers")}
    return Saved(path, path.stat().st_size, **kept, indexes=len(moment.indexes), notes=moment.notes)


def _counted(given: Iterator[bytes], went: Any) -> Iterator[bytes]:
    for line in given:
        went(1000)
        yield line


def _about(library: Library, connection: Connection, moment: _Moment, counts: Mapping[str, int]) -> dict[str, Any]:
    known = connection.execute(select(CollectionRow.id, CollectionRow.name).order_by(CollectionRow.name))
    return {
        "propcite": version("propcite"),
        "schema": HEAD,
        "made_at": now().isoformat(),
        "database": library.engine.dialect.name,
        "rows": dict(counts),
        "collections": [{"id": i, "name": name, "index": i in moment.indexes} for i, name in known],
        "notes": list(moment.notes),
    }
