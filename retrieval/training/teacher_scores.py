"""A teacher's scores of training rows: computed once per row, when a step first draws the row."""

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


class TeacherScores:
    """A teacher's cached logits of these rows' sentences; false without a teacher.

    A row whose query was replaced by a claim is not among the rows and gets no scores: its label is certain.
    """

    def __init__(self, teacher: Teacher | None, rows: Iterable[Row]) -> None:
        self._teacher, self._rows = teacher, frozenset(rows if teacher else ())
        self._cache: dict[Row, list[float]] = {}

    def __bool__(self) -> bool:
        return self._teacher is not None

    def __contains__(self, row: object) -> bool:
        return row in self._rows

    @property
    def inputs(self) -> dict[str, str]:
        """The teacher's name, for the inputs that a checkpoint was made with."""
        return {"teacher": self._teacher.name if self._teacher else ""}

    def _scores(self, row: Row, passage_row: Row) -> list[float] | None:
        if self._teacher is None or row not in self._rows:
            return None
        if row.passage != passage_row.passage:
            row = replace(row, title=passage_row.title, sentences=passage_row.sentences, positives=frozenset())
        if row not in self._cache:
            self._cache[row] = self._teacher.scores(row)
        return self._cache[row]

    def sentence_logits(
        self, rows: Sequence[Row], units: Sequence[Units], passage_rows: Sequence[Row] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the logits of each row's sentences that have a unit, and the probability of the best.  (b, s), (b,)

        `passage_rows` are rows of the passages to score, if these are not the rows' own.
        """
        scored = [self._scores(*pair) for pair in zip(rows, passage_rows or rows, strict=True)]
        max_sentences = max((len(scores) for scores in scored if scores is not None), default=1)
        logits = torch.full((len(scored), max_sentences), LOW)
        for i, (scores, u) in enumerate(zip(scored, units, strict=True)):
            if scores is not None:
                present = torch.from_numpy(np.unique(u.sentences))
                logits[i, present] = torch.tensor(scores)[present]
        return logits, torch.tensor([0.0 if scores is None else _max_probability(scores) for scores in scored])


def _max_probability(logits: Sequence[float]) -> float:
    return float(torch.tensor(logits).max().sigmoid())
