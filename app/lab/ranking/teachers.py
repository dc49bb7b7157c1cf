"""Sentences ranked by teachers, which read each with its query: an upper bound for their students."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from propcite.app.errors import AppError
from propcite.app.lab.ranking.rank_rows import Cost, RankRow, Scorer
from propcite.app.lab.runs.inputs import file_digest
from propcite.app.lab.runs.runner import timed
from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.text import Passage
from propcite.retrieval.training.rows import Row, passage_parts
from propcite.retrieval.training.teacher import WEIGHTS_FILE, Teacher


def teacher_scorer(folder: Path) -> Scorer:
    """Return a scorer by a trained teacher, which reads a long passage in parts as in training."""
    teacher = Teacher.open(folder)

    def score(rows: Sequence[RankRow]) -> Iterator[tuple[Floats, Cost]]:
        for row in rows:
            with timed() as cost:
                scores = [s for passage in row.passages for s in _passage_scores(teacher, row.query, passage)]
            yield np.array(scores, np.float32), cost

    return score


def _passage_scores(teacher: Teacher, query: str, passage: Passage) -> list[float]:
    sentences = [s.span.of(passage.text).strip() for s in passage.sentences]
    return [
        score
        for start, end in passage_parts(sentences)
        for score in teacher.scores(Row(query, passage.title, tuple(sentences[start:end]), frozenset()))
    ]


def teacher_digests(folders: Sequence[Path]) -> dict[str, dict[str, str]]:
    """Return the teachers' hashes as a setting of a run; empty if there are none."""
    digests: dict[str, str] = {}
    for folder in folders:
        if folder.name in digests:
            raise AppError(f"two teachers are named {folder.name}: rename one of the folders")
        digests[folder.name] = file_digest(folder / WEIGHTS_FILE)
    return {"teachers": digests} if digests else {}
