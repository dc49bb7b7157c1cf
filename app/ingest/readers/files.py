"""Files and folders: which of them can be read, and each one's bytes and Document."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.kinds import KINDS, is_known, known_suffix, old_kind, reader_of
from propcite.retrieval.text import Document

MOST_BYTES = 64 * 2**20


def find_files(paths: Sequence[Path]) -> tuple[list[Path], list[ReadError]]:
    """The files that are named, and those of a known kind in the folders that are named; each real file once."""
    found: dict[str, Path] = {}
    errors: list[ReadError] = []
    for path in paths:
        try:
            is_folder = stat.S_ISDIR(_status(path).st_mode)
            if not is_folder:
                known_suffix(_shown(path))
        except ReadError as error:
            errors.append(_with_place(error, path))
            continue
        inside, problems = _walk(path) if is_folder else ([path], [])
        if is_folder and not inside and not problems:
            nothing = ReadError(f"{_shown(path)} holds no file that can be read: add one of {KINDS}")
            errors.append(_with_place(nothing, path))
        for file in inside:
            found.setdefault(os.path.realpath(file), file)
        errors += problems
    return list(found.values()), errors


def read_document(path: Path, *, most_bytes: int = MOST_BYTES) -> Document:
    """The document of a file; its id is left to whoever keeps it."""
    return document_from_bytes(_shown(path), read_bytes(path, most_bytes), source_of(path))


def source_of(path: Path) -> str:
    """Where the file itself lies, behind any link, in letters that can be printed and kept."""
    return _printable(os.path.realpath(path))


def read_bytes(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """The file's bytes; a file that is too large is refused before it is read."""
    name, status = _shown(path), _status(path)
    if stat.S_ISDIR(status.st_mode):
        raise ReadError(f"{name} is a folder: name a file in it")
    # Opening a pipe would wait for its other end.
    if not stat.S_ISREG(status.st_mode):
        raise ReadError(f"{name} is not a regular file: copy its content into one and add that")
    size = status.st_size
    if size <= most_bytes:
        try:
            with open(path, "rb") as file:
                data = file.read(most_bytes + 1)
        except OSError as error:
            raise _refusal(path, error) from error
        size = len(data)
    check_size(name, size, most_bytes)
    return data


def check_size(name: str, size: int, most_bytes: int = MOST_BYTES) -> None:
    if size > most_bytes:
        raise ReadError(
            f"{name} is {_megabytes(size)}, over the limit of {_megabytes(most_bytes)}: "
            "split it or raise PROPCITE_MAX_FILE_MB"
        )


def document_from_bytes(name: str, data: bytes, source: str) -> Document:
    """The document of a file's bytes; the name's suffix says how to read them."""
    name = _shown(PurePath(name))
    read = reader_of(name)
    if not data or data.isspace():
        raise ReadError(f"{name} is empty: nothing to add")
    document = read(name, data)
    if not document.text.strip():
        raise ReadError(f"{name} is empty: nothing to add")
    return replace(document, source=source)


def _walk(folder: Path) -> tuple[list[Path], list[ReadError]]:
    """The files of a known kind under a folder, sorted, and what stood in the way."""
    files: list[Path] = []
    errors: list[ReadError] = []

    def note(error: OSError) -> None:
        errors.append(_with_place(_refusal(Path(error.filename), error), Path(error.filename)))

    entered = {os.path.realpath(folder)}
    for place, folders, names in os.walk(folder, onerror=note, followlinks=True):
        folders[:] = _to_enter(place, folders, entered)
        for path in (Path(place, name) for name in names if not name.startswith(".")):
            if is_known(path.name):
                try:
                    _status(path)
                    files.append(path)
                except ReadError as error:
                    errors.append(_with_place(error, path))
            elif refusal := old_kind(path.name):  # a document all the same: who adds the folder means it too
                errors.append(_with_place(refusal, path))
    return sorted(files), errors


def _to_enter(place: str, folders: list[str], entered: set[str]) -> Iterator[str]:
    """The folders to enter and to remember: none that is hidden, none twice, no link back up the walk."""
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
        raise _refusal(path, error) from error


def _refusal(path: Path, error: Exception) -> ReadError:
    name = _shown(path)
    if isinstance(error, PermissionError):
        return ReadError(f"{name} cannot be opened (no permission): let this user read it and add it again")
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        if os.path.islink(path):
            return ReadError(f"{name} is a link to a file that is gone: mend or remove the link")
        return ReadError(f"{name} was not found: check its name and folder")
    return ReadError(
        f"{name} cannot be opened ({getattr(error, 'strerror', None) or error}): check its name and folder"
    )


def _with_place(error: ReadError, path: Path) -> ReadError:
    return ReadError(str(error), _printable(os.path.abspath(path)))


def _printable(path: str) -> str:
    return os.fsencode(path).decode(errors="backslashreplace")


def _shown(path: PurePath) -> str:
    """The file's name as it can be printed and kept: a name need not be UTF-8 on disk."""
    return os.fsencode(path.name or str(path)).decode(errors="replace")


def _megabytes(size: int) -> str:
    return f"{math.ceil(size / 2**20 * 10) / 10:g} MB"
