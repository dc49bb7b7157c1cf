"""What every kept measurement is asked: which items of a file, and whether a run is gone on with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from propcite.app.errors import AppError

Row = TypeVar("Row")


def _nobody(_: str) -> None:
    """Is told and says nothing."""


@dataclass(frozen=True, slots=True)
class Share:
    """Some items of a file, `limit` of them from `offset` on; 0: all.  `say` hears which run it is."""

    limit: int = 0
    offset: int = 0
    new: bool = False
    say: Callable[[str], None] = _nobody

    def of(self, rows: Sequence[Row]) -> Sequence[Row]:
        if self.offset >= len(rows):
            raise AppError(f"there are {len(rows)} items, so none from --offset {self.offset} on: give a smaller one")
        return rows[self.offset : self.offset + self.limit] if self.limit else rows[self.offset :]

    @property
    def settings(self) -> dict[str, int]:
        return {"limit": self.limit, "offset": self.offset}
