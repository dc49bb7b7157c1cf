"""Reliability, precision against recall, and figures by group of items."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_runs import sample_items
from sklearn.metrics import precision_recall_curve

from propcite.app.lab.runs import curves
from propcite.app.lab.runs.curves import (
    calibration_error,
    groups_by_citations,
    groups_by_length,
    groups_by_source,
    precision_recall,
    reliability,
)
from propcite.app.library.store import RunItem

judged = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


def judged_items(
    judgements: list[tuple[float, bool]], name: str = "judged", number: str = "probability"
) -> list[RunItem]:
    return [RunItem("q", "w", {}, {name: [{number: p, "right": right} for p, right in judgements]})]


def test_doctests() -> None:
    assert doctest.testmod(curves).failed == 0


def test_reliability_by_hand() -> None:
    bins = reliability(judged_items([(0.71, True), (0.79, False), (0.75, True), (0.05, False), (1.0, True)]))
    assert [(b.count, round(b.probability, 3), round(b.right, 3)) for b in bins] == [
        (1, 0.05, 0.0),
        (3, 0.75, 0.667),
        (1, 1.0, 1.0),
    ]
    assert calibration_error(bins) == pytest.approx((0.05 + 3 * (0.75 - 2 / 3)) / 5)


@given(judged)
def test_every_judgement_is_in_one_bin_and_each_share_in_its_interval(judgements: list[tuple[float, bool]]) -> None:
    bins = reliability(judged_items(judgements))
    assert sum(b.count for b in bins) == len(judgements)
    assert all(-1e-9 <= b.low <= b.right + 1e-9 <= b.high + 2e-9 <= 1 + 3e-9 for b in bins)


@given(judged)
def test_precision_and_recall_equal_those_of_scikit_learn(judgements: list[tuple[float, bool]]) -> None:
    curve = precision_recall(judged_items(judgements))
    if not any(right for _, right in judgements):
        assert curve is None
        return
    assert curve is not None
    scores, right = zip(*judgements, strict=True)
    precision, recall, thresholds = precision_recall_curve(right, scores, drop_intermediate=False)
    assert np.allclose(curve.thresholds, thresholds[::-1])
    assert np.allclose(curve.precision, precision[:-1][::-1])
    assert np.allclose(curve.recall, recall[:-1][::-1])


def test_missing_units_count_against_recall() -> None:
    items = judged_items([(2.5, True), (1.5, False)], "scored", "score")
    whole = RunItem("p", "w", {}, {"scored": [{"score": 2.0, "right": True}], "num_wanted": 3})
    curve = precision_recall([*items, whole])
    assert curve is not None
    assert curve.recall.tolist() == [0.25, 0.5, 0.5]
    assert curve.precision.tolist() == [1.0, 1.0, pytest.approx(2 / 3)]


@pytest.mark.parametrize(
    "value", [None, "high", {}, [3], [{"probability": "x", "right": True}], [{"probability": 0.5}]]
)
def test_outputs_of_another_shape_are_ignored(value: object) -> None:
    items = [RunItem("q", "w", {}, {"judged": value})]
    assert reliability(items) == []
    assert precision_recall(items) is None


def test_every_item_is_in_one_group() -> None:
    items = sample_items(40)
    for parts in (groups_by_length(items), groups_by_source(items)):
        assert sum(part.items for part in parts) == 40
    assert [part.name for part in groups_by_length(items)] == ["20–41", "48–62", "69–83", "90–104"]
    assert [part.name for part in groups_by_source(items)] == ["news", "wiki"]
    assert [part.name for part in groups_by_citations(items)] == ["0", "1", "2", "3", "4"]  # the two ways cite apart


def test_equal_items_have_no_groups() -> None:
    items = [RunItem(str(n), "w", {"length": 7, "str_em": 1.0}, {"source": "one"}) for n in range(9)]
    assert groups_by_length(items) == groups_by_citations(items) == groups_by_source(items) == []


def test_lengths_and_citations_are_counted_without_a_measure() -> None:
    outputs = [{"text": "one two", "citations": []}, {"text": "one two three", "citations": [{}, {}]}]
    items = [RunItem(str(n), "w", {"str_em": 1.0}, output) for n, output in enumerate(outputs)]
    assert [part.name for part in groups_by_length(items)] == ["2", "3"]
    assert [part.name for part in groups_by_citations(items)] == ["0", "2"]
