"""Wordings in which events, people and lists of one passage can be taken for each other."""

from __future__ import annotations

from typing import Final

from propcite.attribution.judges.training.making.scenarios.filling import Frame

EVENTS: Final = (
    Frame(
        "p=place t=museum,school,library,hospital,theatre x,y=year:1880:2015< a=planned,proposed,founded b=opened,inaugurated",  # noqa: E501
        "x y",
        (
            "The {t} in {p} was {a} in {x} and {b} in {y}.",
            "{a} in {x}, the {t} of {p} was not {b} until {y}.",
            "In {x} a {t} was {a} in {p}. // It was {b} in {y}, after a long dispute over money.",
            "The {p} {t} ({a} {x}, {b} {y}) stands near the river.",
        ),
        (
            "The {t} was {b} in {y}.",
            "It was in {x} that the {t} of {p} was {a}.",
            "The year in which the {t} was {b} is {y}.",
            "The {t} in {p} was {a} in {x}[| and {b} in {y}].",
        ),
    ),
    Frame(
        "p,q=place x,y=year:1880:2010 t=tablet,mosaic,coin_hoard,shipwreck,grave,scroll u=first,larger v=second,smaller",  # noqa: E501
        "x y",
        (
            "One {t} was found near {p} in {x}, the other near {q} in {y}.",
            "Diggers came upon the {u} {t} in {x}, near {p}. // The {v} one turned up near {q} in {y}.",
            "Of the two finds, the {t} from {p} was made known in {x}, that from {q} in {y}.",
            "Two finds are kept here: a {t} from {p}, found in {x}, and a {t} that came to light near {q} in {y}.",
        ),
        (
            "The {t} from {p} was found in {x}.",
            "In {y} a {t} came to light near {q}.",
            "The find near {q} was made in {y}, that near {p} in {x}.",
            "It was in {x} that the {t} near {p} was discovered.",
        ),
        "p q, x y",
    ),
    Frame(
        "a=person m,n=place x=married,studied,settled y=died,taught,retired u,v=year:1850:2000<",
        "m n",
        (
            "{a} {x} in {m} in {u} and {y} in {n} in {v}.",
            "In {u} {a} {x} in {m}. // {a} later went to {n}, where {a} {y} in {v}.",
            "{a}, who {x} in {m} in {u}, {y} in {n} in {v}.",
            "It was in {m} that {a} {x}, and in {n} that {a} {y}.",
        ),
        (
            "{a} {y} in {n}.",
            "The place where {a} {x} was {m}.",
            "{a} {x} in {m} and {y} in {n}.",
            "It was in {n} that {a} {y}.",
        ),
    ),
    Frame(
        "p=place a,b=storm,strike,fire,election,epidemic m,n=month y=year:1900:2020",
        "m n",
        (
            "In {y}, {p} saw a {a} in {m} and an unrelated {b} in {n}.",
            "The {a} in {p} began in {m} {y}. // The {b} had nothing to do with it and came in {n} of that year.",
            "{p}'s bad year was {y}: there was a {b} in {n}, and in {m} a {a}.",
            "The year {y} is remembered in {p} for the {m} {a} and the {n} {b}.",
        ),
        (
            "The {a} in {p} was in {m}.",
            "{p} had a {b} in {n} {y}.",
            "The {b} came in {n}, the {a} in {m}.",
            "In {m} there was a {a}.",
        ),
        "a b, m n",
    ),
)

