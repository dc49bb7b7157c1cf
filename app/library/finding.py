"""What the doctor finds: a problem, what solves it, and how, where that can be done automatically."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem: `remedy` names what solves it, `fix` does so if it can be done automatically."""

    where: str
    what: str
    remedy: str
    fix: Callable[[], object] | None = None

    @property
    def line(self) -> str:
        return f"{self.where}: {self.what}: {self.remedy}"
