"""Teachers in `propcite eval sentences`: their scores, long passages in parts, and their names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commanded import Propcite

from propcite.app.errors import AppError
from propcite.app.lab.ranking.rank_rows import read_rank_rows
from propcite.app.lab.ranking.teachers import teacher_digests, teacher_scorer
from propcite.retrieval.training.rows import Row
from propcite.retrieval.training.teacher import Teacher
from propcite.retrieval.training.teacher_trainer import TeacherRecipe, TeacherTrainer

SENTENCES = ["Quay 1 was built in 1901.", "It is 100 metres long.", "Ships lie there."]


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("teachers") / "mine"
    rows = [Row("How long is quay 1?", "Quays", tuple(SENTENCES), frozenset({1}), "quays")]
    TeacherTrainer(TeacherRecipe(kind="joint", steps=1, batch_size=1), rows, folder / "work").save(folder, {})
    return folder


def rows_file(folder: Path, *lines: object) -> Path:
    file = folder / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return file


def test_a_teacher_is_measured_with_our_ways(propcite: Propcite, teacher: Path, tmp_path: Path) -> None:
    row = {"query": "How long is quay 1?", "title": "Quays", "sentences": SENTENCES, "positive_sentence_ids": [1]}
    done = propcite("eval", "sentences", rows_file(tmp_path, row), "--way", "m_q", "--teacher", teacher)
    assert done.code == 0, done.err
    assert "teacher mine" in done.out
    assert "m_q" in done.out


def test_a_long_passage_is_scored_in_the_parts_of_training(teacher: Path, tmp_path: Path) -> None:
    long = [f"{'word ' * 120}{i}." for i in range(3)]  # two of these are more than a part holds
    docs = [{"title": "A", "sentences": SENTENCES}, {"title": "B", "sentences": long}]
    file = rows_file(tmp_path, {"claim": "Quay 1 is long.", "docs": docs, "supporting": [[0, 1]]})
    row = read_rank_rows([file])[0]
    ((scores, _),) = teacher_scorer(teacher)([row])
    read = Teacher.open(teacher)
    slow = read.scores(Row(row.query, "A", tuple(SENTENCES), frozenset()))
    slow += [read.scores(Row(row.query, "B", (sentence,), frozenset()))[0] for sentence in long]
    assert scores.tolist() == pytest.approx(slow, abs=1e-4)


def test_two_teachers_with_one_name_are_an_error(teacher: Path, tmp_path: Path) -> None:
    assert list(teacher_digests([teacher])["teachers"]) == ["mine"]
    assert teacher_digests([]) == {}
    with pytest.raises(AppError, match="two teachers are named mine"):
        teacher_digests([teacher, teacher])
    with pytest.raises(AppError, match=r"cannot read .*teacher\.safetensors"):
        teacher_digests([tmp_path])
