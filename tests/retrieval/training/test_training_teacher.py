"""Teachers on a tiny base: their inputs, learning and resuming, and students that learn from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import tiny_models as tiny
import torch
from small_trainings import eval_loss, halves, run_until

from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.passages import EncodedPassages
from propcite.retrieval.training.query_trainer import QueryRecipe, QueryTrainer
from propcite.retrieval.training.rows import Row
from propcite.retrieval.training.teacher import KINDS, Teacher
from propcite.retrieval.training.teacher_trainer import TeacherRecipe, TeacherTrainer

ROW = Row(
    "steel gates", "quay", ("the harbour was dredged", "its gates are of steel", "in spring"), frozenset({1}), "s"
)
ROWS = [
    Row(f"{word} made", f"t{n}{word}", (f"the {word} was {n}", f"in {n} its made query"), frozenset({0}), "made")
    for n in range(4)
    for word in ("harbour", "gates", "steel", "spring")
]
SMALL = TeacherRecipe(steps=4, batch_size=4, learning_rate=1e-3, warmup=1)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny.save_backbone(tmp_path_factory.mktemp("base"), tiny.word_piece_tokenizer()))


def states_of(teacher: Teacher, query: str, text: str) -> tuple[torch.Tensor, list[str]]:
    """Return the states of one pair and its tokens."""
    inputs = teacher.tokenizer([query], [text], return_tensors="pt")
    tokens = teacher.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0].tolist())
    return teacher.network(**inputs).last_hidden_state[0], tokens


def test_a_marked_teacher_reads_the_sentence_between_two_marks(base: str) -> None:
    torch.manual_seed(0)
    teacher = Teacher("marked", base).eval()
    slow = []
    for text in (
        "quay. $the harbour was dredged$ its gates are of steel in spring",
        "quay. the harbour was dredged $its gates are of steel$ in spring",
        "quay. the harbour was dredged its gates are of steel $in spring$",
    ):
        states, tokens = states_of(teacher, ROW.query, text)
        assert tokens.count("$") == 2
        slow.append(teacher.head(states[0]).item())
    assert teacher.scores(ROW) == pytest.approx(slow, abs=1e-5)
    assert max(slow) - min(slow) > 1e-3


def test_a_joint_teacher_scores_each_sentence_by_its_own_tokens(base: str) -> None:
    torch.manual_seed(0)
    teacher = Teacher("joint", base).eval()
    states, tokens = states_of(teacher, ROW.query, "quay. the harbour was dredged its gates are of steel in spring")
    start = tokens.index("the", tokens.index("[SEP]"))
    slow, at = [], start
    for sentence in ROW.sentences:
        size = len(teacher.tokenizer(sentence, add_special_tokens=False)["input_ids"])
        own = states[at : at + size]
        slow.append(teacher.head(torch.cat([own.mean(0), own.max(0).values])).item())
        at += size
    assert tokens[at] == "[SEP]"
    assert teacher.scores(ROW) == pytest.approx(slow, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_in_one_batch_score_as_each_alone(kind, base: str) -> None:
    torch.manual_seed(0)
    teacher = Teacher(kind, base).eval()
    sentences = [(row, n) for row in [*ROWS, ROW] for n in range(len(row.sentences))]
    with torch.no_grad():
        together = teacher(sentences).tolist()
    assert together == pytest.approx([s for row in [*ROWS, ROW] for s in teacher.scores(row)], abs=1e-5)


def test_a_teacher_in_bfloat16_gives_nearly_the_same_scores(base: str, tmp_path: Path) -> None:
    trainer = TeacherTrainer(replace(SMALL, kind="joint"), ROWS, tmp_path, base, precision="bfloat16")
    trainer.run()
    trainer.save(tmp_path / "out", {})
    whole, half = Teacher.open(tmp_path / "out"), Teacher.open(tmp_path / "out", precision="bfloat16")
    assert half.scores(ROW) == pytest.approx(whole.scores(ROW), abs=0.05)
    assert half.scores(ROW) != whole.scores(ROW)


def test_a_base_without_a_cls_token_uses_the_mean(tmp_path: Path) -> None:
    teacher = Teacher("marked", str(tiny.save_xtr(tmp_path))).eval()
    states, _ = states_of(teacher, ROW.query, "quay. $the harbour was dredged$ its gates are of steel in spring")
    assert teacher.scores(ROW)[0] == pytest.approx(teacher.head(states.mean(0)).item(), abs=1e-5)


def test_sentences_beyond_the_window_have_scores_too(base: str) -> None:
    long = replace(ROW, sentences=tuple(f"the harbour was dredged in {n} and its gates are of steel" for n in range(9)))
    for kind in KINDS:
        assert len(Teacher(kind, base).scores(long)) == 9


@pytest.mark.parametrize("kind", KINDS)
def test_a_teacher_learns_which_sentence_is_right(kind, base: str, tmp_path: Path) -> None:
    trainer = TeacherTrainer(replace(SMALL, kind=kind, steps=150, batch_size=8), ROWS, tmp_path, base)
    trainer.run()
    right = [s[0] > s[1] for s in map(trainer.teacher.scores, ROWS)]
    assert sum(right) >= 12  # of 16; 8 by chance


def test_a_resumed_training_of_a_teacher_ends_like_an_uninterrupted_one(base: str, tmp_path: Path) -> None:
    recipe = replace(SMALL, steps=100 + 3)
    whole = TeacherTrainer(recipe, ROWS, tmp_path / "whole", base)
    whole.run()

    run_until(TeacherTrainer(recipe, ROWS, tmp_path / "broken", base), 101)
    resumed = TeacherTrainer(recipe, ROWS, tmp_path / "broken", base)
    assert resumed.resume()
    assert resumed.step == 100
    resumed.run()
    assert resumed.teacher.scores(ROW) == pytest.approx(whole.teacher.scores(ROW), abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_teacher_gives_the_same_scores(kind, base: str, tmp_path: Path) -> None:
    trainer = TeacherTrainer(replace(SMALL, kind=kind), ROWS, tmp_path, base)
    trainer.run()
    trainer.save(tmp_path / "out", {"rows": 16})
    assert Teacher.open(tmp_path / "out").scores(ROW) == pytest.approx(trainer.teacher.scores(ROW), abs=1e-5)


def test_a_folder_without_a_teacher_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match=r"cannot read a teacher from .*: make one with propcite train teacher"):
        Teacher.open(tmp_path)
    (tmp_path / "teacher.json").write_text("{", "utf-8")
    with pytest.raises(RetrievalError, match="cannot read a teacher from"):
        Teacher.open(tmp_path)


@pytest.mark.parametrize("level", [Granularity.SENTENCE, Granularity.PROPOSITION])
def test_a_student_gets_closer_to_its_teacher(level: Granularity, base: str, tmp_path: Path) -> None:
    """The teacher contradicts the labels and determines the whole loss."""
    wrong = [replace(row, positives=frozenset({1})) for row in ROWS]
    trainer = TeacherTrainer(replace(SMALL, kind="joint", steps=60, batch_size=8), wrong, tmp_path, base)
    trainer.run()
    passages = EncodedPassages(ROWS, Encoder(base, precision="float32"), tmp_path, halves)
    passages.encode()
    recipe = QueryRecipe(
        steps=80, batch_size=8, learning_rate=1e-2, warmup=1, claims=0.0, others=0.0, taught=1.0,
        propositions=float(level == Granularity.PROPOSITION),
    )  # fmt: skip
    student = QueryTrainer(recipe, ROWS, passages, base, tmp_path / "student", teacher=trainer.teacher)
    before = eval_loss(student, ROWS, level)
    student.run()
    assert eval_loss(student, ROWS, level) < 0.9 * before
    labels = QueryTrainer(
        replace(recipe, taught=0.0), ROWS, passages, base, tmp_path / "labels", teacher=trainer.teacher
    )
    plain = QueryTrainer(recipe, ROWS, passages, base, tmp_path / "plain")
    assert eval_loss(labels, ROWS, level) == pytest.approx(eval_loss(plain, ROWS, level), abs=1e-5)


def test_a_training_resumes_only_with_the_same_teacher(base: str, tmp_path: Path) -> None:
    teachers = []
    for seed in (0, 1):
        trainer = TeacherTrainer(replace(SMALL, kind="joint", steps=1, seed=seed), ROWS, tmp_path, base)
        trainer.run()
        trainer.save(tmp_path / str(seed), {})
        teachers.append(Teacher.open(tmp_path / str(seed)))
    passages = EncodedPassages(ROWS, Encoder(base, precision="float32"), tmp_path, halves)
    passages.encode()
    recipe = QueryRecipe(steps=1, batch_size=2)
    QueryTrainer(recipe, ROWS, passages, base, tmp_path / "student", teacher=teachers[0]).run()
    assert QueryTrainer(recipe, ROWS, passages, base, tmp_path / "student", teacher=teachers[0]).resume()
    with pytest.raises(RetrievalError, match="made with a different teacher: use the same"):
        QueryTrainer(recipe, ROWS, passages, base, tmp_path / "student", teacher=teachers[1]).resume()
