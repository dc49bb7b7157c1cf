"""A collection's index on disk: opened by readers, changed by one writer, mended when it and the library differ."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from filelock import FileLock, Timeout

from propcite.app.errors import InUseError, StoreError
from propcite.app.library.store import CollectionInfo, Library
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import IndexStats, Told, nobody
from propcite.retrieval.index.manifest import FILE
from propcite.retrieval.index.token_index import IndexOptions, TokenIndex

if TYPE_CHECKING:
    from propcite.retrieval.index.checking import Fault

FILES = ("segment-*", "centroids-*", "faiss-*")
BATCH = 256  # passages encoded and written at once: bounds the memory that a large document takes


class Workspace:
    """Where one collection's index lies."""

    def __init__(
        self, data_dir: Path, library: Library, collection: CollectionInfo, **options: Unpack[IndexOptions]
    ) -> None:
        self.library = library
        self.collection = collection
        self.options = options
        self.told: Told = nobody  # hears how far long work has come
        self.folder = data_dir / "indexes" / str(collection.id)
        self._opened: tuple[tuple[int, int], TokenIndex] | None = None

    def index(self, encoder: Encoder) -> TokenIndex:
        """The index as it is on disk now; read again only when another process has changed it."""
        version = self._version()
        if version is None:
            return TokenIndex(encoder.dimension, encoder.name, **self._options)
        if self._opened is None or self._opened[0] != version:
            self._opened = (version, self._load(encoder.name))
        return self._opened[1]

    @property
    def _options(self) -> IndexOptions:
        return {"told": self.told, **self.options}

    def _load(self, encoder: str = "", *, tolerant: bool = False) -> TokenIndex:
        """What is wrong is told with the collection to mend."""
        try:
            return TokenIndex.load(self.folder, encoder, tolerant=tolerant, **self._options)
        except IndexFormatError as error:
            command = f" --collection {shlex.quote(self.collection.name)}" if ": run propcite" in str(error) else ""
            raise IndexFormatError(f"{error}{command}") from error

    @contextmanager
    def changing(self, encoder: Encoder) -> Iterator[TokenIndex]:
        """The index to change: saved when the block ends, forgotten with its changes when the block fails."""
        index = self.index(encoder)
        self._opened = None
        yield index
        self.save(index)

    def save(self, index: TokenIndex) -> None:
        index.save(self.folder)
        version = self._version()
        self._opened = (version, index) if version else None

    def stats(self) -> IndexStats | None:
        """None where nothing was ever added."""
        return self._load().stats() if self._version() else None

    def _version(self) -> tuple[int, int] | None:
        try:
            stat = (self.folder / FILE).stat()
        except FileNotFoundError:
            return None
        return stat.st_mtime_ns, stat.st_ino

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The right to change this collection; a second writer gets one clear line."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / "writer.lock", timeout=0)
            with lock:
                yield
        except Timeout as error:
            raise InUseError(
                f"another process is changing {self.collection.name!r}: try again when it is done"
            ) from error
        except OSError as error:
            raise StoreError(
                f"{self.folder} cannot be written ({error.strerror or error}): free space or set PROPCITE_DATA_DIR"
            ) from error

    def differs(self) -> bool:
        """Whether the index holds other passages than the library, after an interrupt or a loss."""
        there = self._load().ids() if self._version() else set()
        return there != set(self.library.passage_ids(self.collection))

    def mend(self, encoder: Encoder, advance: Callable[[str], None] | None = None) -> int:
        """Make the index hold just the library's passages, telling each that is read.  -> how many differed"""
        index = self.index(encoder)
        wanted = self.library.passage_ids(self.collection)
        there = index.ids()
        strangers = there - set(wanted)
        missing = [i for i in wanted if i not in there]
        if strangers:
            index.delete(strangers)
            self.save(index)
        for first in range(0, len(missing), BATCH):
            found = self.library.passages(missing[first : first + BATCH])
            passages = [found[i] for i in missing[first : first + BATCH]]
            index.add(passages, encoder.encode_passages(passages))
            self.save(index)
            if advance is None:
                self.told("encoding", (first + len(passages)) / len(missing))
            else:
                for passage in passages:
                    advance(passage.title)
        return len(strangers) + len(missing)

    def forget(self, ids: Collection[str]) -> None:
        """Take passages out of the index; no encoder is needed for that."""
        if self._version():
            index = self._load()
            index.delete(ids)
            self.save(index)

    def rebuild(self, encoder: Encoder, advance: Callable[[str], None] | None = None) -> int:
        """The index made anew from the library's passages.  -> how many"""
        with self.writing():
            for path in (self.folder / FILE, *(p for kind in FILES for p in self.folder.glob(kind))):
                path.unlink(missing_ok=True)
            self._opened = None
            return self.mend(encoder, advance)

    def faults(self) -> list[str]:
        """What is wrong with the index, a line each: damaged files, and what the library holds otherwise."""
        return [f"{fault.file}: {fault.what}" for fault in self._damages()] + self.differences()

    def _damages(self) -> list[Fault]:
        from propcite.retrieval.index.checking import Fault, check_index

        try:
            return check_index(self.folder, self.told) if self._version() else []
        except IndexFormatError as error:
            return [Fault(FILE, str(error))]

    def differences(self) -> list[str]:
        """How many passages the index and the library do not both hold, a line each way."""
        try:
            there = self._load(tolerant=True).ids() if self._version() else set()
        except IndexFormatError:
            there = set()
        wanted = set(self.library.passage_ids(self.collection))
        missing, strangers = len(wanted - there), len(there - wanted)
        return [
            f"{number} passages {what}"
            for number, what in ((missing, "of the library are missing"), (strangers, "are not in the library"))
            if number
        ]

    def repair(self, encoder: Callable[[], Encoder]) -> int:
        """Mend what `faults` tells; the encoder is asked for only if passages are to be read again.  -> how many"""
        from propcite.retrieval.index.checking import mend_index

        with self.writing():
            self._opened = None
            damages = self._damages()
            if any(fault.file == FILE for fault in damages):
                (self.folder / FILE).unlink(missing_ok=True)
            elif damages:
                mend_index(self.folder, damages, **self._options)
            return self.mend(encoder()) if self.differs() else 0

    def compact(self) -> None:
        """One segment, without what was deleted."""
        with self.writing():
            if self._version():
                self._opened = None
                self._load().compact(self.folder)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
