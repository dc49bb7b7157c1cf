"""Wordings of what both, neither, all or all but one of a group have or did."""

from __future__ import annotations

from typing import Final

from propcite.attribution.judges.training.making.scenarios.filling import Frame

NATIONS: Final = (
    Frame(
        "a,b,c,d,e=surname x,y=American,French,Danish,Polish,Korean,Kenyan m=two n=three t=pilots,painters,divers,judges",  # noqa: E501
        "x y",
        (
            "Two {x} {t}—{a} and {b}—and three {y} ones—{c}, {d} and {e}—took part.",
            "The {t} {a} and {b} are {x}, while {c}, {d} and {e} are {y}.",
            "Of the five {t}, {c}, {d} and {e} hold {y} passports. // {a} and {b} are {x}.",
            "Present were {a}, {b} (both {x}), {c}, {d} and {e} (all three {y}), the best-known {t} of their day.",
        ),
        (
            "{a} is {x}.",
            "The {y} {t} were {c}, {d} and {e}.",
            "{d}, unlike {a}, is {y}.",
            "There were two {x} {t}[|, {b} and {a}].",
            "Both {a} and {b} are {x}.",
        ),
        true=(
            "Both {a} and {b} are {x}.",
            "Neither {a} nor {b} is {y}.",
            "Only {a} and {b} are {x}.",
            "{c} and {d} are {y}.",
        ),
        false=("Both {a} and {b} are <{y}>.", "<Neither> {a} <nor> {b} is {x}.", "<All five> of the {t} are {y}."),
    ),
    Frame(
        "a,b=person x,y=gold,silver,bronze p=place",
        "a b",
        (
            "In {p}, {a} won {x} and {b} {y}.",
            "{b} took the {y} medal in {p}, {a} the {x} one.",
            "Both {a} and {b} won medals in {p}. // The former's was {x}, the latter's {y}.",
            "{a} ({x}) and {b} ({y}) were the medallists from the hosts in {p}.",
        ),
        ("{a} won {x}.", "The {y} medal went to {b}.", "{b}'s medal was {y}.", "{a} won {x} and {b} won {y}."),
        true=(
            "Both {a} and {b} won medals.",
            "Neither {a} nor {b} went without a medal.",
            "Of the two, only {a} won {x}.",
        ),
        false=(
            "<Neither> {a} <nor> {b} won a medal.",
            "<Both> {a} and {b} won {x}.",
            "<Only> {a} won a medal.",
            "<Both> {a} and {b} went without a medal.",
            "Of the two, only {a} won <{y}>.",
        ),
    ),
    Frame(
        "a,b=company y=year:1980:2020 x,z=profit,leak,theft,merger",
        "a b",
        (
            "In {y} {a} and {b} differed: {a} reported a {x}, and {b} did not.",
            "{a} reported a {x} in {y}, {b} none.",
            "Only one of the two, {a}, had a {x} to report in {y}. // {b} had none.",
            "{b} had no {x} to report in {y}; {a} did report one.",
        ),
        ("{a} reported a {x}.", "{b} had no {x}.", "It was {a} that reported a {x}.", "In {y}, {b} reported no {x}."),
        true=("One of the two firms reported a {x}.", "Not both firms reported a {x}.", "Only {a} reported a {x}."),
        false=("<Both> {a} and {b} reported a {x}.", "<Neither> {a} <nor> {b} reported a {x}."),
    ),
    Frame(
        "a,b=company y=year:1980:2020 x,z=profit,leak,theft,merger",
        "x z",
        (
            "Both {a} and {b} reported a {x} in {y}; neither reported a {z}.",
            "In {y} a {x} was reported by {a} and by {b} too. // Neither had a {z} to report.",
            "Neither {a} nor {b} reported a {z} in {y}, but both reported a {x}.",
            "{a} reported a {x} in {y} but no {z}, and so did {b}.",
        ),
        (
            "Both {a} and {b} reported a {x}.",
            "Neither {a} nor {b} reported a {z}.",
            "{b} reported a {x}.",
            "{a} had no {z} to report.",
        ),
        true=("{a} was not alone in reporting a {x}.",),
        false=("<Only> {a} reported a {x}.", "<Not both> firms reported a {x}."),
    ),
)


def _except(
    fields: str, everyone: str, did: str, had_not: str, refused: str, one: str = "one", extra: str = ""
) -> tuple[Frame, Frame]:
    """Return a frame in which all but {x} did something, and one in which all did."""
    start = f"The group is made up of {{x}}, {{y}}, {{w}} and {{v}}. //{extra} "
    partly = (
        f"{start}All of {everyone} {did}, except {{x}}.",
        f"{start}All {everyone} but {{x}} {did}.",
        f"{start}With the exception of {{x}}, {everyone} {did}.",
        f"{start}Apart from {{x}}, which {had_not}, all of {everyone} {did}.",
    )
    wholly = (
        f"{start}All of {everyone} {did}, even {{x}}.",
        f"{start}All {everyone} {did}[| in the end].",
        f"{start}Without exception, {everyone} {did}.",
        f"{start}None of {everyone} {refused}: all of them {did}.",
    )
    claims = (
        f"{{y}} {did}.",
        f"{{x}} {had_not}.",
        f"{{w}} and {{y}} {did}.",
        f"The only {one} that {had_not} was {{x}}.",
        "{x} was the exception.",
    )
    every = (f"<All> of {everyone} {did}.", f"{{y}} <and {{x}}> both {did}.", f"<There was no {one} that> {had_not}.")
    some = tuple(claim.replace("<", "").replace(">", "") for claim in every)
    none_left = (
        f"{{x}} <{had_not}>.",
        f"<The only {one} that> {had_not} was {{x}}.",
        f"All of {everyone} <but {{x}}> {did}.",
        f"<Not all> of {everyone} {did}.",
        f"<Not every> {one} {did}.",
    )
    return (
        Frame(
            fields,
            "x y",
            partly,
            claims,
            false=every,
            true=(
                f"{{v}} and {{w}} {did}.",
                f"Not all of {everyone} {did}.",
                f"All of {everyone} but {{x}} {did}.",
                f"Not every {one} {did}.",
            ),
        ),
        Frame(fields, "", wholly, (f"{{y}} {did}.", f"{{x}} {did}.", *some), false=none_left, true=some),
    )


EXCEPTIONS: Final = (
    *_except(
        "x,y,w,v=country", "the four states", "ratified the treaty", "did not ratify the treaty", "stayed out", "state"
    ),
    *_except(
        "x,y,w,v=Windows,Linux,Solaris,Android,FreeBSD,Ubuntu",
        "the platforms",
        "got the update",
        "did not get the update",
        "was left out",
        "platform",
    ),
    *_except("x,y,w,v=surname", "the players", "passed the test", "did not pass the test", "failed", "player"),
    *_except("x,y,w,v=company", "the firms", "paid the fine", "did not pay the fine", "refused", "firm"),
    *_except("x,y,w,v=place", "the cities", "kept trams", "did not keep trams", "closed them", "city"),
    *_except(
        "x,y,w,v=Mercury,Venus,Earth,Mars,Saturn,Neptune",
        "the models",
        "are on display",
        "is not on display",
        "is missing",
        "model",
    ),
)
