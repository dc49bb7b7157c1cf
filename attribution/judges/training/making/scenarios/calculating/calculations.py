"""Scenes whose numbers have to be added, subtracted, compared as ratios, rounded or converted."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from propcite.attribution.judges.training.making.scenarios.calculating.count_topics import (
    CONTRACTS,
    COUNTS,
    LISTS,
    PERCENT_REST,
    REST,
    SCORES,
    SUMS,
    THREEFOLD,
)
from propcite.attribution.judges.training.making.scenarios.calculating.durations import DURATIONS
from propcite.attribution.judges.training.making.scenarios.calculating.figures import Topic, Values, cast, near, tell
from propcite.attribution.judges.training.making.scenarios.calculating.orders import ORDERS
from propcite.attribution.judges.training.making.scenarios.calculating.share_topics import (
    DOZEN_TOPICS,
    EXACT,
    RATIOS,
    SHARES,
    UNITS,
)
from propcite.attribution.judges.training.making.scenarios.names import Names
from propcite.attribution.judges.training.making.scenarios.scene import Scenario, Scene

# Phrase, the percentages it is said of, those of which it is not false.
_PHRASES: Final = (
    ("about a tenth", (9, 11), (7, 13)),
    ("one in ten", (10, 10), (8, 12)),
    ("one in five", (20, 20), (18, 22)),
    ("less than 15 percent", (11, 14), (0, 15)),
    ("roughly a quarter", (24, 26), (21, 29)),
    ("more than a quarter", (26, 30), (25, 100)),
    ("about a third", (32, 35), (29, 38)),
    ("almost half", (46, 49), (42, 50)),
    ("less than half", (35, 47), (0, 50)),
    ("half", (50, 50), (47, 53)),
    ("more than half", (52, 63), (50, 100)),
    ("close to two thirds", (64, 68), (60, 72)),
    ("three quarters", (75, 75), (72, 78)),
    ("more than three quarters", (77, 85), (75, 100)),
    ("nine out of ten", (90, 90), (87, 93)),
)
# {a} in one unit is {b} in another.
_LENGTHS: Final = (
    ("30 minutes", "half an hour"),
    ("45 minutes", "three quarters of an hour"),
    ("90 minutes", "an hour and a half"),
    ("120 minutes", "two hours"),
    ("150 minutes", "two and a half hours"),
    ("180 minutes", "three hours"),
    ("48 hours", "two days"),
    ("72 hours", "three days"),
    ("14 days", "a fortnight"),
    ("21 days", "three weeks"),
    ("28 days", "four weeks"),
    ("six months", "half a year"),
    ("18 months", "a year and a half"),
    ("24 months", "two years"),
    ("30 months", "two and a half years"),
)
_DOZENS: Final = (
    ("six", "half a dozen"),
    ("12", "a dozen"),
    ("24", "two dozen"),
    ("36", "three dozen"),
    ("250,000", "a quarter of a million"),
    ("500,000", "half a million"),
    ("750,000", "three quarters of a million"),
    ("1,500,000", "one and a half million"),
)


def score_margin(names: Names, rng: random.Random) -> Iterator[Scene]:
    low, margin = rng.randint(2, 60), rng.randint(1, 30)
    values: Values = {**cast(names, rng), "a": str(low + margin), "b": str(low), "n": margin, "s": 2 * low + margin}
    names_swapped: Values = {"c": values["d"], "d": values["c"]}
    faults: list[Values] = [{"n": near(rng, margin)} for _ in range(3)] + [names_swapped]
    faults += [{"s": near(rng, 2 * low + margin, 3)}, {"s": low + margin}]
    topic = SCORES[0]
    of_margins = [claim for claim in topic.claims if "{s" not in claim]
    if rng.random() < 0.5:
        yield from tell("score_margin", Topic(topic.evidence, tuple(of_margins), topic.extras), rng, values, faults)
        return
    both = (topic.claims[-1], "{c} and {d} scored {s:point} between them", "The final had {s:point} in all")
    yield from tell("score_total", Topic(topic.evidence, both, topic.extras), rng, values, faults[4:])


def count_difference(names: Names, rng: random.Random) -> Iterator[Scene]:
    low, apart = rng.randint(4, 40), rng.randint(2, 20)
    more = rng.random() < 0.5
    good, ill = (("more", "higher"), ("fewer", "lower"))[:: 1 if more else -1]
    values: Values = {
        **cast(names, rng),
        "a": low + apart if more else low,
        "b": low if more else low + apart,
        "n": apart,
        "more": good[0],
        "higher": good[1],
    }
    faults: list[Values] = [{"n": near(rng, apart)}, {"n": near(rng, apart)}, {"n": near(rng, apart)}]
    faults += [{"n": 2 * low + apart}, {"more": ill[0]}, {"higher": ill[1]}]
    yield from tell("count_difference", rng.choice(COUNTS), rng, values, faults)


def sum_of_counts(names: Names, rng: random.Random) -> Iterator[Scene]:
    three = rng.random() < 0.4
    counts = [rng.randint(2, 30) for _ in range(3 if three else 2)]
    total = sum(counts)
    wrong = {near(rng, total), near(rng, total), near(rng, total), total - counts[-1], abs(counts[0] - counts[1])}
    faults = [{"s": number} for number in sorted(wrong) if number > 1]
    values = {**cast(names, rng), **dict(zip("abz", counts, strict=False)), "s": total}
    yield from tell("sum", rng.choice(THREEFOLD if three else SUMS), rng, values, faults)


def total_over_years(names: Names, rng: random.Random) -> Iterator[Scene]:
    years, amount = rng.randint(2, 8), rng.randint(1, 15)
    total = years * amount
    wrong = {total + amount, total - amount, years + amount, near(rng, total), near(rng, total)} - {total}
    values = {**cast(names, rng), "t": years, "m": amount, "s": total}
    faults = [{"s": number} for number in sorted(wrong) if number > 1]
    yield from tell("total_over_years", rng.choice(CONTRACTS), rng, values, faults)


def remainder(names: Names, rng: random.Random) -> Iterator[Scene]:
    percent = rng.random() < 0.3
    total = 100 if percent else rng.randint(12, 95)
    part = rng.randint(3, total - 3)
    rest = total - part
    wrong = {near(rng, rest), near(rng, rest), near(rng, rest), part} - {rest}
    values = {**cast(names, rng), "total": total, "a": part, "n": rest}
    faults = [{"n": number} for number in sorted(wrong)]
    yield from tell("remainder", rng.choice(PERCENT_REST if percent else REST), rng, values, faults)


def length_of_list(names: Names, rng: random.Random) -> Iterator[Scene]:
    length = rng.randint(2, 8)
    listed = [names.country() for _ in range(length)]
    values = {**cast(names, rng), "list": f"{', '.join(listed[:-1])} and {listed[-1]}", "n": length}
    faults = [{"n": length + step} for step in (-2, -1, -1, 1, 1, 2) if length + step > 1]
    yield from tell("list_count", rng.choice(LISTS), rng, {**values, "year": str(rng.randint(1900, 2023))}, faults)


def rounded_number(names: Names, rng: random.Random) -> Iterator[Scene]:
    """A number and a round one: it is near that, a little below or a little above."""
    below = rng.random() < 0.5
    unit, text = rng.choice(((100, _thousands), (1_000, _thousands), (10_000, _thousands), (100_000, _millions)))
    tenths = rng.randint(2, 9) if unit == 100 else rng.randint(11, 89)
    gap = rng.randint(1, 6) if unit == 100 else rng.randint(unit // 200, unit // 6)
    under = rng.choice(("nearly", "almost", "just under"))
    over = rng.choice(("just over", "a little over", "slightly more than"))
    about = rng.choice(("about", "around", "roughly"))
    good, ill = (under, over) if below else (over, under)
    word = rng.choice((good, about))
    exact = tenths * unit + (-gap if below else gap)
    values: Values = {**cast(names, rng), "exact": exact, "round": text(tenths * unit), "close": word}
    steps = [step for step in range(-12, 13) if abs(step) * 9 >= tenths and tenths + step > 1]
    if unit == 100:
        steps = [step for step in steps if abs(step) < 3 and tenths + step < 10]
    faults: list[Values] = [{"round": text((tenths + step) * unit)} for step in steps]
    if word == good:
        faults += [{"close": ill}] * 2
    values = {**values, "year": str(rng.randint(1950, 2022))}
    yield from tell("rounding", rng.choice(EXACT), rng, values, faults)


def share(names: Names, rng: random.Random) -> Iterator[Scene]:
    topic = rng.choice(SHARES)
    phrases = [row for row in _PHRASES if topic is not SHARES[1] or not {"in", "out"} & set(row[0].split())]
    phrase, (least, most), _ = rng.choice(phrases)
    percent = rng.randint(least, most)
    false = [(other, said) for other, said, (low, high) in phrases if not low <= percent <= high]
    wrong = [other for other, said in sorted(false, key=lambda row: abs(sum(row[1]) - 2 * percent))[:6]]
    values = {**cast(names, rng), "percent": str(percent), "share": phrase}
    yield from tell("share", topic, rng, values, [{"share": other} for other in wrong])


def ratio(names: Names, rng: random.Random) -> Iterator[Scene]:
    words = {2: "twice", 3: "three times", 4: "four times", 5: "five times", 6: "six times"}
    parts = {2: "half", 3: "a third", 4: "a quarter"}
    smaller = rng.random() < 0.3
    factor, base = rng.choice(tuple(parts if smaller else words)), rng.randint(30, 90)
    large, small = round(factor * base * rng.uniform(0.95, 1.04)), base
    values: Values = {**cast(names, rng), "a": large, "b": small, "times": words[factor]}
    if smaller:
        values = {**values, "a": small, "b": large, "times": parts[factor]}
    said = [*parts.values(), words[factor]] if smaller else [*words.values(), parts.get(factor, "half")]
    wrong = [word for word in said if word != values["times"]]
    faults: list[Values] = [{"times": word} for word in wrong]
    faults += [{a: values[b], b: values[a]} for a, b in ("cd", "ou")]
    yield from tell("ratio", rng.choice(RATIOS), rng, values, faults)


def unit_conversion(names: Names, rng: random.Random) -> Iterator[Scene]:
    """The smaller unit stands in the evidence and the larger one in the claim, or the other way round."""
    table, topics = rng.choice(((_LENGTHS, UNITS), (_DOZENS, DOZEN_TOPICS)))
    shown, claimed = rng.sample((0, 1), 2)
    at = rng.randrange(len(table))
    faults = [{"b": table[i][claimed]} for i in range(at - 3, at + 4) if i != at and 0 <= i < len(table)]
    values = {**cast(names, rng), "a": table[at][shown], "b": table[at][claimed]}
    yield from tell("unit_conversion", rng.choice(topics), rng, values, faults)


def _thousands(number: int) -> str:
    return f"{number:,}"


def _millions(number: int) -> str:
    return f"{number / 1_000_000:.1f}".removesuffix(".0") + " million"


CALCULATIONS: Final[tuple[Scenario, ...]] = (
    score_margin,
    count_difference,
    sum_of_counts,
    total_over_years,
    remainder,
    length_of_list,
    rounded_number,
    share,
    ratio,
    unit_conversion,
    *DURATIONS,
    *ORDERS,
)
