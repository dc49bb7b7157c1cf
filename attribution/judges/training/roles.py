"""Pairs from templates about who did what to whom and what has which property, filled with names of the rows."""

from __future__ import annotations

import random
from collections.abc import Sequence

from propcite.attribution.judges.training.pairs import NO, YES, Pair

# The verb in the past tense, its participle, and its noun if there is one.
_ACTIONS = [
    row.split("|")
    for row in """
acquired|acquired|acquisition;purchased|purchased|purchase;defeated|defeated|defeat;beat|beaten|;hired|hired|hiring;
dismissed|dismissed|dismissal;founded|founded|;replaced|replaced|replacement;criticised|criticised|criticism;
praised|praised|praise;sued|sued|;arrested|arrested|arrest;killed|killed|killing;rescued|rescued|rescue;
taught|taught|;mentored|mentored|;succeeded|succeeded|;followed|followed|;overtook|overtaken|;supplied|supplied|supply;
funded|funded|funding;invaded|invaded|invasion;conquered|conquered|conquest;attacked|attacked|attack;
nominated|nominated|nomination;elected|elected|election;appointed|appointed|appointment;blamed|blamed|;
accused|accused|;supported|supported|support;influenced|influenced|;inspired|inspired|;discovered|discovered|discovery;
invited|invited|invitation;visited|visited|;helped|helped|;interviewed|interviewed|;trained|trained|training;
overthrew|overthrown|overthrow;adopted|adopted|adoption;betrayed|betrayed|betrayal;challenged|challenged|;
outsold|outsold|;sponsored|sponsored|;absorbed|absorbed|absorption;controlled|controlled|;owned|owned|;
warned|warned|;paid|paid|;wrote about|written about|;voted for|voted for|;called|called|;chose|chosen|;
persuaded|persuaded|;rejected|rejected|rejection;threatened|threatened|;hosted|hosted|;led|led|;saw|seen|;
married off|married off|;contacted|contacted|;thanked|thanked|;copied|copied|;released|released|release
""".replace("\n", "").split(";")
]
# Two ways to state a relation, one from each side; with the names swapped each states the opposite.
_CONVERSES = [
    row.split("|")
    for row in """
{a} sold {x} to {b}|{b} bought {x} from {a};{a} is the father of {b}|{b} is the child of {a};
{a} is the mother of {b}|{a} gave birth to {b};{a} lies north of {b}|{b} lies south of {a};
{a} lies east of {b}|{b} lies west of {a};{a} is larger than {b}|{b} is smaller than {a};
{a} is older than {b}|{b} is younger than {a};{a} lent money to {b}|{b} borrowed money from {a};
{a} taught {b}|{b} was a student of {a};{a} won against {b}|{b} lost to {a};
{a} happened before {b}|{b} happened after {a};{a} is taller than {b}|{b} is not as tall as {a};
{a} employs {b}|{b} works for {a};{a} owns {b}|{b} belongs to {a};{a} contains {b}|{b} is part of {a};
{a} gave {x} to {b}|{b} received {x} from {a};{a} succeeded {b}|{b} preceded {a};
{a} costs more than {b}|{b} is cheaper than {a};{a} reports to {b}|{b} is the manager of {a};
{a} causes {b}|{b} is caused by {a};{a} leads to {b}|{b} results from {a};{a} flows into {b}|{b} is fed by {a};
{a} wrote {b}|{b} is the work of {a};{a} is the capital of {b}|{b} has {a} as its capital;
{a} moved from {b} to {x}|{a} left {b} for {x};{a} learned from {b}|{b} taught {a};
{a} finished ahead of {b}|{b} finished behind {a};{a} developed from {b}|{b} evolved into {a}
""".replace("\n", "").split(";")
]
# Symmetric relations: still true with the names swapped.
_SYMMETRIC = [
    row.split("|")
    for row in """
{a} met {b}|{b} and {a} met;{a} married {b}|{b} was married to {a};{a} merged with {b}|{b} and {a} merged;
{a} borders {b}|{b} shares a border with {a};{a} fought against {b}|{b} fought against {a};
{a} worked with {b}|{b} and {a} worked together;{a} is a sibling of {b}|{b} and {a} are siblings;
{a} differs from {b}|{b} is not the same as {a};{a} signed a treaty with {b}|{b} signed a treaty with {a}
""".replace("\n", "").split(";")
]
# A property and the slot of its value: n a number, p a place, y a year.
_PROPERTIES = [
    row.split("|")
    for row in """
{a} is {n} metres high|n;{a} was born in {p}|p;{a} opened in {y}|y;{a} cost {n} million dollars|n;
{a} has its seat in {p}|p;{a} employs {n} people|n;{a} died in {y}|y;{a} won {n} medals|n;{a} comes from {p}|p;
{a} was built in {y}|y;{a} grows in {p}|p;{a} takes {n} days|n;{a} sold {n} copies|n;{a} moved to {p}|p;
{a} scored {n} points|n;{a} is made in {p}|p;{a} was founded in {y}|y;{a} weighs {n} kilograms|n;{a} studied in {p}|p
""".replace("\n", "").split(";")
]
_COMMON_NOUNS = (
    "the council;the museum;the company;the university;the committee;the court;the mayor;the team;the army;the bank;"
    "the union;the minister;the editor;the coach;the teacher;the engineer;the patient;the nurse;the doctor;the bishop;"
    "the government;the hospital;the president;the prime minister;the senator;the architect;the new owner;the students"
).split(";")
_THINGS = "the painting;the house;three ships;the company;the land;the letter;its shares;the patent;the estate".split(
    ";"
)
_BEFORE = ("", "", "", "In {y}, ", "According to the report, ", "After long talks, ", "Later that year, ", "However, ")
_AFTER = ("", "", "", " in {y}", " for the second time", ", as the paper wrote", " with the help of {c}", " in {p}")


