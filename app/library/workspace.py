"""The index of one collection on disk: many readers, one writer, synchronized with the library after an interrupt."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Unpack
from weakref import WeakKeyDictionary

from filelock import FileLock, Timeout

from propcite.app.errors import AppError, InUseError, StoreError
from propcite.app.library.store import CollectionInfo, Library
from propcite.app.library.store.changes import PassageSet
from propcite.app.library.writer_lock import database_lock
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import Index, IndexOptions, IndexStats, ignore_progress
from propcite.retrieval.index.manifest import MANIFEST_FILE
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.sharding.folder import OpenIndex, open_index, replace_folder
from propcite.retrieval.sharding.layout import LAYOUT_FILE, Layout, Version, index_version, read_layout, shard_folders
from propcite.retrieval.sharding.sharded_index import ShardedIndex

if TYPE_CHECKING:
    from propcite.retrieval.index.integrity import Fault
    from propcite.retrieval.sharding.cluster import ClusterIndex

REBUILDING = "rebuilding"  # the folder beside an index's files in which its successor is built
_OPEN: WeakKeyDictionary[OpenIndex, Path] = WeakKeyDictionary()  # of this process: none of them changes any more
_CLUSTERED: dict[tuple[object, ...], ClusterIndex] = {}  # of this process: each sees changes by itself
_SHARING = Lock()
BATCH = 256  # passages encoded and written at once, which bounds the memory that a large document takes


class Workspace:
    """The folder of one collection's index; `progress` reports on long work."""

    def __init__(
        self,
        data_dir: Path,
        library: Library,
        collection: CollectionInfo,
        *,
        cluster: str = "",
        **options: Unpack[IndexOptions],
    ) -> None:
        self.library = library
        self.collection = collection
        self.cluster, self.options = cluster, options
        self.progress = options.get("progress", ignore_progress)
        self.folder = data_dir / "indexes" / str(collection.id)
        self._opened: tuple[Version, OpenIndex] | None = None

    def index(self, encoder: Encoder) -> Index:
        """Return the index as it is on disk, for searching; what another process changed is read, and nothing else.

        With a cluster, an index in shards is searched in the processes there.
        """
        if self.cluster and (layout := read_layout(self.folder)):
            return self._in_cluster(layout, encoder)
        return self._here(encoder)

    def _in_cluster(self, layout: Layout, encoder: Encoder) -> ClusterIndex:
        from propcite.retrieval.sharding.cluster import ClusterIndex

        key = (self.folder, layout, self.cluster, encoder.name)
        with _SHARING:
            if key not in _CLUSTERED:
                _CLUSTERED[key] = ClusterIndex(self.folder, layout, encoder.name, address=self.cluster, **self.options)
            return _CLUSTERED[key]

    def _here(self, encoder: Encoder) -> OpenIndex:
        """Return the index as it is on disk, open in this process."""
        version = self._version()
        if version is None:
            return TokenIndex(encoder.dimension, encoder.name, **self.options)
        if self._opened is None or self._opened[0] != version:
            self._keep(version, self._load(encoder.name))
        assert self._opened
        return self._opened[1]

    def _keep(self, version: Version | None, index: OpenIndex) -> None:
        """Keep an index that does not change any more, for readers, and to share its segments with those to come."""
        self._opened = (version, index) if version else None
        with _SHARING:
            _OPEN[index] = self.folder

    def _load(self, encoder: str = "", *, tolerant: bool = False) -> OpenIndex:
        """Load the index; an error that names a command names the collection with it."""
        with _SHARING:
            kept = [index for index, folder in _OPEN.items() if folder == self.folder]
        earlier = kept[-1] if kept else None
        try:
            return open_index(
                self.folder, encoder, tolerant=tolerant, earlier=None if tolerant else earlier, **self.options
            )
        except IndexFormatError as error:
            command = str(error).rpartition(" run ")[2].startswith("propcite")
            option = f" --collection {shlex.quote(self.collection.name)}" if command else ""
            raise IndexFormatError(f"{error}{option}") from error

    @contextmanager
    def edit(self, encoder: Encoder) -> Iterator[OpenIndex]:
        """Give the index to change: saved when the block ends, discarded when it fails."""
        index = self._to_change(encoder)
        yield index
        index.save(self.folder)
        self._keep(self._version(), index)

    def _to_change(self, encoder: Encoder) -> OpenIndex:
        """Return an index that no reader has."""
        return self._load(encoder.name) if self._version() else self._here(encoder)

    def stats(self) -> IndexStats | None:
        """Return the size of the index; None if nothing was ever added."""
        return self._load().stats() if self._version() else None

    def _version(self) -> Version | None:
        return index_version(self.folder)

    @contextmanager
    def write_lock(self) -> Iterator[Callable[[], None]]:
        """Hold the right to change this collection; raise InUseError while another process has it.

        Gives a function that raises UnreachableError once the right is lost, because the database went away.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / "writer.lock", timeout=0)
            with lock, database_lock(self.library, self.collection.id) as check:
                if check is None:
                    raise Timeout(lock.lock_file)
                yield check
        except Timeout as error:
            raise InUseError(
                f"another process is changing {self.collection.name!r}: try again when it is done"
            ) from error
        except OSError as error:
            raise StoreError(
                f"cannot write {self.folder} ({error.strerror or error}): free space, or set PROPCITE_DATA_DIR"
            ) from error

    def differs_from_library(self) -> bool:
        """Return whether the index has other passages than the library, as after an interrupt or a loss."""
        index = self._load() if self._version() else None
        indexed = PassageSet(len(index), index.digest) if index else PassageSet()
        return indexed != self.library.passage_set(self.collection)

    def sync(self, encoder: Encoder, advance: Callable[[str], None] | None = None) -> int:
        """Make the index hold exactly the library's passages; return how many differed.

        `advance` gets the title of each passage that is encoded, in place of `progress`.
        """
        index = self._to_change(encoder)
        expected = self.library.passage_ids(self.collection)
        indexed = index.ids()
        surplus = indexed - set(expected)
        missing = [i for i in expected if i not in indexed]
        if surplus:
            index.delete(surplus)
            index.save(self.folder)
        for first in range(0, len(missing), BATCH):
            by_id = self.library.passages(missing[first : first + BATCH])
            passages = [by_id[i] for i in missing[first : first + BATCH]]
            index.add(passages, encoder.encode_passages(passages))
            index.save(self.folder)
            if advance is None:
                self.progress("encoding", (first + len(passages)) / len(missing))
            else:
                for passage in passages:
                    advance(passage.title)
        if surplus or missing:
            self._keep(self._version(), index)
        else:  # what called for this was a wrong note of the library's passages
            self.library.forget_passage_set(self.collection)
        return len(surplus) + len(missing)

    def delete_passages(self, ids: Collection[str]) -> None:
        """Delete passages from the index, which needs no encoder."""
        if self._version():
            index = self._load()
            index.delete(ids)
            index.save(self.folder)
            self._keep(self._version(), index)

    def rebuild(self, encoder: Encoder, advance: Callable[[str], None] | None = None) -> int:
        """Build the index again from the library's passages; return their number.

        The old one serves until the new one replaces it as a whole, so an interrupt leaves the old one.
        """
        from propcite.retrieval.sharding.resharding import reshard

        with self.write_lock():
            beside = copy(self)
            beside.folder, beside._opened = self.folder / REBUILDING, None
            shutil.rmtree(beside.folder, ignore_errors=True)
            try:
                count = beside.sync(encoder, advance)
                if count and (layout := self._layout()):
                    reshard(beside.folder, len(layout.places), **self.options)
                self._opened, old = None, self._layout()
                replace_folder(beside.folder, self.folder)
                self.stop_hosts(old.folders(self.folder) if old else [])
            finally:
                shutil.rmtree(beside.folder, ignore_errors=True)
            return count

    def faults(self) -> list[str]:
        """Return one line per damaged file and per difference from the library."""
        return [f"{fault.file}: {fault.problem}" for fault in self._damage()] + self.differences()

    def _damage(self) -> list[Fault]:
        from propcite.retrieval.index.integrity import Fault
        from propcite.retrieval.sharding.folder import check_folder

        try:
            return check_folder(self.folder, self.progress) if self._version() else []
        except IndexFormatError as error:
            return [Fault(MANIFEST_FILE, str(error))]

    def differences(self) -> list[str]:
        """Return one line each for passages that only the library or only the index has."""
        try:
            indexed = self._load(tolerant=True).ids() if self._version() else set()
        except IndexFormatError:
            indexed = set()
        expected = set(self.library.passage_ids(self.collection))
        missing, surplus = len(expected - indexed), len(indexed - expected)
        return [
            f"{number} passages {what}"
            for number, what in ((missing, "of the library are missing"), (surplus, "are not in the library"))
            if number
        ]

    def repair(self, load_encoder: Callable[[], Encoder]) -> int:
        """Repair what `faults` reports; return how many passages were encoded again or deleted.

        The encoder is loaded only if the index differs from the library.
        """
        from propcite.retrieval.sharding.folder import repair_folder

        with self.write_lock():
            self._opened = None
            faults = self._damage()
            if any(fault.file == MANIFEST_FILE for fault in faults):
                for name in (MANIFEST_FILE, LAYOUT_FILE):
                    (self.folder / name).unlink(missing_ok=True)
            elif faults:
                repair_folder(self.folder, faults, **self.options)
            self.library.forget_passage_set(self.collection)
            return self.sync(load_encoder()) if self.differs_from_library() else 0

    def shard_folders(self) -> list[Path]:
        """Return the folders of the index's shards: its own folder where it is in one piece."""
        return shard_folders(self.folder)

    def shard_stats(self) -> list[IndexStats]:
        """Return the size of each shard; empty if nothing was ever added."""
        index = self._load() if self._version() else None
        parts = index.shards if isinstance(index, ShardedIndex) else [index] if index else []
        return [part.stats() for part in parts]

    def divide(self, number: int) -> None:
        """Divide the index into so many shards, or join it into one piece."""
        from propcite.retrieval.sharding.resharding import reshard

        with self.write_lock():
            if not self._version():
                raise IndexFormatError(f"{self.collection.name} has no index to divide yet: propcite ingest PATH")
            self._opened, old = None, self.shard_folders()
            try:
                reshard(self.folder, number, **self.options)
            except ValueError as error:
                raise AppError(str(error)) from error
            self.stop_hosts(old)

    def move_shard(self, number: int, target: Path) -> Path:
        """Move a shard to another disk and return its new folder."""
        from propcite.retrieval.sharding.resharding import move_shard

        with self.write_lock():
            self._opened, old = None, self.shard_folders()
            new = move_shard(self.folder, number, target)
            self.stop_hosts(old[number : number + 1])
            return new

    def shard_hosts(self, encoder: Encoder) -> list[tuple[str, int, str]]:
        """Return the machine, the process and PropCite's version that hold each shard; empty without a cluster."""
        layout = read_layout(self.folder) if self.cluster else None
        return self._in_cluster(layout, encoder).places() if layout else []

    def stop_hosts(self, folders: Sequence[Path] = ()) -> int:
        """End the processes of the cluster that hold these shards, by default all; return how many there were."""
        if not self.cluster:
            return 0
        from propcite.retrieval.sharding.hosts import connect, stop_hosts

        connect(self.cluster)
        with _SHARING:
            for key in [key for key in _CLUSTERED if key[0] == self.folder]:
                del _CLUSTERED[key]
        return stop_hosts(folders or self.shard_folders())

    def _layout(self) -> Layout | None:
        with suppress(IndexFormatError):  # what is damaged is not kept
            return read_layout(self.folder)
        return None

    def compact(self) -> None:
        """Join the index, or each shard, into one segment, without deleted passages."""
        with self.write_lock():
            if self._version():
                self._opened = None
                self._load().compact(self.folder)

    def remove(self) -> None:
        for folder in layout.folders(self.folder) if (layout := self._layout()) else []:
            shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)
