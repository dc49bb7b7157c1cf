"""What changes in files and folders, told in batches when it has come to rest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from propcite.app.errors import AppError
from propcite.app.ingest.readers.kinds import is_known
from propcite.app.ingest.sources import File, Source

REST_MS = 1500  # without a change, after which a batch is told


@dataclass(frozen=True, slots=True)
class Changes:
    """What is there anew or otherwise, and whether something is gone."""

    sources: list[Source]
    gone: bool


def changes(paths: Sequence[Path], stop: Event | None = None, rest_ms: int = REST_MS) -> Iterator[Changes]:
    """Until an interrupt, or until `stop` is set.  The first is told at once: from then on nothing is missed."""
    from watchfiles import Change, watch

    if missing := [path for path in paths if not path.exists()]:
        raise AppError(f"{missing[0]} cannot be watched: name files and folders that are there")
    begun = False
    for batch in watch(
        *paths, stop_event=stop, debounce=10 * rest_ms, step=rest_ms, rust_timeout=rest_ms, yield_on_timeout=True,
        raise_interrupt=False,
    ):  # fmt: skip
        if batch or not begun:
            there = sorted({path for _, path in batch if _is_document(path)})
            yield Changes([File(Path(path)) for path in there], any(what is Change.deleted for what, _ in batch))
        begun = True


def _is_document(path: str) -> bool:
    """Whether it is a file that is read at all; hidden ones are not, as nowhere."""
    name = os.path.basename(path)
    return is_known(name) and not name.startswith((".", "~$")) and os.path.isfile(path)
