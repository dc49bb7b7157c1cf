"""What became of a source, and how far the work has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["added", "changed", "moved", "unchanged", "duplicate", "removed", "failed"]


@dataclass(frozen=True, slots=True)
class Alike:
    """Another document that says nearly the same: the share of its runs of words that both have."""

    source: str
    share: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file.  `reason` tells why it failed, or which other file it is the same as."""

    source: str
    state: State
    title: str = ""
    document_id: str = ""
    num_passages: int = 0
    reason: str = ""
    alike: tuple[Alike, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work has come; what is left is told from the bytes, since files differ in size."""

    done: int
    total: int
    passages: int
    seconds: float
    share: float

    @property
    def passages_per_second(self) -> float:
        return self.passages / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """None while nothing can be told."""
        return self.seconds * (1 - self.share) / self.share if self.share else None

    @property
    def line(self) -> str:
        """
        >>> Progress(3, 10, 40, 2.0, 0.25).line
        '3 of 10 files, 20 passages a second, 0:06 left'
        """
        left = self.seconds_left
        told = [f"{self.done} of {self.total} files"]
        told += [f"{self.passages_per_second:.3g} passages a second"] if self.passages else []
        told += [f"{left // 60:.0f}:{left % 60:02.0f} left"] if left is not None and self.passages else []
        return ", ".join(told)
