"""Numbers in words or digits, and scenes told by templates: the same wordings for right and for wrong claims."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Final

from propcite.attribution.judges.training.making.rewriting import Piece, sentence_of
from propcite.attribution.judges.training.making.scenarios.names import Names
from propcite.attribution.judges.training.making.scenarios.scene import Scene, right, scene, wrong

_UNITS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS: Final = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS: Final = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth"} | {
    "nine": "ninth",
    "twelve": "twelfth",
}
_NAMES: Final = frozenset("pqrcdeklouwv")  # a wrong name is another one of the scene
_CLAIMS: Final = 2  # of each label in a scene

Values = Mapping[str, int | str]
Style = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Topic:
    """Wordings on one subject.

    Each evidence is an alternative, "|" stands between its sentences; the extras tell what no claim needs.
    "{n}" is a value; "{n:goal}" and "{n:man|men}" are a number with its noun.
    """

    evidence: tuple[str, ...]
    claims: tuple[str, ...]
    extras: tuple[str, ...] = ()


def in_words(number: int) -> str:
    """Return a number from 0 to 999 in words, a larger one in digits."""
    if number < 20:
        return _UNITS[number]
    if number < 100:
        return _TENS[number // 10] + (f"-{_UNITS[number % 10]}" if number % 10 else "")
    if number < 1000:
        return f"{_UNITS[number // 100]} hundred" + (f" and {in_words(number % 100)}" if number % 100 else "")
    return in_digits(number)


def in_digits(number: int) -> str:
    return f"{number:,}"


def in_print(number: int) -> str:
    """Return a number as newspapers print it: up to ten in words."""
    return in_words(number) if number <= 10 else in_digits(number)


def ordinal_in_words(number: int) -> str:
    """Return "third" for 3, up to 99."""
    head, dash, last = in_words(number).rpartition("-")
    return head + dash + _ORDINALS.get(last, f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")


def ordinal_in_digits(number: int) -> str:
    """Return "3rd" for 3."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def near(rng: random.Random, number: int, least: int = 1) -> int:
    """Return another number close to this one and not below the least."""
    offsets: list[int] = [*range(-5, 6), -2, -1, 1, 2, -10, 10]
    return rng.choice([number + d for d in offsets if d and number + d >= least])


def cast(names: Names, rng: random.Random) -> dict[str, int | str]:
    """Return the names that templates speak of, and two numbers for what no claim needs.

    People p q r, places c d e, countries k l, companies o u, works w v.
    """
    people = {key: names.person() for key in "pqr"}
    places = {key: names.place() for key in "cde"} | {key: names.country() for key in "kl"}
    things = {key: names.company() for key in "ou"} | {key: names.work() for key in "wv"}
    return {**people, **places, **things, "x": rng.randint(2, 60), "y": rng.randint(2, 60)}


def tell(
    kind: str, topic: Topic, rng: random.Random, values: Values, faults: Sequence[Values], claims: int = _CLAIMS
) -> Iterator[Scene]:
    """Yield a scene with as many right claims as wrong ones; a fault is wrong values that go together."""
    sentences = [_sentence(rng, text, values) for text in rng.choice(topic.evidence).split("|")]
    if topic.extras and rng.random() < 0.5:
        sentences.append(_sentence(rng, rng.choice(topic.extras), values))
    told = [right(kind, *_texts(rng, text, values)) for text in _some(rng, topic.claims, claims)]
    shown = " ".join(sentences)
    faults = [fault for fault in faults if all(str(new) in shown for key, new in fault.items() if key in _NAMES)]
    for text in _some(rng, topic.claims, claims):
        fault = rng.choice([fault for fault in faults if _fits(text, values, fault)])
        told.append(wrong(kind, *pieces(text, values, rng.choice(_STYLES), fault)))
    yield scene(sentences, *told)


def pieces(template: str, values: Values, style: Style, fault: Values | None = None) -> Iterator[Piece]:
    """Yield the template with its values; those of the fault are marked as wrong."""
    fault = fault or {}
    for text, field, noun, _ in Formatter().parse(template):
        yield Piece(text)
        if field is None:
            continue
        value = fault.get(field, values[field])
        yield Piece(value if isinstance(value, str) else style(value), wrong=field in fault)
        if noun:
            yield Piece(f" {_noun(noun, value)}")


def _noun(noun: str, number: int | str) -> str:
    one, _, many = noun.partition("|")
    return one if number == 1 else many or f"{one}s"


def _texts(rng: random.Random, template: str, values: Values) -> Iterator[str]:
    return (piece.text for piece in pieces(template, values, rng.choice(_STYLES)))


def _sentence(rng: random.Random, template: str, values: Values) -> str:
    made = sentence_of([Piece(text) for text in _texts(rng, template, values)])
    assert made is not None, template
    return made[0]


def _some(rng: random.Random, templates: Sequence[str], count: int) -> list[str]:
    return rng.sample(templates, min(count, len(templates)))


def _fits(template: str, values: Values, fault: Values) -> bool:
    """Return whether the template has all fields of the fault, and no name would then stand in it twice."""
    fields = _fields(template)
    kept = {values[field] for field in fields - fault.keys()}
    return fault.keys() <= fields and not any(isinstance(new, str) and new in kept for new in fault.values())


def _fields(template: str) -> set[str]:
    return {field for _, field, _, _ in Formatter().parse(template) if field}


def others(rng: random.Random, chosen: str, choices: Iterable[str]) -> str:
    """Return one of the choices that is not the chosen one."""
    return rng.choice([choice for choice in choices if choice != chosen])


_STYLES: Final[tuple[Style, ...]] = (in_words, in_digits, in_print)