ACTS: Final = (
    Frame(
        "a,b=surname x,y=left_after_a_row,won_the_vote,signed_the_contract,paid_the_fine,wrote_the_report,fell_ill",
        "a b",
        (
            "{a} {x}, and {b} {y}.",
            "{a} and {b} sat on the board. // {a} {x}. // {b} {y} soon afterwards.",
            "While {a} {x}, {b} [—a friend for years—|] {y}.",
            "{b}, a colleague of {a}, {y}; it was {a} who {x}.",
            "Both had joined in the same year, but {a} {x} whereas {b} {y}.",
        ),
        (
            "{a} {x}.",
            "It was {b} who {y}.",
            "The one who {y} was {b}[|, not {a}].",
            "{b} {y}, whereas {a} {x}.",
            "{a} was the one who {x}.",
        ),
    ),
    Frame(
        "a,b=surname y=year:1950:2020 x,z=exit,arrival,illness,promotion,arrest,retirement",
        "a b",
        (
            "The {x} of {a} in {y} left a gap. // The {z} of {b} passed almost unnoticed.",
            "{a}'s {x} made the front pages in {y}, unlike {b}'s {z}.",
            "Fewer people followed {b}'s {z} than {a}'s {x}, which the papers of {y} covered at length.",
            "Papers in {y} wrote at length about {a}'s {x} and said little about {b}'s {z}.",
        ),
        (
            "{a}'s {x} was covered widely.",
            "Little notice was taken of the {z} of {b}.",
            "The {x} of {a} made more of a stir than the {z} of {b}.",
            "It was {b}'s {z} that got little attention.",
        ),
    ),
    Frame(
        "a,b=person u,v=perfect_pitch,a_law_degree,a_pilot's_licence,a_glass_eye,a_farm,three_cats,an_Olympic_medal",
        "a b",
        (
            "{a} has {u}; {b} does not, but has {v}.",
            "Unlike {b}, {a} has {u}. // {b}, for that matter, has {v}, which {a} lacks.",
            "Of the two presenters, {a} is the one with {u}, and {b} the one with {v}.",
            "{a}, who has {u}, presents the show with {b}, who has {v}.",
        ),
        ("{a} has {u}.", "The presenter with {v} is {b}.", "{b} has {v}, and {a} has {u}.", "It is {a} who has {u}."),
    ),
    Frame(
        "a,b=surname u,v=gene,enzyme,vaccine,comet,mineral,theorem w=year:1900:2010",
        "a b",
        (
            "{a} described the {u} in {w}, a year before {b} described the {v}.",
            "The {u} is named after {a} and the {v} after {b}; both descriptions date from {w}.",
            "In {w} {a} described the {u}. // The {v} was described by {b}, working alone.",
            "Credit for the {u} goes to {a}, and for the {v} to {b}, who described it in {w}.",
        ),
        (
            "{a} described the {u}.",
            "The {v} was described by {b}.",
            "The description of the {v} is due to {b}.",
            "The {u} is {a}'s, the {v} {b}'s.",
        ),
    ),
)

JOINT: Final = (
    Frame(
        "a,b=company p,q=place y=year:1970:2020",
        "a b",
        (
            "{a} moved to {p} in {y}. // It was joined there by nobody, since its rival {b} preferred {q}.",
            "{b} has its seat in {q}. // Its rival {a} left for {p} in {y}.",
            "{a} chose {p}, {b} chose {q}. // The former moved in {y}, the latter stayed where it was.",
            "Two rivals split the market: {a} and {b}. // The first moved to {p} in {y}, and the second is based in {q}.",  # noqa: E501
        ),
        (
            "{a} moved in {y}.",
            "{b} is found in {q}.",
            "The company in {q} is {b}; {a} went to {p}.",
            "It was {a} that moved to {p}.",
        ),
    ),
    Frame(
        "a,b=person w,v=work p=prize,medal,grant y=year:1950:2020",
        "w v",
        (
            "{a} wrote “{w}”. // The book won a {p} in {y}. // “{v}”, by the same writer, won nothing.",
            "{a}'s two novels are “{w}” and “{v}”. // The former was given a {p} in {y}; the latter was ignored.",
            "Critics ignored “{v}”. // A {p} did come to {a} in {y}, but for “{w}”.",
            "After “{v}”, which won nothing, {a} wrote “{w}”. // It was given a {p} in {y}.",
        ),
        (
            "“{w}” won a {p}.",
            "{a} was given a {p} for “{w}”.",
            "“{v}” by {a} won no {p}.",
            "The {p} went to “{w}”, not to “{v}”.",
            "It was “{w}” that brought {a} a {p} in {y}.",
        ),
    ),
    Frame(
        "a,b=surname r=queen,judge,coach,surgeon y=year:1900:2015 p=place",
        "a b",
        (
            "The {r} {a} met {b} in {y}. // A year later the {r} left for {p}, [and {b} stayed behind|without {b}].",
            "{a}, a {r}, shared a house with {b}. // In {y} {b} saw the {r} leave for {p}.",
            "{b} stayed at home. // The {r} {a}, however, left for {p} in {y} or the year after.",
            "{b} was never in {p}. // It was to that city that {a}, a {r}, had gone by {y}.",
        ),
        (
            "{a} went to {p}.",
            "{b} did not go to {p}.",
            "The person who left for {p} was {a}.",
            "{a} left for {p}, unlike {b}.",
        ),
    ),
)

