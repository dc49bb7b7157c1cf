"""Scenes whose wrong claims have the right words in the wrong pairs."""

from __future__ import annotations

import random
from collections.abc import Iterator

from propcite.attribution.judges.training.making.scenarios import (
    group_frames,
    pairing_frames,
    passage_frames,
    role_frames,
)
from propcite.attribution.judges.training.making.scenarios.filling import exchanged
from propcite.attribution.judges.training.making.scenarios.names import Names
from propcite.attribution.judges.training.making.scenarios.scene import Scenario, Scene


def exchanged_attributes(names: Names, rng: random.Random) -> Iterator[Scene]:
    """Two things have an attribute each: a year, a title, a rank, an act."""
    yield from exchanged("exchanged_attributes", pairing_frames.ATTRIBUTES, names, rng)


def exchanged_roles(names: Names, rng: random.Random) -> Iterator[Scene]:
    """Someone does something to someone else."""
    yield from exchanged("exchanged_roles", role_frames.ROLES, names, rng)


def reversed_relation(names: Names, rng: random.Random) -> Iterator[Scene]:
    """Kinship, age, direction and order, told from either side."""
    yield from exchanged("reversed_relation", role_frames.RELATIONS, names, rng)


def event_of_another(names: Names, rng: random.Random) -> Iterator[Scene]:
    """Two events of a passage have their own dates or places."""
    yield from exchanged("event_of_another", passage_frames.EVENTS, names, rng)


def act_of_another(names: Names, rng: random.Random) -> Iterator[Scene]:
    """Two people of a passage have done or have different things."""
    yield from exchanged("act_of_another", passage_frames.ACTS, names, rng)


def joint_facts(names: Names, rng: random.Random) -> Iterator[Scene]:
    """A pronoun or "the former" ties a second sentence to the first."""
    yield from exchanged("joint_facts", passage_frames.JOINT, names, rng)


def list_members(names: Names, rng: random.Random) -> Iterator[Scene]:
    """Two lists, of which members are exchanged, left out or made up."""
    yield from exchanged("list_members", passage_frames.MEMBERS, names, rng)


def both_or_neither(names: Names, rng: random.Random) -> Iterator[Scene]:
    """Members of a group with features of their own, and words like "both" and "neither"."""
    yield from exchanged("both_or_neither", group_frames.NATIONS, names, rng)


def exceptions(names: Names, rng: random.Random) -> Iterator[Scene]:
    """All but one, or all."""
    yield from exchanged("exceptions", group_frames.EXCEPTIONS, names, rng)


PAIRINGS: tuple[Scenario, ...] = (
    exchanged_attributes,
    exchanged_roles,
    reversed_relation,
    event_of_another,
    act_of_another,
    joint_facts,
    list_members,
    both_or_neither,
    exceptions,
)
