"""Sentences ranked by teachers, which read them with the query: what a student could learn at best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from propcite.app.errors import AppError
from propcite.app.lab.files import digest_of
from propcite.app.lab.ranking.rank_rows import RankRow
from propcite.app.lab.ranking.scorers import Cost, Scorer
from propcite.app.lab.runs.keeping import clocked
from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.text import Passage
from propcite.retrieval.training.rows import Row, parts
from propcite.retrieval.training.teacher import WEIGHTS, Teacher


def by_teacher(folder: Path) -> Scorer:
    """A teacher as it was trained: a long passage is read in parts."""
    teacher = Teacher.open(folder)

    def score(asked: Sequence[RankRow]) -> Iterator[tuple[Floats, Cost]]:
        for row in asked:
            with clocked() as cost:
                scores = [s for passage in row.passages for s in _of_passage(teacher, row.query, passage)]
            yield np.array(scores, np.float32), cost

    return score


def _of_passage(teacher: Teacher, query: str, passage: Passage) -> list[float]:
    sentences = [s.span.of(passage.text).strip() for s in passage.sentences]
    return [
        score
        for start, end in parts(sentences)
        for score in teacher.scores(Row(query, passage.title, tuple(sentences[start:end]), frozenset()))
    ]


def teachers_told(folders: Sequence[Path]) -> dict[str, dict[str, str]]:
    """What a run tells of its teachers; nothing where there are none."""
    digests: dict[str, str] = {}
    for folder in folders:
        if folder.name in digests:
            raise AppError(f"two teachers are named {folder.name}: give one of the folders another name")
        digests[folder.name] = digest_of(folder / WEIGHTS)
    return {"teachers": digests} if digests else {}
