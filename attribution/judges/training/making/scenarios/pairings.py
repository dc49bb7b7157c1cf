"""Scenes whose wrong claims have the right words in the wrong pairs."""

from __future__ import annotations

from functools import partial
from typing import Final

from propcite.attribution.judges.training.making.scenarios import (
    group_frames,
    pairing_frames,
    passage_frames,
    role_frames,
)
from propcite.attribution.judges.training.making.scenarios.filling import exchanged
from propcite.attribution.judges.training.making.scenarios.scene import Scenario

PAIRINGS: Final[tuple[Scenario, ...]] = (
    # Two things have an attribute each: a year, a title, a rank, an act.
    partial(exchanged, "exchanged_attributes", pairing_frames.ATTRIBUTES),
    # Someone does something to someone else.
    partial(exchanged, "exchanged_roles", role_frames.ROLES),
    # Kinship, age, direction and order, told from either side.
    partial(exchanged, "reversed_relation", role_frames.RELATIONS),
    # Two events of a passage have their own dates or places.
    partial(exchanged, "event_of_another", passage_frames.EVENTS),
    # Two people of a passage have done or have different things.
    partial(exchanged, "act_of_another", passage_frames.ACTS),
    # A pronoun or "the former" ties a second sentence to the first.
    partial(exchanged, "joint_facts", passage_frames.JOINT),
    # Two lists, of which members are exchanged, left out or made up.
    partial(exchanged, "list_members", passage_frames.MEMBERS),
    # Members of a group with features of their own, and words like "both" and "neither".
    partial(exchanged, "both_or_neither", group_frames.NATIONS),
    # All but one, or all.
    partial(exchanged, "exceptions", group_frames.EXCEPTIONS),
)
