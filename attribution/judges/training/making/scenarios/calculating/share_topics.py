"""What rounded numbers, shares, ratios and units are told of, and what is claimed of them."""

from __future__ import annotations

from typing import Final

from propcite.attribution.judges.training.making.scenarios.calculating.figures import Topic

# {exact} is {close} {round}.
EXACT: Final = (
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
SHARES: Final = (
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
# {a} is {times} {b}.
RATIOS: Final = (
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
UNITS: Final = (
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
DOZEN_TOPICS: Final = (
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
