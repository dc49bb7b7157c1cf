"""What amounts, events and ranks are told of, and what is claimed of their order."""

from __future__ import annotations

from typing import Final

from propcite.attribution.judges.training.making.scenarios.calculating.figures import Topic

# {first} has {a}, {second} has {b}: {first} has {more} of it.
AMOUNTS: Final = (
    Topic(
        ("{c} has {a:museum}.|In {d} there are {b}.", "There are {a:museum} in {c} and {b} in {d}."),
        (
            "There are {more} museums in {c} than in {d}",
            "{c} has {more} museums than {d}",
            "{more} museums are to be found in {c} than in {d}",
            "In the number of museums, {c} is {ahead} of {d}",
        ),
        ("{e} has {x} theatres.",),
    ),
    Topic(
        (
            "{p} scored {a:goal} in the season.|{q}, who missed several matches, managed {b}.",
            "The club's best players were {p} ({a} goals) and {q} ({b} goals).",
        ),
        (
            "{p} scored {more} goals than {q}",
            "Over the season, {p} was {ahead} of {q} in goals",
            "{p}, with {more} goals than {q}, played for the same club",
            "The season saw {more} goals by {p} than by {q}",
        ),
        ("{r} gave {x} assists.",),
    ),
    Topic(
        (
            "{o} employs {a} people in {c}.|Its rival {u} has a staff of {b}.",
            "With {a} employees, {o} competes with {u}, where {b} people work.",
        ),
        (
            "{o} has {more} employees than {u}",
            "{o}, which has {more} workers than {u}, is its rival",
            "{more} people work for {o} than for {u}",
            "In staff, {o} is {ahead} of its rival {u}",
        ),
        ("{u} was founded with {x} people.",),
    ),
    Topic(
        (
            "In the first trial {a} patients recovered.|In the second, {b} did.",
            "Recovery was seen in {a} patients of the first trial and in {b} of the second.",
        ),
        (
            "{more} patients recovered in the first trial than in the second",
            "The first trial brought {more} recoveries than the second",
            "Compared with the second trial, the first had {more} recoveries",
            "There were {more} recoveries in the first trial than there were in the second",
        ),
        ("The trials lasted {x} weeks.",),
    ),
)
# The measures {a} and {b}: the first is {larger}.
MEASURES: Final = (
    Topic(
        ("The tower of {c} is {a} metres high.|That of {d} rises to {b} metres.",),
        (
            "The tower of {c} is {larger} than that of {d}",
            "{c} has a {larger} tower than {d}",
            "The {larger} of the two towers is that of {c}",
            "Compared with the tower of {d}, that of {c} is {larger}",
        ),
        ("It has {x} windows.",),
    ),
    Topic(
        ("A ticket for the train to {c} costs {a} euros.|By bus, the journey costs {b} euros.",),
        (
            "The train to {c} is {dearer} than the bus",
            "Going to {c} by train is {dearer} than taking the bus",
            "It is {dearer} to take the train to {c} than to go by bus",
            "Of the two ways to {c}, the train is the {dearer} one",
        ),
        ("The journey takes {x} minutes.",),
    ),
    Topic(
        ("The river flows {a} kilometres through {k}.|In {l} its course is {b} kilometres long.",),
        (
            "The course of the river is {longer} in {k} than in {l}",
            "The river runs {longer} through {k} than through {l}",
            "The {longer} part of the river is in {k}",
            "In {k} the river has a {longer} course than in {l}",
        ),
        ("It is crossed by {x} bridges.",),
    ),
    Topic(
        ("{p} is {a} years old.|The other candidate, {q}, is {b}.", "The candidates are {p} ({a}) and {q} ({b})."),
        (
            "{p} is {older} than {q}",
            "The {older} of the two candidates is {p}",
            "{p}, a candidate, is {older} than {q}",
            "Compared with {q}, {p} is {older}",
        ),
        ("They met in {x} debates.",),
    ),
)
# {p}, {q} and {r}, or {c}, {d} and {e}: {top} is first and {low} is last.
OF_THREE: Final = (
    Topic(
        ("The bridge at {c} is {a} metres long, that at {d} {b} metres.|The one at {e} measures {z} metres.",),
        (
            "The longest of the three bridges is at {top}",
            "{top} has the longest of the bridges",
            "The shortest of the three bridges is the one at {low}",
            "Of the three bridges, the one at {low} is the shortest",
        ),
        ("The bridges are up to {x} years old.",),
    ),
    Topic(
        (
            "{c} had {a} votes, {d} had {b} and {e} had {z}.",
            "In the vote on the host city, {c} received {a} votes and {d} {b}.|{e} received {z}.",
        ),
        (
            "{top} received the most votes",
            "The fewest votes went to {low}",
            "{top} won the vote on the host city",
            "With the fewest votes, {low} came last of the three cities",
        ),
        ("The meeting lasted {x} hours.",),
    ),
    Topic(
        ("The plant in {c} made {a} cars, {d} made {b}.|The plant in {e} produced {z} cars.",),
        (
            "The largest number of cars came from {top}",
            "The plant in {low} made the fewest cars of the three",
            "No plant made more cars than the one in {top}",
            "The plant in {top} made more cars than either of the others",
        ),
        ("A car takes {x} hours to build.",),
    ),
)
# One event in {a}, another in {b}: the first came {rel} the second.
EVENTS: Final = (
    Topic(
        (
            "{p} moved to {c} in {a}.|{q} came to the city in {b}.",
            "{q} settled in {c} in {b}, while {p} went there in {a}.",
        ),
        (
            "{p} came to {c} {rel} {q}",
            "{p} settled in {c} {sooner} than {q}",
            "In moving to {c}, {p} was {sooner} than {q}",
            "When {q} came to {c}, {p} {was} living there",
        ),
        ("{r} lived there for {x} years.",),
    ),
    Topic(
        (
            "{k} joined the alliance in {a}.|{l} became a member in {b}.",
            "The alliance admitted {k} in {a} and {l} in {b}.",
        ),
        (
            "{k} joined the alliance {rel} {l}",
            "{k} became a member of the alliance {sooner} than {l}",
            "At the time {l} joined, {k} {was} in the alliance",
            "The admission of {k} came {rel} that of {l}",
        ),
        ("It has {x} members.",),
    ),
    Topic(
        (
            "{o} presented its first electric car in {a}.|{u} did so in {b}.",
            "The first electric car by {u} came out in {b}; {o} presented one in {a}.",
        ),
        (
            "{o} presented an electric car {rel} {u} did",
            "{o} had an electric car {sooner} than {u}",
            "By the time {u} presented its car, {o} {was} selling one",
            "The electric car by {o} came {rel} the one by {u}",
        ),
        ("The car ran {x} kilometres.",),
    ),
    Topic(
        (
            "The drug was discovered by {p} in {a}.|In {b} {q} explained how the disease spreads.",
            "{q} explained the spread of the disease ({b}), and {p} discovered a drug ({a}).",
        ),
        (
            "The drug was discovered {rel} the spread of the disease was explained",
            "{p} made the discovery {rel} {q} explained the disease",
            "The discovery of the drug is {sooner} than the work of {q}",
            "When {q} explained the disease, the drug {was} known",
        ),
        ("It was given to {x} patients.",),
    ),
)
# From rank {a} to rank {b}: it {moved} {n} places.
RANKS: Final = (
    Topic(
        (
            "{k} was ranked {a} in the world in {year}.|A year later it was ranked {b}.",
            "In the world ranking, {k} went from {a} to {b} place within a year.",
        ),
        (
            "{k} {moved} {n:place} in the ranking",
            "Within a year, {k} {moved} by {n:place}",
            "The world ranking saw {k}, which {moved} {n:place}, change its position",
            "{k} {moved} in the ranking by {n:place}",
        ),
        ("{l} played {x} matches.",),
    ),
    Topic(
        (
            "The club from {c} finished the season in {a} place.|In the next season it came in {b}.",
            "After finishing {a}, the team from {c} ended the following season {b}.",
        ),
        (
            "The club from {c} {moved} {n:place} from one season to the next",
            "The team from {c} {moved} by {n:place}",
            "In the next season, the team from {c} {moved} {n:place}",
            "In the table, {c} {moved} {n:place}",
        ),
        ("It scored {x} goals.",),
    ),
    Topic(
        (
            "The song by {p} entered the chart in {a} place.|A week later it was {b}.",
            "“{w}”, by {p}, stood in {a} place on the chart and a week later in {b}.",
        ),
        (
            "The song by {p} {moved} {n:place} in a week",
            "Within a week, the song by {p} {moved} by {n:place}",
            "{p} had a song that {moved} {n:place} on the chart",
            "On the chart, the song by {p} {moved} {n:place}",
        ),
        ("It lasts {x} minutes.",),
    ),
)
# Ranked {a}, inside or outside the best {top}.
BEST: Final = (
    Topic(
        (
            "{p} came in {a} in the marathon of {c}.|{q} won.",
            "At the marathon of {c}, won by {q}, the runner {p} was placed {a}.",
            "{q} won the marathon of {c} and {p} finished {a}.",
            "The winner of the marathon of {c} was {q}, with {p} in {a} place.",
        ),
        (
            "{p} finished {inside} the top {top} of the marathon",
            "{p} ended the race in {c} {inside} the best {top}",
            "At the marathon, {p} was {n:place} behind the winner, {q}",
            "{p} was {inside} the first {top} in {c}",
        ),
        ("{r} had trained for {x} weeks.",),
    ),
)
