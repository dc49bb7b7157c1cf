"""Teachers in `propcite eval sentences`: measured beside our ways, a long passage in parts, each by its own name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from propcite.app.errors import AppError
from propcite.app.lab.ranking.rank_rows import read_rank_rows
from propcite.app.lab.ranking.teachers import by_teacher, teachers_told
from propcite.retrieval.training.rows import Row
from propcite.retrieval.training.teacher import Teacher
from propcite.retrieval.training.teaching import Recipe, Teaching

SENTENCES = ["Quay 1 was built in 1901.", "It is 100 metres long.", "Ships lie there."]


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("teachers") / "mine"
    rows = [Row("How long is quay 1?", "Quays", tuple(SENTENCES), frozenset({1}), "quays")]
    Teaching(Recipe(kind="joint", steps=1, batch_size=1), rows, folder / "work").save(folder, {})
    return folder


def rows_file(folder: Path, *lines: object) -> Path:
    file = folder / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return file


def test_a_teacher_is_measured_beside_our_ways(teacher: Path, tmp_path: Path) -> None:
    row = {"query": "How long is quay 1?", "title": "Quays", "sentences": SENTENCES, "positive_sentence_ids": [1]}
    words = ["eval", "sentences", str(rows_file(tmp_path, row)), "--way", "m_q", "--teacher", str(teacher)]
    done = subprocess.run(
        [sys.executable, "-m", "propcite", *words],
        env={**os.environ, "PROPCITE_DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "teacher mine" in done.stdout
    assert "m_q" in done.stdout


def test_a_long_passage_is_read_in_the_parts_that_training_makes(teacher: Path, tmp_path: Path) -> None:
    long = [f"{'word ' * 120}{i}." for i in range(3)]  # two of these are more than a part holds
    docs = [{"title": "A", "sentences": SENTENCES}, {"title": "B", "sentences": long}]
    file = rows_file(tmp_path, {"claim": "Quay 1 is long.", "docs": docs, "supporting": [[0, 1]]})
    row = read_rank_rows([file])[0]
    ((scores, _),) = by_teacher(teacher)([row])
    read = Teacher.open(teacher)
    slow = read.scores(Row(row.query, "A", tuple(SENTENCES), frozenset()))
    slow += [read.scores(Row(row.query, "B", (sentence,), frozenset()))[0] for sentence in long]
    assert scores.tolist() == pytest.approx(slow, abs=1e-4)


def test_two_teachers_of_one_name_are_told(teacher: Path, tmp_path: Path) -> None:
    assert list(teachers_told([teacher])["teachers"]) == ["mine"]
    assert teachers_told([]) == {}
    with pytest.raises(AppError, match="two teachers are named mine"):
        teachers_told([teacher, teacher])
    with pytest.raises(AppError, match=r"teacher\.safetensors cannot be read"):
        teachers_told([tmp_path])
