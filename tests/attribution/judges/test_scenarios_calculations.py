"""Scenes that have to be calculated tell right and wrong claims alike."""

from __future__ import annotations

import random

import pytest

from propcite.attribution.judges.training.making.scenarios.calculating.calculations import CALCULATIONS
from propcite.attribution.judges.training.making.scenarios.calculating.figures import (
    in_print,
    in_words,
    ordinal_in_digits,
    ordinal_in_words,
)
from propcite.attribution.judges.training.making.scenarios.names import Names
from propcite.attribution.judges.training.making.scenarios.scene import SUPPORTED, Scenario, Scene


def scenes(scenario: Scenario, seeds: int) -> list[Scene]:
    made: list[Scene] = []
    for seed in range(seeds):
        rng = random.Random(seed)
        made += scenario(Names(rng), rng)
    return made


@pytest.mark.parametrize("scenario", CALCULATIONS)
def test_a_scene_has_right_claims_and_wrong_ones_with_their_words_marked(scenario: Scenario) -> None:
    made = scenes(scenario, 200)
    assert len(made) == 200
    for scene in made:
        assert all(text.endswith((".", "”")) and "{" not in text for text in scene.sentences)
        assert {draft.label == SUPPORTED for draft in scene.drafts} == {True, False}
        for draft in scene.drafts:
            assert draft.wrong is not None
            assert bool(draft.wrong) == (draft.label != SUPPORTED)
            assert all(0 <= start < end <= len(draft.claim) for start, end in draft.wrong)
            assert "{" not in draft.claim


@pytest.mark.parametrize("scenario", CALCULATIONS)
def test_no_claim_of_a_scene_is_both_right_and_wrong(scenario: Scenario) -> None:
    for scene in scenes(scenario, 200):
        right = {draft.claim for draft in scene.drafts if draft.label == SUPPORTED}
        assert not right & {draft.claim for draft in scene.drafts if draft.label != SUPPORTED}


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"),
        (14, "fourteen"),
        (40, "forty"),
        (87, "eighty-seven"),
        (300, "three hundred"),
        (999, "nine hundred and ninety-nine"),
        (12000, "12,000"),
    ],
)
def test_numbers_in_words(number: int, words: str) -> None:
    assert in_words(number) == words


def test_newspapers_print_small_numbers_in_words_and_ordinals_have_their_endings() -> None:
    assert [in_print(number) for number in (10, 11)] == ["ten", "11"]
    assert [ordinal_in_words(number) for number in (1, 12, 20, 23)] == ["first", "twelfth", "twentieth", "twenty-third"]
    assert [ordinal_in_digits(number) for number in (1, 11, 22)] == ["1st", "11th", "22nd"]
