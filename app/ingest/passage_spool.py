"""Passages of a large document in a temporary file, so that they are not all in memory at once."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from propcite.retrieval.text import Passage

SPOOL_FROM = 1024  # passages; fewer stay in memory
BATCH = 256


@dataclass(frozen=True, slots=True)
class PassageSpool:
    """The passages in a file, in order; each iteration reads it again."""

    path: Path
    num: int

    def __len__(self) -> int:
        return self.num

    def __iter__(self) -> Iterator[Passage]:
        with self.path.open("rb") as file:
            for _ in range(0, self.num, BATCH):
                yield from pickle.load(file)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


Passages = list[Passage] | PassageSpool


def spooled(passages: Iterable[Passage], folder: Path | None) -> Passages:
    """Return passages as a list, or many of them as a file in the folder, if one is given."""
    passages = iter(passages)
    first = list(islice(passages, SPOOL_FROM if folder else None))
    if len(first) < SPOOL_FROM or folder is None:
        return first
    rest, num = chain(first, passages), 0
    handle, name = tempfile.mkstemp(dir=folder)
    with os.fdopen(handle, "wb") as file:
        while batch := list(islice(rest, BATCH)):
            pickle.dump(batch, file, pickle.HIGHEST_PROTOCOL)
            num += len(batch)
    return PassageSpool(Path(name), num)