MEMBERS: Final = (
    Frame(
        "a,b,c,d,e,f,z=surname p=place",
        "a d",
        (
            "The jury in {p} consisted of {a}, {b} and {c}; the finalists were {d}, {e} and {f}.",
            "{a}, {b} and {c} judged the contest in {p}, which {d}, {e} and {f} entered.",
            "The entrants in {p} were {d}, {f} and {e}. // The members of the jury were {c}, {b} and {a}.",
            "Three people ({d}, {e} and {f}) entered, and three others, {b}, {a} and {c}, were on the jury in {p}.",
        ),
        (
            "The jury included {a}.",
            "{d} was one of the entrants.",
            "{b} and {a} sat on the jury.",
            "Among those who entered were {f} and {d}.",
            "{a} was on the jury, while {d} entered the contest.",
        ),
        true=(
            "The jury consisted only of {a}, {b} and {c}.",
            "{a}, {b} and {c} were on the jury.",
            "The entrants were {f}, {e} and {d}.",
        ),
        false=(
            "{a}, <{z}> and {c} were on the jury.",
            "The entrants were {f}, <{z}> and {d}.",
            "The jury consisted <only> of {a} and {c}.",
        ),
    ),
    Frame(
        "a,b,c,d,e,z=iron,copper,zinc,tin,lead,nickel,silver,cobalt p=country",
        "a d",
        (
            "{p} exports {a}, {b} and {c}, and imports {d} and {e}.",
            "The exports of {p} are {c}, {b} and {a}; it has to import {e} and {d}.",
            "{p} buys {d} and {e} abroad. // It sells {a}, {b} and {c}.",
            "Three metals ({a}, {b}, {c}) leave the ports of {p}, and two ({d}, {e}) come in.",
        ),
        (
            "{p} exports {a}.",
            "{d} is imported by {p}.",
            "The exports of {p} include {a} and {b}.",
            "{p} imports {e} and {d}.",
        ),
        true=(
            "{p} exports {a}, {b} and {c}.",
            "Both {d} and {e} are imported.",
            "{p} exports only {c}, {a} and {b}.",
            "Neither {d} nor {e} is exported.",
        ),
        false=(
            "{p} exports {a}, <{z}> and {c}.",
            "{p} exports <only> {a} and {b}.",
            "<Neither> {d} <nor> {e} is imported.",
        ),
    ),
    Frame(
        "a,b,c,z=surname p=place",
        "c z",
        (
            "The only speakers in {p} were {a}, {b} and {c}. // {z} sat in the audience.",
            "In {p}, {a} and {b} spoke[|, as did {c}]; {z} only listened. // The last to speak was {c}.",
            "{z} was present but did not speak in {p}, unlike {a}, {b} and {c}.",
            "{p} heard speeches from all three guests, {b}, {c} and {a}, and none from {z}.",
        ),
        (
            "{c} gave a speech.",
            "{z} did not speak.",
            "The speakers were {a}, {b} and {c}.",
            "Those who spoke included {c}.",
            "{a} and {c} both spoke in {p}.",
        ),
        true=(
            "Both {a} and {b} spoke.",
            "There were speeches by {b} and others.",
            "Only {a}, {b} and {c} spoke.",
            "Neither {a} nor {b} was silent.",
        ),
        false=("<Neither> {a} <nor> {b} spoke.", "<Only> {a} and {b} spoke."),
    ),
)
