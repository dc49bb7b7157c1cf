"""Wordings of what one does to another, and of how two stand to each other."""

from __future__ import annotations

from typing import Final

from propcite.attribution.judges.training.making.scenarios.filling import Frame

_FIRM: Final = "a,b=company y=year:1960:2022 m=month p=place"
_KIN: Final = "a,b=surname y=year:1860:2015 m=month p=place"
_PEOPLE: Final = "a,b=person y=year:1860:2015 m=month p=place"
_TOWNS: Final = "a,b=place y=year:1850:2015 m=month p=country"


def _event(fields: str, active: str, passive: str, converse: str, noun: str, object_first: str) -> Frame:
    """Return a frame of one event between {a} and {b}."""
    evidence = (
        f"In {{y}}, {active}.",
        f"{passive} in {{m}} {{y}}, [according to the yearbook|as the local press reported].",
        f"{converse}[| in {{p}}] in {{y}}.",
        f"{noun} took place in {{y}}[|, to the surprise of many].",
        f"{{a}} was then better known than {{b}}. // In {{y}} {active}.",
    )
    claims = (
        f"{active} in {{y}}.",
        f"{passive}.",
        f"{converse}.",
        f"{object_first}.",
        f"{noun} took place[| in {{y}}].",
        f"It was in {{y}} that {active}.",
    )
    return Frame(fields, "a b", evidence, claims)


ROLES: Final = (
    _event(
        _FIRM,
        "{a} [acquired|took over|bought] {b}",
        "{b} was [acquired|taken over|bought] by {a}",
        "{b} became a subsidiary of {a}",
        "the acquisition of {b} by {a}",
        "it was {b} that {a} acquired",
    ),
    _event(
        _FIRM,
        "{a} sued {b}",
        "{b} was [sued|taken to court] by {a}",
        "{b} was the defendant in a case brought by {a}",
        "the lawsuit of {a} against {b}",
        "the company that {a} sued was {b}",
    ),
    _event(
        _PEOPLE,
        "{a} [defeated|beat] {b} in the final",
        "{b} was [defeated|beaten] by {a} in the final",
        "{b} lost the final to {a}",
        "the victory of {a} over {b} in the final",
        "the player whom {a} beat in the final was {b}",
    ),
    _event(
        _PEOPLE,
        "{a} succeeded {b} as [director|mayor|editor]",
        "{b} was succeeded by {a}",
        "{b} handed the post over to {a}",
        "the replacement of {b} by {a}",
        "{b} was the predecessor of {a}",
    ),
    _event(
        _KIN,
        "{a} married the daughter of {b}",
        "the daughter of {b} was married by {a}",
        "{b} became the father-in-law of {a}",
        "the wedding of {a} and the daughter of {b}",
        "{a} became the son-in-law of {b}",
    ),
    _event(
        _PEOPLE,
        "{a} lent money to {b}",
        "{b} was lent money by {a}",
        "{b} borrowed money from {a}",
        "the loan of money by {a} to {b}",
        "{b} was in debt to {a}",
    ),
    _event(
        _FIRM,
        "{a} sold [a|its] plant to {b}",
        "{b} was sold a plant by {a}",
        "{b} bought a plant from {a}",
        "the sale of a plant by {a} to {b}",
        "{b} was the buyer of a plant that had belonged to {a}",
    ),
    _event(
        _PEOPLE,
        "{a} dismissed {b}",
        "{b} was [dismissed|fired] by {a}",
        "{b} lost a post on the orders of {a}",
        "the dismissal of {b} by {a}",
        "{a} was the one who dismissed {b}",
    ),
    _event(
        _PEOPLE,
        "{a} accused {b} of plagiarism",
        "{b} was accused of plagiarism by {a}",
        "{b} faced a charge of plagiarism from {a}",
        "the accusation of plagiarism by {a} against {b}",
        "the one whom {a} accused was {b}",
    ),
    _event(
        _TOWNS,
        "troops from {a} besieged {b}",
        "{b} was besieged by troops from {a}",
        "{b} came under siege from the troops of {a}",
        "the siege of {b} by troops from {a}",
        "the city that {a} besieged was {b}",
    ),
    _event(
        _FIRM,
        "{a} supplied {b} with [parts|batteries|software]",
        "{b} was supplied by {a}",
        "{b} was a customer of {a}",
        "the delivery of goods by {a} to {b}",
        "{a} was a supplier of {b}",
    ),
)


