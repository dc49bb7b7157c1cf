"""Watch files and folders, and report their changes in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from propcite.app.errors import AppError
from propcite.app.ingest.readers.files import is_within
from propcite.app.ingest.readers.kinds import is_supported
from propcite.app.ingest.sources import File, Source

QUIET_MS = 1500  # a batch ends after this time without a change


@dataclass(frozen=True, slots=True)
class Changes:
    """New and modified files, and whether any file was deleted."""

    sources: list[Source]
    deleted: bool


def watch(
    paths: Sequence[Path], stop: Event | None = None, quiet_ms: int = QUIET_MS, *, follow_links: bool = False
) -> Iterator[Changes]:
    """Yield batches of changes until an interrupt, or until `stop` is set.

    The first batch comes at once and may be empty: no change after it is missed.  What links lead to outside the paths
    is left out unless `follow_links` is set.
    """
    import watchfiles

    if missing := [path for path in paths if not path.exists()]:
        raise AppError(f"{missing[0]} cannot be watched: name files and folders that exist")
    begun = False
    for batch in watchfiles.watch(
        *paths, stop_event=stop, debounce=10 * quiet_ms, step=quiet_ms, rust_timeout=quiet_ms, yield_on_timeout=True,
        raise_interrupt=False,
    ):  # fmt: skip
        if batch or not begun:
            changed = {path for _, path in batch if _is_document(path)}
            files = sorted(path for path in changed if follow_links or is_within(path, paths))
            deleted = any(change is watchfiles.Change.deleted for change, _ in batch)
            yield Changes([File(Path(path)) for path in files], deleted)
        begun = True


def _is_document(path: str) -> bool:
    """Whether a path is a file that an ingest of its folder would read."""
    name = os.path.basename(path)
    return is_supported(name) and not name.startswith((".", "~$")) and os.path.isfile(path)
