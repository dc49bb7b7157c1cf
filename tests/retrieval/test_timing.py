"""Timers add up steps and report them, also where a step fails."""

from __future__ import annotations

import pytest

from propcite.retrieval.timing import Timer, shared


def test_a_step_that_raises_has_ended() -> None:
    reports: list[tuple[str, bool]] = []
    timer = Timer(lambda step, ms: reports.append((step, ms is None)))
    with pytest.raises(ValueError), timer("reading"):
        raise ValueError
    assert not timer.running
    assert reports == [("reading", True), ("reading", False)]
    assert set(timer.spent) == {"reading"}


def test_the_time_of_an_inner_step_is_taken_off_the_outer_one() -> None:
    timer = Timer()
    with timer("outer"), timer("inner", inside="outer"):
        pass
    assert set(timer.spent) == {"outer", "inner"}
    assert timer.spent["inner"] >= 0


def test_a_shared_step_that_raises_is_added_to_every_timer() -> None:
    timers = [Timer(), Timer()]
    with pytest.raises(ValueError), shared("encoding", timers):
        raise ValueError
    assert [set(timer.spent) for timer in timers] == [{"encoding"}, {"encoding"}]
