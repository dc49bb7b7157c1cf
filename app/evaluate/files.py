"""What the files that are measured on have in common."""

from __future__ import annotations

import hashlib
from pathlib import Path

from app.errors import AppError


def digest_of(path: Path) -> str:
    """The file's sha256: a run names what it was measured on."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise AppError(f"{path} cannot be read ({error.strerror}): give a file") from error
