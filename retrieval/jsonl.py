"""Read files of JSON lines, gzipped or not."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from propcite.retrieval.errors import RetrievalError


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    try:
        with path.open("rb") as stored, gzip.open(stored) if path.suffix == ".gz" else stored as file:
            for number, line in enumerate(file, start=1):
                if text := line.decode("utf-8-sig").strip():
                    yield number, text
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise RetrievalError(f"{path} cannot be read ({error}): give a file of JSON lines, gzipped or not") from error
