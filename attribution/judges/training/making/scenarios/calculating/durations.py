"""Scenes in which a span of time, an age, a decade or a date has to be calculated."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from propcite.attribution.english import DAY_NAMES, MONTH_NAMES
from propcite.attribution.judges.training.making.scenarios.calculating.figures import (
    Topic,
    cast,
    in_words,
    near,
    ordinal_in_digits,
    ordinal_in_words,
    others,
    tell,
)
from propcite.attribution.judges.training.making.scenarios.calculating.time_topics import (
    AGES,
    ANCIENT,
    DATES,
    MONTHS_APART,
    PERIODS,
    SHIFTS,
    WEEKDAYS,
    YEARS,
)
from propcite.attribution.judges.training.making.scenarios.names import Names
from propcite.attribution.judges.training.making.scenarios.scene import Scenario, Scene


def difference_of_years(names: Names, rng: random.Random) -> Iterator[Scene]:
    first = rng.randint(1800, 1960)
    span = rng.randint(2, 50)
    faults: list[dict[str, int | str]] = [{"n": near(rng, span)} for _ in range(3)]
    values = {**cast(names, rng), "a": str(first), "b": str(first + span), "n": span}
    yield from tell("year_difference", _spanning(rng.choice(YEARS), "{n:year}"), rng, values, faults)


def difference_of_ancient_years(names: Names, rng: random.Random) -> Iterator[Scene]:
    last, span = rng.randint(12, 480), rng.randint(2, 50)
    values = {**cast(names, rng), "a": str(last + span), "b": str(last), "n": span}
    faults = [{"n": near(rng, span)} for _ in range(3)]
    yield from tell("year_difference", _spanning(rng.choice(ANCIENT), "{n:year}"), rng, values, faults)


def rough_difference_of_years(names: Names, rng: random.Random) -> Iterator[Scene]:
    """Spans as "nearly three decades" and "some thirty-five years"."""
    topic = rng.choice((*YEARS, *ANCIENT))
    first = rng.randint(1830, 1950) if topic in YEARS else rng.randint(20, 470)
    values = cast(names, rng)
    faults: list[dict[str, int | str]]
    if rng.random() < 0.5:
        told = 5 * rng.randint(2, 11)
        span, text = told + rng.randint(-1, 1), "{about} {told:year}"
        values |= {"about": rng.choice(("some", "about", "around", "roughly")), "told": told}
        faults = [{"told": told + step} for step in (-20, -15, -10, 10, 15, 20) if told + step > 4]
    else:
        tens, below = rng.randint(2, 6), rng.random() < 0.5
        span, text = 10 * tens + rng.choice((-2, -1) if below else (1, 2)), "{near} {tens:decade}"
        under, over = rng.choice(("nearly", "almost", "just under")), rng.choice(("more than", "just over"))
        values |= {"near": under if below else over, "tens": tens}
        steps = (-1, 1) if below or over == "just over" else (1, 2)
        faults = [{"near": over if below else under}]
        faults += [{"tens": tens + step} for step in steps]
    ancient = topic in ANCIENT
    values |= {"a": str(first + span if ancient else first), "b": str(first if ancient else first + span)}
    yield from tell("rough_duration", _spanning(topic, text), rng, values, faults)


def difference_of_days(names: Names, rng: random.Random) -> Iterator[Scene]:
    first = rng.randint(1, 20)
    span = rng.randint(2, 28 - first)
    month = rng.choice(MONTH_NAMES)
    values = {**cast(names, rng), "d1": str(first), "d2": str(first + span), "n": span, "m": month}
    faults = [{"n": near(rng, span)} for _ in range(3)]
    yield from tell("day_difference", rng.choice(DATES), rng, values, faults)


def difference_of_months(names: Names, rng: random.Random) -> Iterator[Scene]:
    first = rng.randint(0, 8)
    last = rng.randint(first + 2, 11)
    months = {"m1": MONTH_NAMES[first], "m2": MONTH_NAMES[last]}
    values = {**cast(names, rng), **months, "a": str(rng.randint(1900, 2023)), "n": last - first}
    faults = [{"n": n} for n in range(2, 11) if 2 <= abs(n - last + first) <= 4]
    yield from tell("month_difference", rng.choice(MONTHS_APART), rng, values, faults)


def age_at_event(names: Names, rng: random.Random) -> Iterator[Scene]:
    """Without months an age may be a year less, and only ages further off are wrong."""
    born, years = rng.randint(1790, 1960), rng.randint(19, 80)
    values = {**cast(names, rng), "a": str(born), "b": str(born + years), "m1": "", "m2": ""}
    if rng.random() < 0.5:
        first, last = rng.sample(range(12), 2)
        age = years if first < last else years - 1
        values |= {"m1": f"{MONTH_NAMES[first]} ", "m2": f"{MONTH_NAMES[last]} "}
        wrong = [age - 2, age - 1, age + 1, age + 2, age + 10]
    else:
        age = rng.choice((years, years, years - 1))
        wrong = [years - 4, years - 3, years - 2, years + 1, years + 2, years + 10]
    faults = [{"n": n} for n in wrong]
    yield from tell("age_at_event", rng.choice(AGES), rng, {**values, "n": age}, faults)


def decade_or_century(names: Names, rng: random.Random) -> Iterator[Scene]:
    topic = rng.choice(PERIODS)
    year = rng.randint(1830 if topic is PERIODS[0] else 1410, 1989)
    if year % 100 < 10 or year % 100 == 50:
        year += 13
    century = year // 100 + 1
    ordinal = rng.choice((ordinal_in_words, ordinal_in_digits))
    halves = ("first", "second") if year % 100 < 50 else ("second", "first")
    decade = year - year % 10
    values = {**cast(names, rng), "a": str(year), "decade": f"{decade}s", "century": ordinal(century)}
    faults: list[dict[str, int | str]] = [
        {"decade": f"{decade + step}s"} for step in (-20, -10, 10, 100) if (decade + step) % 100
    ]
    faults += [{"century": ordinal(century + step)} for step in (-1, -1, 1)]
    faults += [{"half": halves[1]}]
    yield from tell("decade_or_century", topic, rng, {**values, "half": halves[0]}, faults)


def shifted_year(names: Names, rng: random.Random) -> Iterator[Scene]:
    year, shift = rng.randint(1850, 2010), rng.choice((-5, -4, -3, -2, -1, 1, 1, 2, 3, 4, 5, 10))
    if abs(shift) == 1:
        gap = rng.choice(("the following year", "the next year", "a year later") if shift > 0 else ("a year earlier",))
    else:
        gap = f"{in_words(abs(shift))} years " + rng.choice(
            ("later", "afterwards") if shift > 0 else ("earlier", "before")
        )
    values = {**cast(names, rng), "a": str(year), "b": str(year + shift), "gap": gap}
    years = {year, year - shift, year + shift - 1, year + shift + 1}
    yield from tell("relative_date", rng.choice(SHIFTS), rng, values, [{"b": str(y)} for y in sorted(years)])


def weekday(names: Names, rng: random.Random) -> Iterator[Scene]:
    first, gap, begin = rng.randint(1, 18), rng.randint(2, 10), rng.randrange(7)
    day, later = DAY_NAMES[begin], DAY_NAMES[(begin + gap) % 7]
    values = {**cast(names, rng), "d1": str(first), "d2": str(first + gap), "m": rng.choice(MONTH_NAMES), "n": gap}
    faults = [{"day2": others(rng, later, DAY_NAMES)} for _ in range(3)]
    yield from tell("weekday", rng.choice(WEEKDAYS), rng, {**values, "day1": day, "day2": later}, faults)


def _spanning(topic: Topic, span: str) -> Topic:
    """Return the topic with the span of its claims told this way."""
    return Topic(topic.evidence, tuple(claim.replace("{span}", span) for claim in topic.claims), topic.extras)


DURATIONS: Final[tuple[Scenario, ...]] = (
    difference_of_years,
    difference_of_ancient_years,
    rough_difference_of_years,
    difference_of_days,
    difference_of_months,
    age_at_event,
    decade_or_century,
    shifted_year,
    weekday,
)
