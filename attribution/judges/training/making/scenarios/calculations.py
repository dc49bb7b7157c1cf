"""Scenes whose numbers have to be added, subtracted, compared as ratios, rounded or converted."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from propcite.attribution.judges.training.making.scenarios.durations import DURATIONS
from propcite.attribution.judges.training.making.scenarios.figures import Topic, Values, cast, near, tell
from propcite.attribution.judges.training.making.scenarios.names import Names
from propcite.attribution.judges.training.making.scenarios.orders import ORDERS
from propcite.attribution.judges.training.making.scenarios.scene import Scenario, Scene

# {a} against {b}, {n} apart and {s} together; {c} has the higher one.
_SCORES: Final = (
    Topic(
        (
            "{c} won the final {a}–{b} against {d}.",
            "{c} met {d} in the final.|It ended with a score of {a}–{b} in favour of {c}.",
            "In the final, {d} lost to {c} by a score of {a} to {b}.",
            "The team from {c}, trained by {p}, beat {d} in the final, {a}–{b}.",
        ),
        (
            "{c} won the final by {n:point}",
            "{d} lost the final by {n:point}",
            "The margin in the final was {n:point}",
            "With {n:point} more than {d}, {c} took the final",
            "{c} beat {d} in the final by {n:point}",
            "In the final against {d}, {c} was ahead by {n:point} at the end",
            "Together, {c} and {d} scored {s:point} in the final",
        ),
        ("{p} scored {x} points in the semifinal.", "At half-time {x} fans had left the hall."),
    ),
)
# {a} of one kind and {b} of another.
_COUNTS: Final = (
    Topic(
        (
            "The record of {p} at the club: goals ({a}), assists ({b}).",
            "{p} scored {a} goals for the club and gave {b} assists.",
            "With {a} goals and {b} assists, {p} was the best player of the club.",
        ),
        (
            "{p} had {n} {more} goals than assists",
            "For the club, {p} scored {n} {more} goals than assists",
            "The goals of {p} were {n} {more} than the assists",
            "As for goals, {p} had {n} {more} than assists",
        ),
        ("{q} stayed at the club for {x} matches.",),
    ),
    Topic(
        (
            "The first season of “{w}” has {b} episodes.|The second, shown a year later, has {a}.",
            "“{w}” ran for two seasons, the first with {b} and the second with {a} episodes.",
        ),
        (
            "The second season of “{w}” had {n} {more} episodes than the first",
            "“{w}” had {n} {more} episodes in its second season than in its first",
            "Compared with the first season, the second season of “{w}” has {n} {more} episodes",
            "There were {n} {more} episodes in the second season of “{w}” than in the first",
        ),
        ("An episode lasts {x} minutes.",),
    ),
    Topic(
        (
            "In {k}, {a} mines are in use.|{l} has {b}.",
            "{o} runs {a} mines in {k} and {b} in {l}.",
        ),
        (
            "{k} has {n} {more} mines than {l}",
            "There are {n} {more} mines in {k} than in {l}",
            "In {k} there are {n} {more} mines than in {l}",
            "The number of mines in {k} is {higher} than that of {l} by {n}",
        ),
        ("The deepest mine has {x} levels.",),
    ),
    Topic(
        (
            "Of the patients given the drug, {a} had headaches.|In the control group {b} did.",
            "Headaches were reported by {a} patients on the drug and by {b} patients in the control group.",
        ),
        (
            "{n} {more} patients had headaches on the drug than in the control group",
            "Headaches struck {n} {more} patients on the drug than in the control group",
            "With the drug, {n} {more} patients had headaches than without it",
            "Compared with the control group, {n} {more} patients had headaches on the drug",
        ),
        ("The trial ran for {x} weeks.",),
    ),
)
# {a}, {b} and perhaps {z}, which make {s} in all.
_SUMS: Final = (
    Topic(
        (
            "The crew was made up of {a} Americans and {b} Frenchmen.",
            "On board were {a} Americans and, as guests, {b} Frenchmen.",
            "{a} Americans and {b} Frenchmen made up the expedition.",
        ),
        (
            "The group had {s} members in all",
            "There were {s} people in all",
            "In total, {s} people took part",
            "Altogether, the Americans and the Frenchmen numbered {s}",
        ),
        ("They took {x} dogs with them.",),
    ),
    Topic(
        (
            "Of the races of {p}, {a} ended in first and {b} in second place.",
            "{p} finished first {a} times and second {b} times.",
        ),
        (
            "{p} finished first or second in {s} races",
            "In {s} races, {p} came first or second",
            "{s} times, {p} was among the first two",
            "{p} ended {s} races in one of the first two places",
        ),
        ("{q} won the title with {x} points.",),
    ),
    Topic(
        (
            "{o} runs {a} hotels in {k}.|There are {b} more in {l}.",
            "The hotels of {o} are in {k} ({a}) and {l} ({b}).",
        ),
        (
            "{o} has {s} hotels in {k} and {l}",
            "In {k} and {l} together, {o} runs {s} hotels",
            "A total of {s} hotels in {k} and {l} belong to {o}",
            "{k} and {l} have {s} hotels of {o} between them",
        ),
        ("The first hotel had {x} rooms.",),
    ),
)
_THREEFOLD: Final = (
    Topic(
        (
            "The storm killed {a} people in {c}, {b} in {d} and {z} in {e}.",
            "In {c} {a} people died in the storm, and {b} in {d}.|{z} deaths were reported from {e}.",
        ),
        (
            "The storm killed {s} people in the three cities",
            "{s} people died in the storm in {c}, {d} and {e}",
            "In all, {s} deaths were reported from the three cities",
            "Altogether, {s} people lost their lives in the storm",
        ),
        ("It lasted {x} hours.",),
    ),
    Topic(
        (
            "{k} won {a} gold, {b} silver and {z} bronze medals.",
            "The medals of {k} were gold ({a}), silver ({b}) and bronze ({z}).",
        ),
        (
            "{k} won {s} medals in all",
            "A total of {s} medals went to {k}",
            "Athletes from {k} took home {s} medals",
            "{s} medals were won by {k}",
        ),
        ("{l} sent {x} athletes.",),
    ),
)
# {t} years at {m} million each, {s} million in all.
_CONTRACTS: Final = (
    Topic(
        (
            "{p} signed a {t}-year contract with {o}, which pays {m} million dollars a year.",
            "The contract of {p} with {o} runs for {t} years.|It is worth {m} million dollars annually.",
            "{o} pays {p} {m} million dollars in each of the {t} years of the contract.",
            "Under a deal over {t} years, {p} receives {m} million dollars a year from {o}.",
        ),
        (
            "The contract of {p} with {o} is worth {s} million dollars over its term",
            "Over the whole term, {o} pays {p} {s} million dollars",
            "{p} will have earned {s} million dollars when the contract with {o} ends",
            "In total, the contract brings {p} {s} million dollars",
        ),
        ("{q} was paid a bonus of {x} thousand dollars.",),
    ),
)
# {a} of {total}; {n} remain.
_REST: Final = (
    Topic(
        (
            "There were {total} forest fires in {k} last year.|{a} of them grew large.",
            "Of the {total} forest fires counted in {k}, {a} grew large.",
        ),
        (
            "{n} of the fires did not grow large",
            "In {k}, {n} fires stayed small",
            "{n} forest fires in {k} did not become large ones",
            "Large fires aside, {k} had {n} fires",
        ),
        ("{x} planes were used.",),
    ),
    Topic(
        (
            "The library had {total} manuscripts.|{a} were lost in a fire.",
            "A fire destroyed {a} of the {total} manuscripts of the library.",
        ),
        (
            "{n} of the manuscripts survived the fire",
            "The library was left with {n} manuscripts",
            "After the fire, {n} manuscripts remained",
            "The fire spared {n} manuscripts",
        ),
        ("{p} had worked there for {x} years.",),
    ),
    Topic(
        (
            "{a} of the {total} members of the council voted for the bridge; all others voted against it.",
            "All {total} members of the council voted on the bridge: {a} were for it and the rest against it.",
        ),
        (
            "{n} members of the council voted against the bridge",
            "The bridge was opposed by {n} members",
            "There were {n} votes against the bridge",
            "In the council, {n} members did not vote for the bridge",
        ),
        ("The bridge is {x} metres long.",),
    ),
)
_PERCENT_REST: Final = (
    Topic(
        (
            "At {o}, {a} percent of the employees are men.",
            "Men make up {a} percent of the employees of {o}, and all others are women.",
        ),
        (
            "Women make up {n} percent of the employees of {o}",
            "{n} percent of the employees of {o} are women",
            "At {o}, {n} percent of the staff are women",
            "The share of women at {o} is {n} percent",
        ),
        ("The company has {x} offices.",),
    ),
)
# The list {list} has {n} members.
_LISTS: Final = (
    Topic(
        ("The treaty was signed by {list}.", "In {year}, {list} signed the treaty in {c}."),
        (
            "{n} countries signed the treaty",
            "The treaty was signed by {n} countries",
            "The treaty has {n} signatories",
            "{n} states put their names to the treaty",
        ),
        ("The treaty has {x} articles.",),
    ),
    Topic(
        ("The tour took the band to {list}.", "On the tour, the band gave concerts in {list}."),
        (
            "The band visited {n} countries on the tour",
            "{n} countries were on the tour",
            "The tour led the band through {n} countries",
            "In all, the band went to {n} countries",
        ),
        ("It played {x} songs a night.",),
    ),
    Topic(
        ("{o} sells its cars in {list}.", "The cars of {o} are sold in {list} only."),
        (
            "{o} sells cars in {n} countries",
            "The cars of {o} can be bought in {n} countries",
            "{n} countries are named as markets of {o}",
            "There are {n} countries in which {o} sells its cars",
        ),
        ("A car costs {x} thousand euros.",),
    ),
)
# {exact} is {close} {round}.
_EXACT: Final = (
    Topic(
        ("The census of {year} counted {exact} inhabitants in {c}.", "{c} had {exact} inhabitants in {year}."),
        (
            "{c} has {close} {round} inhabitants",
            "The city of {c} had {close} {round} inhabitants",
            "According to the census, {close} {round} people lived in {c}",
            "In {year}, {close} {round} people were living in {c}",
        ),
        ("There were {x} schools.",),
    ),
    Topic(
        ("{o} sold {exact} bicycles in {year}.", "In {year} the sales of {o} came to {exact} bicycles."),
        (
            "{o} sold {close} {round} bicycles in {year}",
            "{close} {round} bicycles were sold by {o}",
            "Sales of {o} reached {close} {round} bicycles",
            "The bicycles sold by {o} numbered {close} {round}",
        ),
        ("It had {x} dealers.",),
    ),
    Topic(
        ("“{w}” was seen by {exact} people in {k}.", "In {k}, {exact} tickets were sold for the film “{w}”."),
        (
            "“{w}” had {close} {round} viewers in {k}",
            "{close} {round} people saw “{w}” in {k}",
            "The film “{w}” drew {close} {round} people in {k}",
            "In {k}, the audience of “{w}” was {close} {round}",
        ),
        ("It ran for {x} weeks.",),
    ),
)
# {percent} percent is {share}.
_SHARES: Final = (
    Topic(
        ("Of the voters in {c}, {percent} percent chose {p}.", "{p} won {percent} percent of the vote in {c}."),
        (
            "{share} of the voters in {c} chose {p}",
            "{p} was the choice of {share} of the voters in {c}",
            "In {c}, {share} of the votes went to {p}",
            "{p} received {share} of the votes in {c}",
        ),
        ("Turnout rose by {x} percent.",),
    ),
    Topic(
        (
            "Forests cover {percent} percent of {k}.",
            "In {k}, {percent} percent of the land is covered by forest.",
        ),
        (
            "{share} of {k} is forest",
            "Forests cover {share} of {k}",
            "{k} is a country with forest on {share} of its land",
            "In {k}, {share} of the land is forest",
        ),
        ("Lakes cover {x} square kilometres.",),
    ),
    Topic(
        (
            "The drug helped {percent} percent of the patients.",
            "In the trial, {percent} percent of the patients were helped by the drug.",
        ),
        (
            "The drug helped {share} of the patients",
            "{share} of the patients were helped by the drug",
            "In {share} of the patients, the drug worked",
            "The trial found that the drug helps {share} of the patients",
        ),
        ("It lasted {x} weeks.",),
    ),
)
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
# {a} is {times} {b}.
_RATIOS: Final = (
    Topic(
        (
            "{c} has {a} hospital beds.|In {d} there are {b}.",
            "There are {a} hospital beds in {c}, compared with {b} in {d}.",
        ),
        (
            "{c} has close to {times} as many hospital beds as {d}",
            "There are about {times} as many hospital beds in {c} as in {d}",
            "The number of hospital beds in {c} is roughly {times} that of {d}",
            "Compared with {d}, {c} has around {times} the number of hospital beds",
        ),
        ("{e} has {x} clinics.",),
    ),
    Topic(
        (
            "{o} sold {a} trucks and {u} sold {b}.",
            "Sales of trucks came to {b} at {u}.|{o} sold {a}.",
        ),
        (
            "{o} sold about {times} as many trucks as {u}",
            "Sales of trucks by {o} were roughly {times} those by {u}",
            "The truck sales of {o} were close to {times} those of {u}",
            "{o} had around {times} the truck sales of {u}",
        ),
        ("A truck needs {x} days to build.",),
    ),
    Topic(
        (
            "Smoking was given up by {a} people in the first group and by {b} in the second, which was as large.",
            "Both groups were of equal size: {a} people in the first and {b} in the second gave up smoking.",
        ),
        (
            "About {times} as many people gave up smoking in the first group as in the second",
            "The proportion that gave up smoking was roughly {times} as high in the first group as in the second",
            "In the first group, close to {times} the number of people gave up smoking that did so in the second",
            "The first group had around {times} the proportion of people who gave up smoking in the second",
        ),
        ("They met {x} times.",),
    ),
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
_UNITS: Final = (
    Topic(
        ("The operation took {a}.|{p} led the team.", "{p} operated on the patient for {a}."),
        (
            "The operation lasted {b}",
            "The operation was over after {b}",
            "It took {b} to operate on the patient",
            "The patient was operated on for {b}",
        ),
        ("There were {x} nurses in the clinic.",),
    ),
    Topic(
        ("The talks between {k} and {l} lasted {a}.", "After {a}, the talks of {k} with {l} came to an end."),
        (
            "{k} and {l} held talks for {b}",
            "The talks between {k} and {l} ended after {b}",
            "For {b}, {k} held talks with {l}",
            "It took {b} to finish the talks between {k} and {l}",
        ),
        ("There were {x} guests.",),
    ),
)
_DOZEN_TOPICS: Final = (
    Topic(
        ("{o} delivered {a} batteries to {k}.", "A total of {a} batteries were sent to {k} by {o}."),
        (
            "{o} delivered {b} batteries to {k}",
            "{k} received {b} batteries from {o}",
            "The delivery of {o} to {k} was made up of {b} batteries",
            "The number of batteries that {o} sent to {k} was {b}",
        ),
        ("They were packed within {x} hours.",),
    ),
    Topic(
        ("The museum of {c} owns {a} coins.", "There are {a} coins in the museum of {c}."),
        (
            "The museum of {c} has {b} coins",
            "In the museum of {c} there are {b} coins",
            "A collection of {b} coins belongs to the museum of {c}",
            "{b} coins are kept in the museum of {c}",
        ),
        ("It has {x} rooms.",),
    ),
)


def score_margin(names: Names, rng: random.Random) -> Iterator[Scene]:
    low, margin = rng.randint(2, 60), rng.randint(1, 30)
    values: Values = {**cast(names, rng), "a": str(low + margin), "b": str(low), "n": margin, "s": 2 * low + margin}
    names_swapped: Values = {"c": values["d"], "d": values["c"]}
    faults: list[Values] = [{"n": near(rng, margin)} for _ in range(3)] + [names_swapped]
    faults += [{"s": near(rng, 2 * low + margin, 3)}, {"s": low + margin}]
    topic = _SCORES[0]
    told = [claim for claim in topic.claims if "{s" not in claim]
    if rng.random() < 0.5:
        yield from tell("score_margin", Topic(topic.evidence, tuple(told), topic.extras), rng, values, faults)
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
    yield from tell("count_difference", rng.choice(_COUNTS), rng, values, faults)


def sum_of_counts(names: Names, rng: random.Random) -> Iterator[Scene]:
    three = rng.random() < 0.4
    counts = [rng.randint(2, 30) for _ in range(3 if three else 2)]
    total = sum(counts)
    wrong = {near(rng, total), near(rng, total), near(rng, total), total - counts[-1], abs(counts[0] - counts[1])}
    faults = [{"s": number} for number in sorted(wrong) if number > 1]
    values = {**cast(names, rng), **dict(zip("abz", counts, strict=False)), "s": total}
    yield from tell("sum", rng.choice(_THREEFOLD if three else _SUMS), rng, values, faults)


def total_over_years(names: Names, rng: random.Random) -> Iterator[Scene]:
    years, amount = rng.randint(2, 8), rng.randint(1, 15)
    total = years * amount
    wrong = {total + amount, total - amount, years + amount, near(rng, total), near(rng, total)} - {total}
    values = {**cast(names, rng), "t": years, "m": amount, "s": total}
    faults = [{"s": number} for number in sorted(wrong) if number > 1]
    yield from tell("total_over_years", rng.choice(_CONTRACTS), rng, values, faults)


def remainder(names: Names, rng: random.Random) -> Iterator[Scene]:
    percent = rng.random() < 0.3
    total = 100 if percent else rng.randint(12, 95)
    part = rng.randint(3, total - 3)
    rest = total - part
    wrong = {near(rng, rest), near(rng, rest), near(rng, rest), part} - {rest}
    values = {**cast(names, rng), "total": total, "a": part, "n": rest}
    faults = [{"n": number} for number in sorted(wrong)]
    yield from tell("remainder", rng.choice(_PERCENT_REST if percent else _REST), rng, values, faults)


def length_of_list(names: Names, rng: random.Random) -> Iterator[Scene]:
    length = rng.randint(2, 8)
    listed = [names.country() for _ in range(length)]
    values = {**cast(names, rng), "list": f"{', '.join(listed[:-1])} and {listed[-1]}", "n": length}
    faults = [{"n": length + step} for step in (-2, -1, -1, 1, 1, 2) if length + step > 1]
    yield from tell("list_count", rng.choice(_LISTS), rng, {**values, "year": str(rng.randint(1900, 2023))}, faults)


def rounded_number(names: Names, rng: random.Random) -> Iterator[Scene]:
    """A number told as a round one that it is near, a little below or a little above."""
    below = rng.random() < 0.5
    unit, text = rng.choice(((100, _thousands), (1_000, _thousands), (10_000, _thousands), (100_000, _millions)))
    tenths = rng.randint(2, 9) if unit == 100 else rng.randint(11, 89)
    gap = rng.randint(1, 6) if unit == 100 else rng.randint(unit // 200, unit // 6)
    under = rng.choice(("nearly", "almost", "just under"))
    over = rng.choice(("just over", "a little over", "slightly more than"))
    about = rng.choice(("about", "around", "roughly"))
    good, ill = (under, over) if below else (over, under)
    told = rng.choice((good, about))
    exact = tenths * unit + (-gap if below else gap)
    values: Values = {**cast(names, rng), "exact": exact, "round": text(tenths * unit), "close": told}
    steps = [step for step in range(-12, 13) if abs(step) * 9 >= tenths and tenths + step > 1]
    if unit == 100:
        steps = [step for step in steps if abs(step) < 3 and tenths + step < 10]
    faults: list[Values] = [{"round": text((tenths + step) * unit)} for step in steps]
    if told == good:
        faults += [{"close": ill}] * 2
    values = {**values, "year": str(rng.randint(1950, 2022))}
    yield from tell("rounding", rng.choice(_EXACT), rng, values, faults)


def share(names: Names, rng: random.Random) -> Iterator[Scene]:
    topic = rng.choice(_SHARES)
    phrases = [row for row in _PHRASES if topic is not _SHARES[1] or not {"in", "out"} & set(row[0].split())]
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
    yield from tell("ratio", rng.choice(_RATIOS), rng, values, faults)


def unit_conversion(names: Names, rng: random.Random) -> Iterator[Scene]:
    """The smaller unit stands in the evidence and the larger one in the claim, or the other way round."""
    table, topics = rng.choice(((_LENGTHS, _UNITS), (_DOZENS, _DOZEN_TOPICS)))
    told, meant = rng.sample((0, 1), 2)
    at = rng.randrange(len(table))
    faults = [{"b": table[i][meant]} for i in range(at - 3, at + 4) if i != at and 0 <= i < len(table)]
    values = {**cast(names, rng), "a": table[at][told], "b": table[at][meant]}
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
