"""Files that a run measures: their digests, and their rows checked line by line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from propcite.app.errors import AppError
from propcite.retrieval.jsonl import numbered_lines

Row = TypeVar("Row")


def file_digest(path: Path) -> str:
    """Return a file's sha256, which a run stores to name what it measured."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise AppError(f"cannot read {path} ({error.strerror}): give a file") from error


def file_digests(files: Sequence[Path]) -> dict[str, str]:
    """Return the files' sha256 by name; no two may have the same name, since item ids begin with it."""
    digests: dict[str, str] = {}
    for file in files:
        if file.name in digests:
            raise AppError(f"two files are named {file.name}: rename one of them")
        digests[file.name] = file_digest(file)
    return digests


def read_rows(path: Path, rows: TypeAdapter[Row], form: str) -> Iterator[tuple[int, Row]]:
    """Yield each line's number and checked row; `form` shows users what a row looks like."""
    for number, line in numbered_lines(path):
        try:
            yield number, rows.validate_json(line)
        except ValidationError as error:
            raise row_error(path, number, first_error(error), form) from error


def row_error(path: Path, number: int, reason: str, form: str) -> AppError:
    return AppError(f"{path}, line {number}: {reason}; a row is {form}")


def first_error(error: ValidationError, root: str = "") -> str:
    """Return the first error as "place: message"; `root` names the place if it is the whole value."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"])) or root
    return f"{place}: {first['msg']}" if place else first["msg"]
