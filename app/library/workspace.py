"""The index of one collection on disk: many readers, one writer, synchronized with the library after an interrupt."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from filelock import FileLock, Timeout

from propcite.app.errors import InUseError, StoreError
from propcite.app.library.index_versions import IndexVersions
from propcite.app.library.open_indexes import ClusterUse, open_in_cluster, open_sharing, share, stop_hosts
from propcite.app.library.store import CollectionInfo, Library
from propcite.app.library.store.changes import PassageSet
from propcite.app.library.writer_lock import database_lock
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import IndexFormatError, OtherVersionError
from propcite.retrieval.index import Index, IndexOptions, IndexStats, ignore_progress
from propcite.retrieval.index.manifest import MANIFEST_FILE
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.remote.objects import ObjectStore
from propcite.retrieval.remote.published_index import PublishedIndex
from propcite.retrieval.sharding.folder import OpenIndex, replace_folder
from propcite.retrieval.sharding.layout import LAYOUT_FILE, Layout, Version, Versions, index_version, read_layout

if TYPE_CHECKING:
    from propcite.retrieval.index.integrity import Fault
    from propcite.retrieval.sharding.cluster import ClusterIndex

REBUILDING = "rebuilding"  # the folder beside an index's files in which its successor is built
BATCH = 256  # passages encoded and written at once, which bounds the memory that a large document takes


class Workspace:
    """The folder of one collection's index; `progress` reports on long work."""

    def __init__(
        self,
        data_dir: Path,
        library: Library,
        collection: CollectionInfo,
        *,
        cluster: ClusterUse | None = None,
        storage: str = "",
        **options: Unpack[IndexOptions],
    ) -> None:
        self.library = library
        self.collection = collection
        self.cluster, self.options = cluster, options
        self.progress = options.get("progress", ignore_progress)
        self.folder = data_dir / "indexes" / str(collection.id)
        self.published: PublishedIndex | None = None
        if storage:  # collections of another database may have the same numbers
            name = f"indexes/{collection.id}-{collection.created_at:%Y%m%d%H%M%S%f}"
            self.published = PublishedIndex(ObjectStore(storage).below(name), self.folder)
        self.versions = IndexVersions(library, collection, self.folder, self.published, self.progress)
        self._opened: tuple[Version | Versions, OpenIndex] | None = None

    def index(self, encoder: Encoder) -> Index:
        """Return the index that belongs to the documents as they are, for searching; only what has changed is read.

        With a cluster, an index in shards is searched in the processes there.
        """
        return self.versions.open(partial(self._index_at, encoder))

    def _index_at(self, encoder: Encoder, versions: Versions | None) -> Index:
        if self.cluster:
            self.versions.fetch(versions, (), soon=True)
            if layout := read_layout(self.folder):
                return self.in_cluster(layout, encoder)
        self.versions.fetch(versions, soon=True)
        return self._here(encoder, versions)

    def in_cluster(self, layout: Layout, encoder: Encoder) -> ClusterIndex:
        """Return the index as the processes of the cluster have it open."""
        assert self.cluster
        storage = self.published.objects.address if self.published else ""
        name, now = encoder.name, self.versions.now
        return open_in_cluster(self.folder, layout, name, self.cluster, storage, now, **self.options)

    def _here(self, encoder: Encoder, versions: Versions | None = None) -> OpenIndex:
        """Return the index in these versions, by default as it is on disk, open in this process."""
        version = versions or self._version()
        if version is None:
            return TokenIndex(encoder.dimension, encoder.name, **self.options)
        if self._opened is None or self._opened[0] != version:
            self._keep(version, self._load(encoder.name, at=versions))
        assert self._opened
        return self._opened[1]

    def _keep(self, version: Version | Versions | None, index: OpenIndex) -> None:
        """Keep an index that does not change any more, for readers, and to share its segments with those to come."""
        self._opened = (version, index) if version else None
        share(index, self.folder)

    def _load(self, encoder: str = "", *, tolerant: bool = False, at: Versions | None = None) -> OpenIndex:
        """Load the index; an error that names a command names the collection with it."""
        try:
            return open_sharing(self.folder, encoder, tolerant=tolerant, at=at, **self.options)
        except OtherVersionError:
            raise
        except IndexFormatError as error:
            command = str(error).rpartition(" run ")[2].startswith("propcite")
            option = f" --collection {shlex.quote(self.collection.name)}" if command else ""
            raise IndexFormatError(f"{error}{option}") from error

    def to_change(self, encoder: Encoder) -> OpenIndex:
        """Return an index that no reader has."""
        return self._load(encoder.name) if self._version() else self._here(encoder)

    def commit(self, index: OpenIndex, change_rows: Callable[[], object]) -> None:
        """Let the changes of an index and those of rows count at once, or neither."""
        self._keep(self.versions.commit(index, change_rows), index)

    def stats(self) -> IndexStats | None:
        """Return the size of the index; None if nothing was ever added."""
        return index.stats() if (index := self.load()) else None

    def load(self) -> OpenIndex | None:
        """Return the index in this process; None if nothing was ever added."""
        self.fetch()
        return self._load() if self.exists() else None

    def fetch(self) -> None:
        """Bring what belongs to the documents from the storage; without a storage nothing is done."""
        if self.published:
            self.versions.fetch(self.versions.now(), soon=True)

    def exists(self) -> bool:
        """Return whether anything was ever added."""
        return self._version() is not None

    def _version(self) -> Version | None:
        return index_version(self.folder)

    @contextmanager
    def write_lock(self) -> Iterator[Callable[[], None]]:
        """Hold the right to change this collection's documents; raise InUseError while another process has it.

        Gives a function that raises UnreachableError once the right is lost, because the database went away.
        """
        with self.exclusive() as check:
            self.versions.begin()
            yield check
            check()  # what is no longer ours is not published
            self.versions.note()

    @contextmanager
    def exclusive(self) -> Iterator[Callable[[], None]]:
        """Keep other writers out, as `write_lock` does, of a collection that is removed or replaced as a whole."""
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
        index = self.to_change(encoder)
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

    def delete_passages(self, ids: Collection[str], change_rows: Callable[[], object]) -> None:
        """Delete passages from the index, which needs no encoder, and their rows at once."""
        if self._version():
            index = self._load()
            index.delete(ids)
            self.commit(index, change_rows)
        else:
            change_rows()

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
                if self.cluster and old:
                    stop_hosts(self.cluster, self.folder, old.folders(self.folder))
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

    @contextmanager
    def replacing_files(self) -> Iterator[None]:
        """Hold the right to change this collection while its index's files are replaced by others."""
        with self.write_lock():
            self._opened = None
            yield

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
        if self.published:
            self.published.remove()
