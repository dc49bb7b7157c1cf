"""What the files that are measured on have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from propcite.app.errors import AppError


def digest_of(path: Path) -> str:
    """The file's sha256: a run names what it was measured on."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise AppError(f"{path} cannot be read ({error.strerror}): give a file") from error


def digests_of(files: Sequence[Path]) -> dict[str, str]:
    """The files' sha256 by their names, which is how items are known: no two may be named alike."""
    found: dict[str, str] = {}
    for file in files:
        if file.name in found:
            raise AppError(f"two files are named {file.name}: give one of them another name")
        found[file.name] = digest_of(file)
    return found
