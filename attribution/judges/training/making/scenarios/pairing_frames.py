"""Wordings in which two things, or two people in an event, have something each."""

from __future__ import annotations

from typing import Final

from propcite.attribution.judges.training.making.scenarios.filling import Frame

_BOTH: Final = "a b, x y"

ATTRIBUTES: Final = (
    Frame(
        "a,b=person x,y=year:1901:1990 c=place",
        "x y",
        (
            "The [sale|exhibition] in {c} included {x} and {y} paintings by {a} and {b}, respectively.",
            "Visitors to the gallery in {c} can see a painting made by {a} in {x} and another that {b} finished in {y}.",  # noqa: E501
            "In {c} hang two canvases: one by {a} ({x}) and one by {b} ({y}).",
            "The museum in {c} owns only two modern works. // {a} painted the first in {x}; the second, by {b}, is from {y}.",  # noqa: E501
        ),
        (
            "The painting by {a} dates from {x}, [while|whereas] that by {b} was made in {y}.",
            "{b} finished the canvas shown in {c} in {y}.",
            "Among the works in {c} [are|were] a {x} {a} and a {y} {b}.",
            "In {c} one could see a work from {y} by {b} and one by {a}, painted in {x}.",
            "{a}'s picture was painted in {x} ({b}'s, in {y}).",
        ),
        _BOTH,
    ),
    Frame(
        "a=person m,n=number:12:60 s=club,league,national_team,cup",
        "m n",
        (
            "{a} finished the [season|campaign] with {m} goals and {n} assists.",
            "Over the year, {a} set up {n} goals for others and scored {m}.",
            "With {n} assists to go with {m} goals, {a} had the best year of any forward.",
            "{a} scored {m} times before being injured. // In the same season the striker also provided {n} assists.",
        ),
        (
            "{a} scored {m} goals and made {n} assists.",
            "{a} was credited with {n} assists[| in that season].",
            "The number of goals scored by {a} was {m}.",
            "That season {a} found the net {m} times and helped teammates to do so {n} times.",
            "{a}, who had {n} assists, scored {m} goals.",
        ),
    ),
    Frame(
        "a,b=person w=work x,y=directed,produced,edited,financed",
        "x y",
        (
            "“{w}” was {x} by {a} and {y} by {b}.",
            "{a} {x} “{w}”, which {b} {y}.",
            "The film “{w}”, {y} by {b}, was {x} by {a} [|over eleven weeks ]in Iceland.",
            "“{w}” opened to good reviews. // {a} {x} it, and {b} {y} it.",
            "{a} ({x}) and {b} ({y}) worked together again on “{w}”.",
        ),
        (
            "{a} {x} “{w}”.",
            "{b} {y} the film and {a} {x} it.",
            "It was {a} who {x} “{w}”, while {b} {y} it.",
            "“{w}”, {y} by {b}, was {x} by {a}.",
            "The person who {y} “{w}” was {b}.",
        ),
        _BOTH,
    ),
    Frame(
        "a=company m,n=month x,y=raised_prices,cut_jobs,opened_a_plant,closed_two_shops,changed_its_logo,hired_engineers",  # noqa: E501
        "x y",
        (
            "{a} {x} in {m} and {y} in {n}.",
            "In {m}, {a} {x}; in {n} it {y}.",
            "{a} had a difficult year. // The company {x} in {m} and {y} in {n}.",
            "{a}, which had {x} in {m}, {y} in {n}.",
        ),
        (
            "In {n} {a} {y}.",
            "{a} {y} in {n}, and it {x} in {m}.",
            "It was in {m} that {a} {x}[|, not in {n}].",
            "The company {x} in {m} and {y} in {n}.",
            "{a} {x} during {m}.",
        ),
        "m n, x y",
    ),
    Frame(
        "a=place,x p,q=year:1920:1960< r,s=year:1965:2020< z=cup,league,regatta,debating_contest,chess_championship",
        "p q",
        (
            "The {a} team won the {z} in {p} and {r}, and [was|finished as] runner-up in {q} and {s}.",
            "{a} has won the {z} twice ({p}, {r}) and lost two finals ({q}, {s}).",
            "Champions of the {z} in {p} and {r}, {a} came second in {q} and {s}.",
            "{a} took part in four finals of the {z}. // It won those of {p} and {r} and lost the ones held in {q} and {s}.",  # noqa: E501
        ),
        (
            "{a} won the {z} in {p}.",
            "In {q} {a} was runner-up in the {z}.",
            "The {z} was won by {a} in {p} and {r}; in {q} and {s} the team came second.",
            "The final lost by {a} in {q} was followed by another defeat in {s}.",
            "{a}'s victories in the {z} came in {p} and {r}.",
        ),
    ),
    Frame(
        "a,b=country x,y=work c=company",
        "x y",
        (
            "The series is titled simply “{x}” in {a}, while {c} used “{y}” in {b}.",
            "{c} sells the game as “{x}” in {a} and as “{y}” in {b}.",
            "Known in {a} as “{x}”, the novel was published in {b} by {c} under the title “{y}”.",
            "The film was called “{x}” in {a}. // For its release in {b}, {c} renamed it “{y}”.",
        ),
        (
            "In {b} it was known as “{y}”.",
            "The title was “{x}” in {a}, and “{y}” in {b}.",
            "“{y}” was the name under which it appeared in {b}, “{x}” the one used in {a}.",
            "People in {a} know it as “{x}”.",
            "It went by “{x}” in {a} and by “{y}” in {b}.",
        ),
        _BOTH,
    ),
    Frame(
        "p=place m,n=fourth,seventh,ninth,12th,14th,16th,25th,27th,38th,46th",
        "m n",
        (
            "The tower in {p} is the {m}-tallest in the world and the {n}-tallest built since the war.",
            "The port of {p} ranks {m} in the world and {n} among ports with rail links.",
            "Its university, ranked {m} in the world, is {n} among those founded after 1900, and lies in {p}.",
        ),
        (
            "[It|The one in {p}] ranks {m} worldwide.",
            "It is {m} in the world ranking, though in the narrower one it is {n}.",
            "Worldwide it is only {m}.",
            "Being {m} in the world, it comes {n} in the narrower list.",
        ),
    ),
    Frame(
        "a,b=country z=treaty,convention,ceasefire,trade_agreement,charter x,y=signed,rejected,drafted,amended,published",  # noqa: E501
        "x y",
        (
            "{a} {x} the {z}, which {b} {y}.",
            "The {z} was {x} by {a} and {y} by {b}.",
            "While {a} {x} the {z}, {b} {y} it.",
            "Talks on the {z} ended in March. // {a} {x} it; {b} {y} it.",
        ),
        (
            "{b} {y} the {z}.",
            "The {z} was {y} by {b}, while {a} {x} it.",
            "{a} was the country that {x} the {z}.",
            "The {z}, {x} by {a}, was {y} by {b}.",
        ),
        _BOTH,
    ),
    Frame(
        "a,b=--json,--quiet,--force,--dry-run,--watch,--trace x,y=deletes_the_cache,hides_warnings,writes_a_log,"
        "skips_the_tests,prints_the_plan,locks_the_file",
        "x y",
        (
            "The option {a} {x}, and {b} {y}.",
            "With {a} the tool {x}; with {b} it {y}.",
            "Use {a} (which {x}) or {b} (which {y}).",
            "The command takes two flags. // The first, {a}, {x}, while the second, {b}, {y}.",
        ),
        (
            "{b} {y}.",
            "The flag {a} {x}.",
            "The tool {y} if {b} is given, and {x} if {a} is given.",
            "It is {a} that {x}, whereas {b} {y}.",
        ),
        _BOTH,
    ),
)
