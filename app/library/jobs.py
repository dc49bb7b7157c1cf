"""Jobs that read documents, as the queue has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from propcite.app.ingest.outcomes import Outcome, Progress

JobState = Literal["waiting", "reading", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What became of a web address: the file's name, or why it could not be fetched."""

    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """Uploaded files that are added to a collection, and `sources`: paths and addresses that are read where they are.

    `again` also reads unchanged documents; without files and sources, all that an earlier version of the readers read.
    `done` counts the sources that have an outcome.
    """

    id: str
    collection: str
    files: tuple[str, ...]
    sources: tuple[str, ...] = ()
    again: bool = False
    state: JobState = "waiting"
    reason: str = ""
    done: int = 0
    progress: Progress | None = None
    fetched: tuple[Fetched, ...] | None = None
    is_cancelled: bool = False
    by: str = ""

    @property
    def has_ended(self) -> bool:
        return self.state in ("done", "failed")

    @property
    def is_of_all(self) -> bool:
        """Whether all is read that an earlier version of the readers read."""
        return self.again and not (self.files or self.sources)

    @property
    def total(self) -> int:
        """The number of documents; an archive counts as one until it was opened."""
        return self.progress.total if self.progress else len(self.files) + len(self.sources)

    @property
    def num_left(self) -> int:
        """The number of documents that are still to be read; 0 once it has ended."""
        return 0 if self.has_ended else max(0, self.total - self.done)


@dataclass(frozen=True, slots=True)
class News:
    """What a worker knows of its job: outcomes since it took it, when `before` were stored, and how far it has come."""

    outcomes: Sequence[Outcome] = ()
    before: int = 0
    progress: Progress | None = None