def _relation(fields: str, forward: tuple[str, str, str], backward: tuple[str, str, str], *more: str) -> Frame:
    """Return a frame of {a} and {b} with ways to say how {a} stands to {b}, and the same from the side of {b}."""
    ways = (*forward, *backward)
    evidence = (
        *(f"[|As is well known, |According to the register, ]{way}." for way in ways),
        *(f"Both {{a}} and {{b}} are [mentioned|described] in the guide. // It says that {way}." for way in ways[1::2]),
        *more,
    )
    return Frame(fields, "a b", evidence, tuple(f"{way}." for way in ways))


RELATIONS: Final = (
    _relation(
        "a,b=person",
        ("{a} is older than {b}", "{a} was born before {b}", "of the two, {a} is the elder and {b} the younger"),
        ("{b} is younger than {a}", "{b} was born after {a}", "{b} is not as old as {a}"),
    ),
    _relation(
        "a,b=person",
        ("{a} is [the father|a parent] of {b}", "{a} had a child, {b}", "one of {a}'s children is {b}"),
        ("{b} is a child of {a}", "{b} was born to {a}", "{b} has {a} as a parent"),
    ),
    _relation(
        "a,b=person",
        ("{a} is a grandparent of {b}", "{a} has a grandchild called {b}", "among {a}'s grandchildren is {b}"),
        ("{b} is a grandchild of {a}", "{b} descends from {a}", "{b}'s grandparents include {a}"),
    ),
    _relation(
        "a,b=place",
        ("{a} lies north of {b}", "{a} is to the north of {b}", "going north from {b}, one comes to {a}"),
        ("{b} lies south of {a}", "{b} is farther south than {a}", "travellers from {a} reach {b} by going south"),
    ),
    _relation(
        "a,b=place",
        (
            "{a} lies upstream of {b}",
            "the river passes {a} before it reaches {b}",
            "{a} is farther up the river than {b}",
        ),
        ("{b} is downstream from {a}", "the river reaches {b} after passing {a}", "from {a} the river flows on to {b}"),
    ),
    _relation(
        "a,b=work",
        (
            "“{a}” was written before “{b}”",
            "“{a}” is the earlier work, “{b}” the later one",
            "“{a}” predates “{b}”",
        ),
        ("“{b}” was written after “{a}”", "“{b}” followed “{a}”", "“{b}” is newer than “{a}”"),
    ),
    _relation(
        "a,b=work",
        ("“{a}” is based on “{b}”", "“{a}” takes its plot from “{b}”", "the source of “{a}” is “{b}”"),
        (
            "“{b}” was adapted into “{a}”",
            "“{b}” served as the source for “{a}”",
            "the plot of “{b}” was reused in “{a}”",
        ),
    ),
    _relation(
        "a,b=company",
        ("{a} owns {b}", "{a} is the parent company of {b}", "{a} has {b} as a subsidiary"),
        ("{b} belongs to {a}", "{b} is owned by {a}", "{b} is a subsidiary of {a}"),
    ),
    _relation(
        "a,b=company",
        (
            "{a} employs more people than {b}",
            "{a} has the larger staff, {b} the smaller",
            "{a} outnumbers {b} in staff",
        ),
        (
            "{b} employs fewer people than {a}",
            "{b} has a smaller staff than {a}",
            "the staff of {b} is not as large as that of {a}",
        ),
    ),
    _relation(
        "a,b=person",
        ("{a} taught {b}", "{a} was the teacher of {b}", "among those who learned from {a} was {b}"),
        ("{b} was taught by {a}", "{b} was a pupil of {a}", "{b} learned the craft from {a}"),
    ),
    _relation(
        "a,b=person",
        ("{a} reports to {b}", "{a} works under {b}", "{a} has {b} as a superior"),
        ("{b} is the superior of {a}", "{b} supervises {a}", "{b} has {a} on staff"),
    ),
    _relation(
        "a,b=plugin_X,module_Y,package_Z,service_V,library_W",
        ("{a} depends on {b}", "{a} cannot run without {b}", "{a} needs {b}"),
        ("{b} is a dependency of {a}", "{b} is needed by {a}", "{b} must be present for {a} to run"),
    ),
)
