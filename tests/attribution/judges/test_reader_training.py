"""A reader learns from examples which words are wrong, goes on after an interruption, and names bad input."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_readers import save_base

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.reader import Reader
from propcite.attribution.judges.reader_files import CHANGES
from propcite.attribution.judges.training.making.example import Example
from propcite.attribution.judges.training.trainer import (
    CHECKPOINT,
    JudgeRecipe,
    JudgeTrainer,
    as_shown,
    base_network,
    batches,
    draw,
    train,
)

EVIDENCE = "the harbour gates are made of steel"
RIGHT = Example("the gates are made of steel", EVIDENCE, "supported", "whole", "own", wrong=())
WRONG = Example("the gates are made of copper", EVIDENCE, "unsupported", "word", "own", wrong=((22, 28),))
RECIPE = JudgeRecipe(steps=40, batch_pieces=200, learning_rate=3e-3, warmup=2)


@pytest.fixture
def base(tmp_path: Path) -> str:
    return str(save_base(tmp_path / "base", "copper river"))


def test_the_wrong_word_is_found_after_training(tmp_path: Path, base: str) -> None:
    losses: list[float] = []
    about = train(
        [RIGHT, WRONG],
        base,
        tmp_path / "reader",
        tmp_path / "work",
        RECIPE,
        progress=lambda _, loss: losses.append(loss),
    )
    assert sum(losses[-5:]) < sum(losses[:5]) / 2
    assert about["examples"] == {"own whole supported": 1, "own word unsupported": 1}
    assert about["recipe"]["steps"] == 40
    right, wrong = Reader(tmp_path / "reader").read([(RIGHT.claim, EVIDENCE), (WRONG.claim, EVIDENCE)])
    assert right.logit > 0 > wrong.logit
    assert right.reason == ""
    assert wrong.reason == "the source does not say “copper”"
    assert not (tmp_path / "work" / CHECKPOINT).exists()


def test_an_interrupted_training_ends_as_an_uninterrupted_one(tmp_path: Path, base: str) -> None:
    def trainer(folder: str) -> JudgeTrainer:
        return JudgeTrainer(RECIPE, [RIGHT, WRONG], *base_network(base), tmp_path / folder)

    whole, first = trainer("whole"), trainer("parts")
    whole.run()

    def stop(step: int, _: float) -> None:
        if step == 15:
            first._save_checkpoint()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first.run(stop)
    second = trainer("parts")
    assert second.resume()
    assert second.step == 15
    second.run()
    for name, weight in whole.network.state_dict().items():
        assert torch.allclose(weight, second.network.state_dict()[name], atol=1e-5), name


def test_an_unfinished_training_is_not_overwritten(tmp_path: Path, base: str) -> None:
    (tmp_path / CHECKPOINT).write_bytes(b"half")
    for resume, reason in ((False, "--resume"), (True, "cannot read")):
        with pytest.raises(AttributionError, match=reason):
            train([RIGHT, WRONG], base, tmp_path / "reader", tmp_path, RECIPE, resume=resume)


def test_a_trained_reader_can_be_trained_on(tmp_path: Path, base: str) -> None:
    train([RIGHT, WRONG], base, tmp_path / "one", tmp_path / "work", RECIPE)
    about = train([RIGHT, WRONG], str(tmp_path / "one"), tmp_path / "two", tmp_path / "work", RECIPE)
    assert about["base"] == "one"
    [reading] = Reader(tmp_path / "two").read([(WRONG.claim, EVIDENCE)])
    assert reading.logit < 0


def test_changes_of_low_rank_leave_the_base_as_it_is(tmp_path: Path, base: str) -> None:
    train([RIGHT, WRONG], base, tmp_path / "one", tmp_path / "work", replace(RECIPE, steps=2))
    recipe = replace(RECIPE, low_rank=4)
    about = train([RIGHT, WRONG], str(tmp_path / "one"), tmp_path / "two", tmp_path / "work", recipe)
    assert about["recipe"]["low_rank"] == 4
    for file in (tmp_path / "one").glob("weights-*"):
        assert (tmp_path / "two" / file.name).read_bytes() == file.read_bytes()
    assert (tmp_path / "two" / CHANGES).stat().st_size < 60_000
    right, wrong = Reader(tmp_path / "two").read([(RIGHT.claim, EVIDENCE), (WRONG.claim, EVIDENCE)])
    assert right.logit > 0 > wrong.logit


def test_changes_of_low_rank_need_a_reader(tmp_path: Path, base: str) -> None:
    with pytest.raises(AttributionError, match="is no trained reader"):
        train([RIGHT, WRONG], base, tmp_path / "reader", tmp_path, replace(RECIPE, low_rank=4))


def test_both_labels_are_drawn_equally_and_small_kinds_more_often_than_their_share() -> None:
    many = [Example(f"c{n}", "e", "unsupported", "many", "s") for n in range(1600)]
    few = [Example(f"d{n}", "e", "contradicted", "few", "s") for n in range(9)]
    drawn = list(islice(draw([RIGHT, *many, *few], seed=1), 4000))
    kinds = Counter(example.kind for example in drawn)
    assert kinds["whole"] == pytest.approx(2000, abs=150)
    assert kinds["many"] / kinds["few"] == pytest.approx(2, rel=0.2)  # as 1600 to 400, by the square root
    assert len({example.claim for example in drawn if example.kind == "few"}) == 9
    assert drawn == list(islice(draw([RIGHT, *many, *few], seed=1), 4000))


def test_what_people_labelled_is_a_kind_per_source() -> None:
    own = [Example(f"c{n}", "e", "unsupported", "labelled", f"source {n % 3}") for n in range(9)]
    made = [Example(f"d{n}", "e", "unsupported", "crossed", f"source {n % 3}") for n in range(9)]
    kinds = Counter(example.kind for example in islice(draw([RIGHT, *own, *made], seed=1), 4000))
    assert kinds["labelled"] / kinds["crossed"] == pytest.approx(3, rel=0.2)


def test_sources_with_marked_words_have_the_share_of_the_recipe() -> None:
    marked = [
        replace(RIGHT, kind="labelled", source="written"),
        replace(WRONG, kind="labelled", source="written"),
    ]
    many = [Example(f"c{n}", "e", "unsupported", "many", "s") for n in range(2000)]
    sources = Counter(e.source for e in islice(draw([RIGHT, *many, *marked], 1, marked=0.25), 4000))
    assert sources["written"] == pytest.approx(1000, abs=120)
    alone = Counter(e.label for e in islice(draw(marked, 1, marked=0.25), 400))
    assert alone["supported"] == pytest.approx(200, abs=40)


def test_marked_words_of_one_label_are_refused() -> None:
    only_wrong = replace(WRONG, kind="labelled", source="written")
    with pytest.raises(AttributionError, match="rows of both kinds"):
        next(draw([RIGHT, WRONG, only_wrong], 1, marked=0.5))


def test_long_evidence_is_cut_as_the_judge_cuts_it() -> None:
    evidence = "The weather was mild and calm all week. " * 20 + "The gates are made of steel."
    shown = as_shown(Example("The gates are made of copper.", evidence, "unsupported", "own", "s", wrong=((22, 28),)))
    assert shown.evidence.endswith("The gates are made of steel.")
    assert len(shown.evidence.split()) <= 80
    assert shown.wrong == ((22, 28),)


def test_examples_of_one_label_are_refused(tmp_path: Path, base: str) -> None:
    with pytest.raises(AttributionError, match="needs supported claims and others"):
        train([RIGHT], base, tmp_path / "reader", tmp_path, RECIPE)


@pytest.mark.parametrize("name", ["/nowhere/base", "no such/base name"])
def test_a_missing_base_is_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(AttributionError, match="there is no folder") as error:
        train([RIGHT, WRONG], name, tmp_path / "reader", tmp_path, RECIPE)
    assert "\n" not in str(error.value)


@given(st.lists(st.integers(1, 256), max_size=60), st.integers(1, 3000))
def test_batches_have_each_text_once_and_a_limited_size(lengths: list[int], limit: int) -> None:
    groups = batches(lengths, limit)
    assert sorted(i for batch in groups for i in batch) == list(range(len(lengths)))
    assert all(len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= limit for batch in groups)


def test_a_denied_claim_is_told_from_an_unsupported_one(tmp_path: Path, base: str) -> None:
    denied = replace(WRONG, label="contradicted", kind="labelled")
    missing = Example("the gates are made of river", EVIDENCE, "unsupported", "labelled", "own")
    train([RIGHT, denied, missing], base, tmp_path / "reader", tmp_path / "work", replace(RECIPE, steps=120))
    one, other = Reader(tmp_path / "reader").read([(denied.claim, EVIDENCE), (missing.claim, EVIDENCE)])
    assert one.denied > 0 > other.denied


@pytest.mark.parametrize(
    ("example", "tells"),
    [
        (RIGHT, False),
        (WRONG, False),
        (replace(WRONG, kind="labelled"), True),
        (replace(WRONG, kind="labelled", is_binary=True), False),
        (replace(WRONG, kind="hedge_dropped"), True),
        (replace(WRONG, source="scenes"), True),
        (replace(WRONG, label="contradicted"), True),
    ],
)
def test_an_unsupported_claim_is_known_not_to_be_denied_where_that_was_asked(example: Example, tells: bool) -> None:
    assert example.tells_denial is tells


def test_what_was_made_up_is_drawn_less_often() -> None:
    made_up = [replace(e, source="scenes", kind="sum") for e in (RIGHT, WRONG)]
    sources = Counter(e.source for e in islice(draw([RIGHT, WRONG, *made_up], seed=1), 2000))
    assert 0.2 < sources["scenes"] / 2000 < 0.37
