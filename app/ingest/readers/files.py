"""Find the files in folders, and read a file's bytes and its Document."""

from __future__ import annotations

import math
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.kinds import (
    KINDS,
    is_supported,
    legacy_error,
    part_reader_of,
    reader_of,
    supported_suffix,
)
from propcite.app.ingest.readers.questions import with_questions
from propcite.retrieval.text import Document

MAX_BYTES = 64 * 2**20
_SHOWN_KINDS = 4  # of files that are left out


@dataclass(slots=True)
class _Folder:
    """What lies under a folder: the files that can be read, an error for each file or folder that failed, and the rest.

    `num_links` lead out of it, `others` counts the files of other kinds by suffix.
    """

    files: list[Path]
    errors: list[ReadError] = field(default_factory=list)
    num_links: int = 0
    others: Counter[str] = field(default_factory=Counter)

    @property
    def left_out(self) -> Iterator[str]:
        """Yield a line for the links and one for the other files that are left out, if there are any."""
        if self.num_links:
            yield (
                f"{self.num_links} links lead out of it and were left out: --follow-links, or PROPCITE_FOLLOW_LINKS=1, "
                "reads them"
            )
        if count := self.others.total():
            first = self.others.most_common(_SHOWN_KINDS)
            more = ["…"] if len(self.others) > len(first) else []
            kinds = ", ".join([*(f"{number} {suffix or 'without a suffix'}" for suffix, number in first), *more])
            yield f"{count} {'file' if count == 1 else 'files'} of a kind that is not read ({kinds})"


def find_files(
    paths: Sequence[Path], *, follow_links: bool = False, report: Callable[[str], object] = lambda _: None
) -> tuple[list[Path], list[ReadError]]:
    """Return the given files and the supported files in the given folders, each real file once, and what failed.

    Links that lead out of a given folder are left out unless `follow_links` is set.  `report` gets a line per folder
    with the number of these, and one with the number of files of other kinds.
    """
    files: dict[str, Path] = {}
    errors: list[ReadError] = []
    for path in paths:
        try:
            is_folder = stat.S_ISDIR(_status(path).st_mode)
            if not is_folder:
                supported_suffix(_printable_name(path))
        except ReadError as error:
            errors.append(_with_path(error, path))
            continue
        found = _walk(path, follow_links) if is_folder else _Folder([path])
        for left_out in found.left_out:
            report(f"{_printable(str(path))}: {left_out}")
        if not found.files and not found.errors:
            empty = ReadError(f"{_printable_name(path)} contains no file that can be read: add one of {KINDS}")
            errors.append(_with_path(empty, path))
        for file in found.files:
            files.setdefault(os.path.realpath(file), file)
        errors += found.errors
    return list(files.values()), errors


def read_document(path: Path, *, max_bytes: int = MAX_BYTES) -> Document:
    """Read a file's document, without an id."""
    return document_from_bytes(_printable_name(path), read_bytes(path, max_bytes), source_path(path))


def source_path(path: Path) -> str:
    """Return the file's real path, with links resolved, as valid Unicode."""
    return _printable(os.path.realpath(path))


