"""Estimates of costs: learned from what work took, and bounded whatever the input is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from propcite.app.turns.costs import COSTS, MAX_FACTOR, MAX_S, MIN_S, Costs, Kind, Size
from propcite.retrieval.text import Passage


@given(st.text(), st.lists(st.text(), max_size=3))
def test_a_size_is_bounded_by_the_characters(text: str, passages: list[str]) -> None:
    size = Size.of(text, [Passage(str(number), one) for number, one in enumerate(passages)])
    assert size.characters == len(text)
    assert 1 <= size.sentences <= 1 + len(text) // 12
    assert size.passages == sum(map(len, passages))


def test_hostile_texts_cost_no_more_than_their_characters_do() -> None:
    costs = Costs()
    stops, prose = costs.estimate(Kind.CITE, Size.of("." * 400_000)), costs.estimate(Kind.CITE, Size.of("It. " * 10**5))
    assert stops == prose
    assert costs.estimate(Kind.CITE, Size.of("a. " * 10**6)) <= MAX_S


def test_estimates_follow_what_work_takes() -> None:
    costs, size = Costs(), Size.of("It rained in the town. " * 4)
    before = costs.estimate(Kind.CITE, size)
    for _ in range(100):
        costs.learn(Kind.CITE, size, 3 * before)
    assert 2.7 * before < costs.estimate(Kind.CITE, size) < 3.1 * before
    assert costs.estimate(Kind.REPAIR, size) == Costs().estimate(Kind.REPAIR, size)


@given(st.sampled_from(Kind), st.floats(0, 1e12), st.integers(0, 10**12))
def test_no_measurement_leads_out_of_bounds(kind: Kind, seconds: float, characters: int) -> None:
    costs, size = Costs(), Size(characters=characters, sentences=characters, passages=characters)
    for _ in range(10):
        costs.learn(kind, size, seconds)
    assert MIN_S <= costs.estimate(kind, size) <= MAX_S
    assert 1 / MAX_FACTOR <= costs.factor(kind) <= MAX_FACTOR


def test_every_kind_has_a_cost() -> None:
    assert set(COSTS) == set(Kind)
