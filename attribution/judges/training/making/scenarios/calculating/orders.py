"""Scenes in which numbers, dates or ranks have to be compared."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from propcite.attribution.judges.training.making.scenarios.calculating.figures import (
    Values,
    cast,
    near,
    ordinal_in_words,
    tell,
)
from propcite.attribution.judges.training.making.scenarios.calculating.order_topics import (
    AMOUNTS,
    BEST,
    EVENTS,
    MEASURES,
    OF_THREE,
    RANKS,
)
from propcite.attribution.judges.training.making.scenarios.names import Names
from propcite.attribution.judges.training.making.scenarios.scene import Scenario, Scene

_TWO: Final = {
    "more": ("more", "fewer"),
    "ahead": ("ahead", "behind"),
    "larger": ("higher", "lower"),
    "dearer": ("more expensive", "cheaper"),
    "longer": ("longer", "shorter"),
    "older": ("older", "younger"),
}


def comparison(names: Names, rng: random.Random) -> Iterator[Scene]:
    topic = rng.choice((*AMOUNTS, *MEASURES))
    low = rng.randint(25, 60)
    high = low + rng.randint(1, 28)
    first_higher = rng.random() < 0.5
    words = {field: pair if first_higher else pair[::-1] for field, pair in _TWO.items()}
    values = {**cast(names, rng), **{field: pair[0] for field, pair in words.items()}}
    values |= {"a": high if first_higher else low, "b": low if first_higher else high}
    faults = [{field: pair[1]} for field, pair in words.items()]
    yield from tell("comparison", topic, rng, values, [*faults, *_swaps(values, ("pq", "cd", "ou", "kl"))])


def highest_of_three(names: Names, rng: random.Random) -> Iterator[Scene]:
    values = cast(names, rng)
    amounts = rng.sample(range(rng.randint(20, 300), 400), 3)
    ranked = [place for _, place in sorted(zip(amounts, (values[key] for key in "cde"), strict=True))]
    values |= {**dict(zip("abz", amounts, strict=True)), "low": ranked[0], "top": ranked[2]}
    faults = [{"top": place} for place in ranked[:2]] + [{"low": place} for place in ranked[1:]]
    yield from tell("superlative", rng.choice(OF_THREE), rng, values, faults)


def order_in_time(names: Names, rng: random.Random) -> Iterator[Scene]:
    early = rng.randint(1850, 2000)
    late = early + rng.choice((1, 2, 3, rng.randint(4, 40)))
    earlier = {"rel": "before", "sooner": "earlier", "was": "was already"}
    later = {"rel": "after", "sooner": "later", "was": "was not yet"}
    good, ill, a, b = (earlier, later, early, late) if rng.random() < 0.5 else (later, earlier, late, early)
    values = {**cast(names, rng), **good, "a": str(a), "b": str(b)}
    faults: list[Values] = [{field: word} for field, word in ill.items()]
    yield from tell("time_order", rng.choice(EVENTS), rng, values, [*faults, *_swaps(values, ("pq", "kl", "ou"))])


def change_of_rank(names: Names, rng: random.Random) -> Iterator[Scene]:
    upper = rng.randint(1, 15)
    steps = rng.randint(2, 15)
    moves = [("fell", "rose"), ("dropped", "climbed"), ("went down", "moved up")]
    down, up = rng.choice(moves)
    fell = rng.random() < 0.5
    ranks = (upper, upper + steps) if fell else (upper + steps, upper)
    values = {**cast(names, rng), "a": ordinal_in_words(ranks[0]), "b": ordinal_in_words(ranks[1]), "n": steps}
    values |= {"moved": down if fell else up, "year": str(rng.randint(1990, 2022))}
    faults: list[Values] = [{"n": near(rng, steps)}, {"n": near(rng, steps)}, {"moved": up if fell else down}]
    yield from tell("rank_change", rng.choice(RANKS), rng, values, faults)


def place_among_best(names: Names, rng: random.Random) -> Iterator[Scene]:
    rank, top = rng.randint(2, 16), rng.choice((3, 5, 10, 12))
    words = ("among", "outside") if rank <= top else ("outside", "among")
    values = {**cast(names, rng), "a": ordinal_in_words(rank), "n": rank - 1, "top": top, "inside": words[0]}
    faults: list[Values] = [{"inside": words[1]}, {"n": rank}, {"n": near(rng, rank - 1)}]
    yield from tell("rank_bound", rng.choice(BEST), rng, values, faults)


def _swaps(values: Values, pairs: tuple[str, ...]) -> list[Values]:
    """Return the faults in which two names have changed their places, or one stands in the other's."""
    return [fault for a, b in map(tuple, pairs) for fault in ({a: values[b], b: values[a]}, {a: values[b]})]


ORDERS: Final[tuple[Scenario, ...]] = (
    comparison,
    highest_of_three,
    order_in_time,
    change_of_rank,
    place_among_best,
)