class RolePairs:
    """Draws pairs from templates; `names` are names of people, places and firms as they occur in texts."""

    def __init__(self, names: Sequence[str], rng: random.Random) -> None:
        self.names, self.rng = list(names), rng

    def draw(self) -> list[Pair]:
        """Draw pairs with one evidence: a paraphrase, and a claim with swapped roles or values."""
        makers = [self._action, self._action, self._converse, self._symmetric, self._property]  # more actions
        return self.rng.choice(makers)()

    def _fill(self, template: str) -> str:
        rng = self.rng
        slots = {"y": str(rng.randint(1700, 2024)), "n": str(rng.randint(2, 900)), "p": rng.choice(self.names),
                 "c": rng.choice(self.names), "x": rng.choice(_THINGS)}  # fmt: skip
        text = template.format(**slots)
        return text[0].upper() + text[1:]

    def _two_names(self) -> tuple[str, str]:
        pool = self.names if self.rng.random() < 0.7 else _COMMON_NOUNS
        a, b = self.rng.sample(pool, 2)
        return a, b

    def _evidence(self, text: str) -> str:
        text = text if text[:3] not in ("The", "the") else text[0].lower() + text[1:]
        return self._fill(self.rng.choice(_BEFORE) + text + self.rng.choice(_AFTER) + ".")

    def _pairs(self, evidence: str, right: Sequence[str], wrong: Sequence[str], kind: str) -> list[Pair]:
        """Pair the evidence with one of the right claims and one of the wrong claims."""
        supported, unsupported = self.rng.choice(right), self.rng.choice(wrong)
        return [
            Pair(self._fill(supported) + ".", evidence, YES, f"{kind} kept"),
            Pair(self._fill(unsupported) + ".", evidence, NO, f"{kind} turned"),
        ]

    def _action(self) -> list[Pair]:
        a, b = self._two_names()
        past, participle, noun = self.rng.choice(_ACTIONS)
        shapes = [f"{{a}} {past} {{b}}", f"{{b}} was {participle} by {{a}}", f"it was {{a}} that {past} {{b}}"]
        shapes += [f"the {noun} of {{b}} by {{a}} was in the news"] if noun else []
        evidence = self.rng.choice(shapes)
        claims = shapes[:2] + ([f"{{a}} was responsible for the {noun} of {{b}}"] if noun else [])
        right = [s.format(a=a, b=b) for s in claims]
        wrong = [s.format(a=b, b=a) for s in claims]
        return self._pairs(self._evidence(evidence.format(a=a, b=b)), right, wrong, "deed")

    def _converse(self) -> list[Pair]:
        a, b = self._two_names()
        ways = self.rng.choice(_CONVERSES)
        thing = self.rng.choice(_THINGS)
        ways = [way.replace("{x}", thing) for way in ways]
        evidence = self._evidence(self.rng.choice(ways).format(a=a, b=b))
        return self._pairs(evidence, [s.format(a=a, b=b) for s in ways], [s.format(a=b, b=a) for s in ways], "ends")

    def _symmetric(self) -> list[Pair]:
        a, b = self._two_names()
        ways = self.rng.choice(_SYMMETRIC)
        evidence = self.rng.choice(ways).format(a=a, b=b)
        right = [s.format(a=a, b=b) for s in ways] + [s.format(a=b, b=a) for s in ways]
        c = self.rng.choice([name for name in self.names if name not in (a, b)])
        return self._pairs(self._evidence(evidence), right, [s.format(a=a, b=c) for s in ways], "mutual")

    def _property(self) -> list[Pair]:
        """Let the evidence give two things a property each; the wrong claim swaps the values."""
        rng = self.rng
        a, b = self._two_names()
        shape, slot = rng.choice(_PROPERTIES)
        one, two = (self._value(slot) for _ in range(2))
        if one == two:
            return []
        first, second = shape.format(a=a, **{slot: one}), shape.format(a=b, **{slot: two})
        rest = shape.replace("{a} ", "").format(**{slot: two})
        joined = rng.choice([f"{first}, and {second}", f"{first}; {b} {rest}", f"{first}, while {second}"])
        right, wrong = [first, second], [shape.format(a=a, **{slot: two}), shape.format(a=b, **{slot: one})]
        return self._pairs(self._fill(joined + "."), right, wrong, "holds")

    def _value(self, slot: str) -> str:
        if slot == "p":
            return self.rng.choice(self.names)
        return str(self.rng.randint(2, 900) if slot == "n" else self.rng.randint(1700, 2024))
