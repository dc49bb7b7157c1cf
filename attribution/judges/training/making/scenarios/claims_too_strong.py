"""Scenes whose wrong claims say more than the passage does."""

from __future__ import annotations

from functools import partial
from typing import Final

from propcite.attribution.judges.training.making.scenarios import clauses, scope_frames, strength_ladders
from propcite.attribution.judges.training.making.scenarios.filling import exchanged, laddered
from propcite.attribution.judges.training.making.scenarios.scene import Scenario

TOO_STRONG: Final[tuple[Scenario, ...]] = (
    # What someone claims, asks or denies is told as a fact.
    partial(laddered, "attribution_dropped", strength_ladders.ATTRIBUTION, clauses.GENERAL),
    # What may be so is told as a fact.
    partial(laddered, "hedge_dropped", strength_ladders.HEDGES, clauses.GENERAL),
    # What was planned, tried or ordered is told as done.
    partial(laddered, "plan_as_done", strength_ladders.PLANS, clauses.DEEDS),
    # What is not so is told as being so, and the reverse.
    partial(laddered, "negation_lost", strength_ladders.NEGATION, clauses.GENERAL),
    # What holds on a condition is told without it.
    partial(laddered, "condition_dropped", strength_ladders.CONDITIONS, clauses.CONDITIONAL),
    # What came after something, or with it, is told as its effect.
    partial(laddered, "sequence_as_cause", strength_ladders.CAUSES, clauses.EVENTS),
    # What holds of some is told of most or all.
    partial(laddered, "quantifier_changed", strength_ladders.QUANTIFIERS, clauses.GROUPS),
    # The first or largest of a group is told to be so of a wider one.
    partial(scope_frames.widened, "scope_widened", scope_frames.SCOPES),
    # What holds of a part is told of the whole.
    partial(scope_frames.widened, "part_as_whole", scope_frames.PARTS),
    # What was found in one setting is told of all.
    partial(scope_frames.widened, "setting_widened", scope_frames.SETTINGS),
    # A place, year, reason or amount is told of something of which the passage does not say it.
    partial(exchanged, "detail_added", scope_frames.DETAILS),
)