def read_bytes(path: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the file's bytes; a file that is too large raises an error before it is read."""
    name, status = _printable_name(path), _status(path)
    if stat.S_ISDIR(status.st_mode):
        raise ReadError(f"{name} is a folder: name a file inside it")
    # Opening a pipe would wait for its other end.
    if not stat.S_ISREG(status.st_mode):
        raise ReadError(f"{name} is not a regular file: copy its content into one and add it")
    size = status.st_size
    if size <= max_bytes:
        try:
            with open(path, "rb") as file:
                data = file.read(max_bytes + 1)
        except OSError as error:
            raise _read_error(path, error) from error
        size = len(data)
    check_size(name, size, max_bytes)
    return data


def check_size(name: str, size: int, max_bytes: int = MAX_BYTES) -> None:
    if size > max_bytes:
        raise ReadError(
            f"{name} is {_megabytes(size)}, over the limit of {_megabytes(max_bytes)}: "
            "split it or raise PROPCITE_MAX_FILE_MB"
        )


def document_from_bytes(name: str, data: bytes, source: str) -> Document:
    """Read a document from a file's bytes, by the suffix of its name."""
    name = _printable_name(PurePath(name))
    read = reader_of(name)
    if not data or data.isspace():
        raise ReadError(f"{name} is empty: nothing to add")
    document = read(name, data)
    if not document.text.strip():
        raise ReadError(f"{name} is empty: nothing to add")
    return with_questions(replace(document, source=source))


def document_parts(name: str, data: bytes, source: str) -> Iterator[Document]:
    """Yield a document in parts whose texts together are its text; all but large ones have one.

    The parts have the title of the whole; the metadata of the last part are those of the whole.
    """
    name = _printable_name(PurePath(name))
    read = part_reader_of(name)
    if read is None or not data or data.isspace():
        yield document_from_bytes(name, data, source)
        return
    is_empty = True
    for part in read(name, data):
        yield with_questions(replace(part, source=source))
        is_empty = is_empty and not part.text.strip()
    if is_empty:
        raise ReadError(f"{name} is empty: nothing to add")


def _walk(folder: Path, follow_links: bool) -> _Folder:
    """Return what lies under a folder, its files sorted; hidden ones count for nothing."""
    found = _Folder([])

    def is_left_out(path: str) -> bool:
        left_out = not follow_links and leads_out(Path(path), folder)
        found.num_links += left_out
        return left_out

    def note(error: OSError) -> None:
        found.errors.append(_with_path(_read_error(Path(error.filename), error), Path(error.filename)))

    entered = {os.path.realpath(folder)}
    for place, folders, names in os.walk(folder, onerror=note, followlinks=True):
        folders[:] = [name for name in _to_enter(place, folders, entered) if not is_left_out(os.path.join(place, name))]
        for path in (Path(place, name) for name in names if not name.startswith(".")):
            legacy = legacy_error(path.name)  # it is a document, so the user expects it to be added
            if not is_supported(path.name) and not legacy:
                found.others[_printable(path.suffix.lower())] += 1
            elif is_left_out(str(path)):
                continue
            elif legacy:
                found.errors.append(_with_path(legacy, path))
            else:
                try:
                    _status(path)
                    found.files.append(path)
                except ReadError as error:
                    found.errors.append(_with_path(error, path))
    found.files.sort()
    return found


def leads_out(path: Path, folder: Path) -> bool:
    """Return whether a path is a link to something outside a folder; one to nothing leads nowhere."""
    return path.is_symlink() and path.exists() and not is_within(path, [folder])


def is_within(path: Path | str, folders: Sequence[Path]) -> bool:
    """Return whether a path is one of the folders or files, or lies in one of them, once links are followed."""
    real = os.path.realpath(path)
    return any(Path(real).is_relative_to(os.path.realpath(folder)) for folder in folders)


def _to_enter(place: str, folders: list[str], entered: set[str]) -> Iterator[str]:
    """Yield the folders to enter, and remember them in `entered`: no hidden ones, no links back up the walk."""
    for name in sorted(folders):
        real = os.path.realpath(os.path.join(place, name))
        leads_up = any(Path(inner).is_relative_to(real) for inner in entered)
        if not name.startswith(".") and not leads_up:
            entered.add(real)
            yield name


def _status(path: Path) -> os.stat_result:
    try:
        return os.stat(path)
    except (OSError, ValueError) as error:
        raise _read_error(path, error) from error


def _read_error(path: Path, error: Exception) -> ReadError:
    name = _printable_name(path)
    if isinstance(error, PermissionError):
        return ReadError(f"{name} cannot be opened (no permission): let this user read it and add it again")
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        if os.path.islink(path):
            return ReadError(f"{name} is a link to a missing file: fix or remove the link")
        return ReadError(f"{name} was not found: check its name and folder")
    return ReadError(
        f"{name} cannot be opened ({getattr(error, 'strerror', None) or error}): check its name and folder"
    )


def _with_path(error: ReadError, path: Path) -> ReadError:
    return ReadError(str(error), _printable(os.path.abspath(path)))


def _printable(path: str) -> str:
    return os.fsencode(path).decode(errors="backslashreplace")


def _printable_name(path: PurePath) -> str:
    """Return the file's name as valid Unicode: on disk it need not be UTF-8."""
    return os.fsencode(path.name or str(path)).decode(errors="replace")


def _megabytes(size: int) -> str:
    return f"{math.ceil(size / 2**20 * 10) / 10:g} MB"
