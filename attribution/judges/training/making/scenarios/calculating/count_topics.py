"""What scores, counts and lists are told of, and what is claimed of them."""

from __future__ import annotations

from typing import Final

from propcite.attribution.judges.training.making.scenarios.calculating.figures import Topic

# {a} against {b}, {n} apart and {s} together; {c} has the higher one.
SCORES: Final = (
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
COUNTS: Final = (
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
SUMS: Final = (
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
THREEFOLD: Final = (
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
CONTRACTS: Final = (
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
REST: Final = (
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
PERCENT_REST: Final = (
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
LISTS: Final = (
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
