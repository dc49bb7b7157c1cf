"""An index in an object store: each version is one object that names all files of it, created once and never changed.

Files have names of their own and are never changed either, but for lists of deletions, which grow: their length is
part of the object's name.  Two machines cannot create the same version, so the second writer fails and loses nothing:
what it wrote is made again from the library.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from filelock import FileLock

from propcite.retrieval.errors import IndexFormatError, StorageError
from propcite.retrieval.index import ProgressReport, ignore_progress
from propcite.retrieval.index.container import replace_durably
from propcite.retrieval.index.live_segment import DELETED_DTYPE, deleted_path
from propcite.retrieval.index.manifest import MANIFEST_FILE, read_manifest
from propcite.retrieval.index.snapshot import referenced_files
from propcite.retrieval.remote.objects import MissingObjectError, ObjectStore, no_space
from propcite.retrieval.remote.versions import IndexVersion, Part, number_of, version_object
from propcite.retrieval.sharding.folder import remove_leftovers
from propcite.retrieval.sharding.layout import LAYOUT_FILE, Layout, index_version, read_layout, shard_folders

FETCHED_FILE = "fetched.json"  # in the folder of an index: the version that is there
PART_FILE = "fetched-part.json"  # in the folder of each part: the number of the version that is there
LOCK_FILE = "fetched.lock"
KEPT_VERSIONS = 8  # so that who reads a version that was just replaced finds its files
LOOK_EVERY_S = 1.0
LOOK_AGAIN_S = 30.0  # after the storage did not answer
AT_ONCE = 8
ENTRY_BYTES = DELETED_DTYPE.itemsize
TRIES = 20

_log = logging.getLogger("propcite.storage")
_look_from: dict[tuple[str, Path], float] = {}  # when this process looks for a later version again


class PublishedIndex:
    """The index of a folder in an object store; `fetch` brings the latest version, `publish` puts a new one there."""

    def __init__(self, objects: ObjectStore, folder: Path) -> None:
        self.objects, self.folder = objects, folder

    # Reading

    def fetch(
        self,
        places: Collection[str] | None = None,
        *,
        soon: bool = False,
        number: int = 0,
        progress: ProgressReport = ignore_progress,
    ) -> None:
        """Bring the latest version to the folder, if it has another one; of a divided index these shards, or all.

        With a `number` it is that version, unless the folder has it or a later one.  `soon` looks for the latest at
        most once a second, and where the storage does not answer, what is here goes on serving.
        """
        key, now = (self.objects.address, self.folder), time.monotonic()
        may_wait = soon and index_version(self.folder) is not None
        if may_wait and now < _look_from.get(key, now):
            return
        if not number:
            _look_from[key] = now + LOOK_EVERY_S
        try:
            try:
                self._fetch(places, progress, self.objects.impatient() if may_wait else self.objects, number)
            except OSError as error:
                raise StorageError(no_space(self.folder, error)) from error
        except StorageError as error:
            if not may_wait:
                raise
            _look_from[key] = time.monotonic() + LOOK_AGAIN_S
            _log.warning("%s; the index as it was last fetched is searched", error)

    def _fetch(self, places: Collection[str] | None, progress: ProgressReport, listed: ObjectStore, named: int) -> None:
        for tried in range(TRIES):
            number = _latest(listed) if tried or not named else named
            if not number:
                return
            try:
                with self._locked():
                    known = self.fetched()
                    if known and number == named:
                        number = max(number, known.number)
                    version = known if known and known.number == number else self._read(number, listed)
                    missing = self._missing(version, known, places)
                    if missing is not None:
                        self._take(version, missing, progress)
                return
            except (MissingObjectError, ValueError) as error:  # replaced since it was listed, or not written to its end
                if tried == TRIES - 1:
                    raise StorageError(
                        f"the latest version of the index at {self.objects.address} cannot be read ({error}): remove "
                        "that folder there, then run propcite storage push where the index is, else propcite reindex"
                    ) from error
                time.sleep(0.01 * tried)

    def latest(self) -> int:
        """Return the number of the latest version; 0 if there is none."""
        return _latest(self.objects)

    def version(self) -> IndexVersion | None:
        """Return the latest version; None if there is none."""
        number = self.latest()
        try:
            return self._read(number) if number else None
        except ValueError as error:
            name = f"{self.objects.address}/{version_object(number)}"
            raise StorageError(f"{name} is damaged: remove it, and the version before it counts") from error

    def fetched(self) -> IndexVersion | None:
        """Return the version that the folder has from this storage, or has put there; None if it has none."""
        try:
            content = (self.folder / FETCHED_FILE).read_bytes()
            return IndexVersion.from_json(content) if json.loads(content)["of"] == self.objects.address else None
        except (OSError, ValueError, KeyError):
            return None

    def _read(self, number: int, objects: ObjectStore | None = None) -> IndexVersion:
        return IndexVersion.from_json((objects or self.objects).read(version_object(number)))

    def _missing(
        self, version: IndexVersion, known: IndexVersion | None, places: Collection[str] | None
    ) -> list[Part] | None:
        """Return the wanted parts that the folder has in another version; None if all is as it should be."""
        wanted = [part for part in version.parts if places is None or not version.is_divided or part.place in places]
        here = [part for part in wanted if self._has(self._place(version, part), version.number)]
        is_known = known is not None and known.number == version.number
        return None if is_known and len(here) == len(wanted) else [part for part in wanted if part not in here]

    def _take(self, version: IndexVersion, parts: Sequence[Part], progress: ProgressReport) -> None:
        """Download files, then replace what names them, so that a reader finds one version or the other."""
        folders = [(part, self._place(version, part)) for part in parts]
        wanted = []
        for part, folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.glob(".*.part"):
                path.unlink(missing_ok=True)
            wanted += [
                (name, folder / file, size)
                for file, (name, size) in part.files.items()
                if name != file or _size(folder / file) != size
            ]
        self._transfer(self._download, wanted, partial(progress, "fetching the index"))
        for part, folder in folders:
            replace_durably(folder / MANIFEST_FILE, part.manifest.encode())
            self._note_part(folder, version)
        if version.is_divided:
            places = [self._place(version, part) for part in version.parts]
            Layout(tuple(p.name if p.parent == self.folder else str(p) for p in places)).write(self.folder)
        else:
            (self.folder / LAYOUT_FILE).unlink(missing_ok=True)
        self._note(version)
        remove_leftovers(self.folder)

    def _download(self, name: str, path: Path, size: int) -> None:
        self.objects.download(f"files/{name}", path)
        if (got := _size(path)) != size:
            path.unlink(missing_ok=True)
            raise StorageError(f"{name} came with {got} of {size} bytes from {self.objects.address}: try again")

    def _place(self, version: IndexVersion, part: Part) -> Path:
        """Return the folder of a part: where a shard was moved to another disk, there."""
        if not version.is_divided:
            return self.folder
        with suppress(IndexFormatError):
            if layout := read_layout(self.folder):
                return next((p for p in layout.folders(self.folder) if p.name == part.place), self.folder / part.place)
        return self.folder / part.place

    # Writing

    def publish(
        self,
        progress: ProgressReport = ignore_progress,
        names: Mapping[str, str] | None = None,
        *,
        fenced: bool = False,
    ) -> int:
        """Put the folder's version into the storage, if it differs, and return its number; 0 if there is none.

        `names` are versions that are prepared (`Versions`).  StorageError if another machine has put one meanwhile, but
        for a writer that is `fenced` by what says which version counts: then that one is left over from a stop.
        """
        if not names and not any((place / MANIFEST_FILE).exists() for place in shard_folders(self.folder)):
            return 0
        with self._locked():
            known, latest = self.fetched(), self.latest()
            version = self._here(latest + 1 if fenced else known.number + 1 if known else 1, names or {})
            if not latest:  # it was removed there, with its files
                known = None
            if known and version.says_the_same(known):
                return known.number
            there, sizes = set(known.objects if known else ()), version.objects
            files = dict(self._uploads(version))
            self._transfer(
                self._upload,
                [(name, path, sizes[name]) for name, path in files.items() if name not in there],
                partial(progress, "storing the index"),
            )
            if not self.objects.create(version_object(version.number), version.to_json()):
                raise StorageError(
                    f"another machine has changed the index at {self.objects.address} meanwhile: run it again, "
                    "nothing is lost"
                )
            for part in version.parts:
                self._note_part(self._place(version, part), version)
            self._note(version)
        self._forget_old(version)
        return version.number

    def _here(self, number: int, names: Mapping[str, str]) -> IndexVersion:
        """Return the version that is in the folder."""
        divided, parts = read_layout(self.folder) is not None, []
        for place in shard_folders(self.folder):
            manifest = read_manifest(place, names.get(place.name if divided else "", ""))
            deletions = {deleted_path(place, entry.name): entry for entry in manifest.segments if entry.deleted}
            files: dict[str, tuple[str, int]] = {}
            for path in referenced_files(place, manifest):
                if entry := deletions.get(path):
                    name, size = f"{path.name}-{entry.deleted}-{entry.deleted_sum}", entry.deleted * ENTRY_BYTES
                    files[path.name] = name, size
                elif (length := _size(path)) is not None:  # what can be derived again may be missing
                    files[path.name] = path.name, length
            parts.append(Part(place.name if divided else "", manifest.to_json(), files))
        return IndexVersion(number, divided, tuple(parts))

    def _uploads(self, version: IndexVersion) -> Iterator[tuple[str, Path]]:
        for part in version.parts:
            place = self._place(version, part)
            yield from ((name, place / file) for file, (name, _) in part.files.items())

    def _upload(self, name: str, path: Path, size: int) -> None:
        if _size(path) == size:
            self.objects.upload(path, f"files/{name}")
        else:  # a list of deletions: a writer may append to it, so only the valid part is stored
            with path.open("rb") as file:
                self.objects.write(f"files/{name}", file.read(size))

    def _forget_old(self, version: IndexVersion) -> None:
        """Remove old versions, and the files that only they name."""
        with suppress(MissingObjectError, ValueError):  # another writer has removed one
            numbers = sorted(map(number_of, self.objects.names("versions")))
            old = [number for number in numbers if number <= version.number - KEPT_VERSIONS]
            if not old:
                return
            kept = {name for number in numbers if number not in old for name in self._read(number).objects}
            dropped = {name for number in old for name in self._read(number).objects}
            self.objects.remove(f"files/{name}" for name in sorted(dropped - kept))
            self.objects.remove(map(version_object, old))

    def remove(self) -> None:
        """Remove all versions and all files."""
        self.objects.remove(self.objects.names())

    # Both

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let one process of this machine at a time change what the folder has from the storage."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / LOCK_FILE):
            yield

    def _note(self, version: IndexVersion) -> None:
        replace_durably(self.folder / FETCHED_FILE, version.to_json(of=self.objects.address))

    def _note_part(self, folder: Path, version: IndexVersion) -> None:
        replace_durably(folder / PART_FILE, json.dumps({"of": self.objects.address, "number": version.number}).encode())

    def _has(self, folder: Path, number: int) -> bool:
        try:
            return bool(json.loads((folder / PART_FILE).read_bytes()) == {"of": self.objects.address, "number": number})
        except (OSError, ValueError):
            return False

    def _transfer(
        self,
        one: Callable[[str, Path, int], None],
        files: Iterable[tuple[str, Path, int]],
        report: Callable[[float], None],
    ) -> None:
        """Move files side by side, the largest first."""
        ordered = sorted(files, key=lambda file: -file[2])
        total, done = sum(size for *_, size in ordered) or 1, 0
        with ThreadPoolExecutor(AT_ONCE, "propcite-storage") as pool:
            for (*_, size), _done in zip(ordered, pool.map(lambda file: one(*file), ordered), strict=True):
                done += size
                report(done / total)


def _latest(objects: ObjectStore) -> int:
    return max(map(number_of, objects.names("versions")), default=0)


def _size(path: Path) -> int | None:
    """Return the size of a file; None if it is not there."""
    with suppress(OSError):
        return path.stat().st_size
    return None
