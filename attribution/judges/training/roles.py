"""Made sentences on who did what to whom, and on which thing has which property: names from given texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from propcite.attribution.judges.training.pairs import NO, YES, Pair

# What the doer did (past), what was done to the other (participle), and a noun for it where there is one.
_DEEDS = [
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
# Two ways to say one thing from its two ends; names changed round, each says the opposite.
_ENDS = [
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
# True from either end.
_MUTUAL = [
    row.split("|")
    for row in """
{a} met {b}|{b} and {a} met;{a} married {b}|{b} was married to {a};{a} merged with {b}|{b} and {a} merged;
{a} borders {b}|{b} shares a border with {a};{a} fought against {b}|{b} fought against {a};
{a} worked with {b}|{b} and {a} worked together;{a} is a sibling of {b}|{b} and {a} are siblings;
{a} differs from {b}|{b} is not the same as {a};{a} signed a treaty with {b}|{b} signed a treaty with {a}
""".replace("\n", "").split(";")
]
_HOLDS = [
    row.split("|")
    for row in """
{a} is {n} metres high|n;{a} was born in {p}|p;{a} opened in {y}|y;{a} cost {n} million dollars|n;
{a} has its seat in {p}|p;{a} employs {n} people|n;{a} died in {y}|y;{a} won {n} medals|n;{a} comes from {p}|p;
{a} was built in {y}|y;{a} grows in {p}|p;{a} takes {n} days|n;{a} sold {n} copies|n;{a} moved to {p}|p;
{a} scored {n} points|n;{a} is made in {p}|p;{a} was founded in {y}|y;{a} weighs {n} kilograms|n;{a} studied in {p}|p
""".replace("\n", "").split(";")
]
_COMMON = (
    "the council;the museum;the company;the university;the committee;the court;the mayor;the team;the army;the bank;"
    "the union;the minister;the editor;the coach;the teacher;the engineer;the patient;the nurse;the doctor;the bishop;"
    "the government;the hospital;the president;the prime minister;the senator;the architect;the new owner;the students"
).split(";")
_THINGS = "the painting;the house;three ships;the company;the land;the letter;its shares;the patent;the estate".split(
    ";"
)
_BEFORE = ("", "", "", "In {y}, ", "According to the report, ", "After long talks, ", "Later that year, ", "However, ")
_AFTER = ("", "", "", " in {y}", " for the second time", ", as the paper wrote", " with the help of {c}", " in {p}")


class Roles:
    """Draws pairs; `names` are those of people, places and firms, as texts write them."""

    def __init__(self, names: Sequence[str], dice: random.Random) -> None:
        self.names, self.dice = list(names), dice

    def draw(self) -> list[Pair]:
        """Pairs over one evidence: what it says in other words, and what it does not say."""
        makers: list[Callable[[], list[Pair]]] = [self._deed, self._deed, self._ends, self._mutual, self._holds]
        return self.dice.choice(makers)()

    def _fill(self, shape: str, **given: str) -> str:
        dice = self.dice
        slots = {"y": str(dice.randint(1700, 2024)), "n": str(dice.randint(2, 900)), "p": dice.choice(self.names),
                 "c": dice.choice(self.names), "x": dice.choice(_THINGS)}  # fmt: skip
        text = shape.format(**{**slots, **given})
        return text[0].upper() + text[1:]

    def _two(self) -> tuple[str, str]:
        pool = self.names if self.dice.random() < 0.7 else _COMMON
        a, b = self.dice.sample(pool, 2)
        return a, b

    def _evidence(self, said: str, **given: str) -> str:
        said = said if said[:3] not in ("The", "the") else said[0].lower() + said[1:]
        return self._fill(self.dice.choice(_BEFORE) + said + self.dice.choice(_AFTER) + ".", **given)

    def _pairs(self, evidence: str, right: Sequence[str], wrong: Sequence[str], kind: str) -> list[Pair]:
        yes, no = self.dice.choice(right), self.dice.choice(wrong) if wrong else ""
        made = [Pair(self._fill(yes) + ".", evidence, YES, f"{kind} kept")]
        return made + ([Pair(self._fill(no) + ".", evidence, NO, f"{kind} turned")] if no else [])

    def _deed(self) -> list[Pair]:
        a, b = self._two()
        did, done, noun = self.dice.choice(_DEEDS)
        shapes = [f"{{a}} {did} {{b}}", f"{{b}} was {done} by {{a}}", f"it was {{a}} that {did} {{b}}"]
        shapes += [f"the {noun} of {{b}} by {{a}} was in the news"] if noun else []
        told = self.dice.choice(shapes)
        claims = shapes[:2] + ([f"{{a}} was responsible for the {noun} of {{b}}"] if noun else [])
        right = [s.format(a=a, b=b) for s in claims]
        wrong = [s.format(a=b, b=a) for s in claims]
        return self._pairs(self._evidence(told.format(a=a, b=b)), right, wrong, "deed")

    def _ends(self) -> list[Pair]:
        a, b = self._two()
        shapes = [s.replace("{x}", self.dice.choice(_THINGS)) for s in [" ;; ".join(self.dice.choice(_ENDS))]]
        ends = shapes[0].split(" ;; ")
        told = self.dice.choice(ends).format(a=a, b=b)
        return self._pairs(
            self._evidence(told), [s.format(a=a, b=b) for s in ends], [s.format(a=b, b=a) for s in ends], "ends"
        )

    def _mutual(self) -> list[Pair]:
        a, b = self._two()
        ways = self.dice.choice(_MUTUAL)
        told = self.dice.choice(ways).format(a=a, b=b)
        said = [s.format(a=a, b=b) for s in ways] + [s.format(a=b, b=a) for s in ways]
        c = self.dice.choice([name for name in self.names if name not in (a, b)])
        return self._pairs(self._evidence(told), said, [s.format(a=a, b=c) for s in ways], "mutual")

    def _holds(self) -> list[Pair]:
        """Two things with a property each: the claim gives one of them its own or the other's."""
        dice = self.dice
        a, b = self._two()
        shape, slot = dice.choice(_HOLDS)
        one, two = (self._value(slot) for _ in range(2))
        if one == two:
            return []
        first, second = shape.format(a=a, **{slot: one}), shape.format(a=b, **{slot: two})
        rest = shape.replace("{a} ", "").format(**{slot: two})
        joined = dice.choice([f"{first}, and {second}", f"{first}; {b} {rest}", f"{first}, while {second}"])
        right, wrong = [first, second], [shape.format(a=a, **{slot: two}), shape.format(a=b, **{slot: one})]
        return self._pairs(self._fill(joined + "."), right, wrong, "holds")

    def _value(self, slot: str) -> str:
        """A number, a year or a place."""
        if slot == "p":
            return self.dice.choice(self.names)
        return str(self.dice.randint(2, 900) if slot == "n" else self.dice.randint(1700, 2024))
