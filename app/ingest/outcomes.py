"""What became of each source of an ingest, and how far the ingest has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from propcite.retrieval.fidelity import WHOLE, Fidelity

State = Literal["added", "changed", "moved", "unchanged", "duplicate", "removed", "failed"]


@dataclass(frozen=True, slots=True)
class Alike:
    """A near duplicate of a document, with the estimated share of word runs that both have."""

    source: str
    share: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one source.  `reason` says why it failed, or which document it is a duplicate of.

    `fidelity` says what the text of a document that was read lacks.
    """

    source: str
    state: State
    title: str = ""
    document_id: str = ""
    num_passages: int = 0
    reason: str = ""
    alike: tuple[Alike, ...] = ()
    fidelity: Fidelity = WHOLE


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest has come.

    `share` counts bytes rather than files, since files differ in size.  While the index does long work of its own,
    `step` names that work and `share` is of it.  `reading` says how far a long file has been read:
    `tides.pdf: page 12 of 90`.
    """

    share: float
    done: int = 0
    total: int = 0
    passages: int = 0
    seconds: float = 0.0
    step: str = ""
    reading: str = ""

    @property
    def passages_per_second(self) -> float:
        return self.passages / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimate the remaining time; None while nothing is done."""
        return self.seconds * (1 - self.share) / self.share if self.share else None

    @property
    def line(self) -> str:
        """Describe the progress in one line.

        >>> Progress(0.25, done=3, total=10, passages=40, seconds=2.0).line
        '3 of 10 files, 20 passages per second, 0:06 left'
        """
        if self.step:
            return self.step
        left = self.seconds_left
        parts = [f"{self.done} of {self.total} files"]
        parts += [f"{self.passages_per_second:.3g} passages per second"] if self.passages else []
        parts += [f"{left // 60:.0f}:{left % 60:02.0f} left"] if left is not None and self.passages else []
        return ", ".join(filter(None, [*parts, self.reading]))
