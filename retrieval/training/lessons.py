"""What a teacher thinks of the rows that are trained on: asked for once each, when a step draws the row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from propcite.retrieval.training.losses import LOW
from propcite.retrieval.training.passages import Units
from propcite.retrieval.training.rows import Row
from propcite.retrieval.training.teacher import Teacher


class Lessons:
    """A teacher's logits of these rows' sentences; a claim that was made here is no row of them: its label is sure."""

    def __init__(self, teacher: Teacher | None, rows: Iterable[Row]) -> None:
        self._teacher, self._rows = teacher, frozenset(rows if teacher else ())
        self._told: dict[Row, list[float]] = {}

    def __bool__(self) -> bool:
        return self._teacher is not None

    def __contains__(self, row: object) -> bool:
        return row in self._rows

    @property
    def given(self) -> dict[str, str]:
        """What a checkpoint was made with."""
        return {"teacher": self._teacher.name if self._teacher else ""}

    def _ask(self, row: Row, read: Row) -> list[float] | None:
        if self._teacher is None or row not in self._rows:
            return None
        if row.passage != read.passage:
            row = replace(row, title=read.title, sentences=read.sentences, positives=frozenset())
        if row not in self._told:
            self._told[row] = self._teacher.scores(row)
        return self._told[row]

    def of(
        self, rows: Sequence[Row], units: Sequence[Units], read: Sequence[Row] | None = None
    ) -> tuple[Tensor, Tensor]:
        """The logits of each row's sentences that hold a unit, and how sure it is that one answers.  -> (b, s), (b,)

        `read` are rows of the passages that are read, where these are not the rows' own.
        """
        told = [self._ask(row, other) for row, other in zip(rows, rows if read is None else read, strict=True)]
        most = max((len(scores) for scores in told if scores is not None), default=1)
        logits = torch.full((len(told), most), LOW)
        for i, (scores, u) in enumerate(zip(told, units, strict=True)):
            if scores is not None:
                held = torch.from_numpy(np.unique(u.sentences))
                logits[i, held] = torch.tensor(scores)[held]
        return logits, torch.tensor([0.0 if scores is None else _sure(scores) for scores in told])


def _sure(logits: Sequence[float]) -> float:
    return float(torch.tensor(logits).max().sigmoid())
