"""Scenes whose wrong claims say more than the passage does."""

from __future__ import annotations

import random
from collections.abc import Iterator

from propcite.attribution.judges.training.making.scenarios import clauses, scope_frames, strength_ladders
from propcite.attribution.judges.training.making.scenarios.filling import exchanged, laddered
from propcite.attribution.judges.training.making.scenarios.names import Names
from propcite.attribution.judges.training.making.scenarios.scene import Scenario, Scene


def attribution_dropped(names: Names, rng: random.Random) -> Iterator[Scene]:
    """What someone claims, asks or denies is told as a fact."""
    yield from laddered("attribution_dropped", strength_ladders.ATTRIBUTION, clauses.GENERAL, names, rng)


def hedge_dropped(names: Names, rng: random.Random) -> Iterator[Scene]:
    """What may be so is told as a fact."""
    yield from laddered("hedge_dropped", strength_ladders.HEDGES, clauses.GENERAL, names, rng)


def plan_as_done(names: Names, rng: random.Random) -> Iterator[Scene]:
    """What was planned, tried or ordered is told as done."""
    yield from laddered("plan_as_done", strength_ladders.PLANS, clauses.DEEDS, names, rng)


def negation_lost(names: Names, rng: random.Random) -> Iterator[Scene]:
    """What is not so is told as being so, and the reverse."""
    yield from laddered("negation_lost", strength_ladders.NEGATION, clauses.GENERAL, names, rng)


def condition_dropped(names: Names, rng: random.Random) -> Iterator[Scene]:
    """What holds on a condition is told without it."""
    yield from laddered("condition_dropped", strength_ladders.CONDITIONS, clauses.CONDITIONAL, names, rng)


def sequence_as_cause(names: Names, rng: random.Random) -> Iterator[Scene]:
    """What came after something, or with it, is told as its effect."""
    yield from laddered("sequence_as_cause", strength_ladders.CAUSES, clauses.EVENTS, names, rng)


def quantifier_changed(names: Names, rng: random.Random) -> Iterator[Scene]:
    """What holds of some is told of most or all."""
    yield from laddered("quantifier_changed", strength_ladders.QUANTIFIERS, clauses.GROUPS, names, rng)


def scope_widened(names: Names, rng: random.Random) -> Iterator[Scene]:
    """The first or largest of a group is told to be so of a wider one."""
    yield from scope_frames.widened("scope_widened", scope_frames.SCOPES, names, rng)


def part_as_whole(names: Names, rng: random.Random) -> Iterator[Scene]:
    """What holds of a part is told of the whole."""
    yield from scope_frames.widened("part_as_whole", scope_frames.PARTS, names, rng)


def setting_widened(names: Names, rng: random.Random) -> Iterator[Scene]:
    """What was found in one setting is told of all."""
    yield from scope_frames.widened("setting_widened", scope_frames.SETTINGS, names, rng)


def detail_added(names: Names, rng: random.Random) -> Iterator[Scene]:
    """A place, year, reason or amount is told of something of which the passage does not say it."""
    yield from exchanged("detail_added", scope_frames.DETAILS, names, rng)


TOO_STRONG: tuple[Scenario, ...] = (
    attribution_dropped,
    hedge_dropped,
    plan_as_done,
    negation_lost,
    condition_dropped,
    sequence_as_cause,
    quantifier_changed,
    scope_widened,
    part_as_whole,
    setting_widened,
    detail_added,
)
