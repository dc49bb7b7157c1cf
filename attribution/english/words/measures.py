"""Numbers with their units: as a person would quote them, and where two texts measure in different ones."""

from __future__ import annotations

import re
from collections.abc import Iterable

from propcite.attribution.english.words.numerals import numbers
from propcite.attribution.english.words.spellings import (
    AND_A_HALF,
    COMPOUND,
    CURRENCY,
    DAY_FIRST,
    DIGITS,
    HALF_A,
    ISO_DATE,
    JOINS,
    MONTHS,
    SCALE,
    SPELT,
    SUFFIX,
)
from propcite.attribution.english.words.times import CLOCK, HALF_DAY

_MONTH = r"(?:" + "|".join(sorted((m.capitalize() for m in MONTHS), key=len, reverse=True)) + r")\b"
UNITS = {
    name: (family, unit)
    for family, units in {
        "length": "m metre metres meter meters|km kilometre kilometres kilometer kilometers|mm millimetre millimetres|"
        "cm centimetre centimetres centimeter centimeters|mile miles|foot feet ft|inch inches|yard yards",
        "mass": "kg kilogram kilograms kilo kilos|g gram grams|tonne tonnes|pound pounds lb lbs",
        "time": "second seconds|minute minutes min mins|hour hours|day days|week weeks|month months|year years",
        "heat": "°C|°F",
        "share": "% percent",
    }.items()
    for unit in units.split("|")
    for name in unit.split()
} | {"percentage points": ("share", "points"), "percentage point": ("share", "points")}
_UNIT = "|".join(sorted((unit for unit in UNITS if unit != "%"), key=len, reverse=True))
# A number as a person would quote it: with its currency, its unit or its month.
NUMBER_WITH_UNIT = re.compile(
    rf"{HALF_DAY.pattern}|{CLOCK.pattern}|{COMPOUND.pattern}"
    rf"|{ISO_DATE.pattern}|{DAY_FIRST.pattern}|{CURRENCY}{DIGITS}\s?(?ai:k|mn?|bn?|tn)\b"
    rf"|{DIGITS}{SUFFIX}(?:\s(?:euros?|dollars?|pounds?)\b)?"
    rf"|(?:{CURRENCY})?(?:{AND_A_HALF.pattern}|{HALF_A.pattern}|{DIGITS}|{SPELT})"
    rf"{SCALE}{{0,3}}(?:{JOINS.pattern}{SPELT}{SCALE}{{0,3}})*"
    rf"(?:\s?%|\s(?:(?:percent|per cent)\b|{_MONTH}))?"
    rf"(?:[\s-](?:euros?|dollars?|{_UNIT}|m³/s)(?![\w/]))?"
    rf"|\b{_MONTH}(?:\s\d{{1,4}})?"
)
MEASURE = re.compile(
    rf"(?<![$€£¥])(?<![$€£¥]\s)(?P<number>(?:{DIGITS}|{SPELT}){SCALE}{{0,3}})[\s-]?"
    rf"(?P<unit>{_UNIT}|%)(?![\w/])"
)
CURRENCIES = {
    name: names.split()[0]
    for names in ("$ dollar dollars", "€ euro euros", "£ pound pounds", "¥ yen")
    for name in names.split()
}
MONEY = re.compile(
    rf"(?P<sign>[$€£¥])\s?{DIGITS}(?:\s?(?ai:k|mn?|bn?|tn)\b|{SCALE}{{0,3}})"
    rf"|(?:{DIGITS}|{SPELT}){SCALE}{{0,3}}\s(?P<name>{'|'.join(name for name in CURRENCIES if name.isalpha())})\b"
)


def other_unit(claim: str, evidence: str) -> tuple[str, str] | None:
    """A number that both state, in units of one kind that differ, as each writes it.

    >>> other_unit("The path is 3 miles long.", "The path is 3 km long.")
    ('3 miles', '3 km')
    >>> other_unit("It cost $5 million.", "It cost 5 million euros.")
    ('$5 million', '5 million euros')
    """
    given: dict[tuple[frozenset[str], str], dict[str, str]] = {}  # quotes by unit, of each amount
    own = list(_measures(claim))
    for value, family, unit, quote in _measures(evidence) if own else ():
        given.setdefault((value, family), {}).setdefault(unit, quote)
    for value, family, unit, quote in own:
        quotes = given.get((value, family), {})
        if quotes and unit not in quotes:
            return quote, next(iter(quotes.values()))
    return None


def _measures(text: str) -> Iterable[tuple[frozenset[str], str, str, str]]:
    for found in MEASURE.finditer(text):
        yield frozenset(numbers(found["number"])), *UNITS[found["unit"]], found.group()
    for found in MONEY.finditer(text):
        yield frozenset(numbers(found.group())), "money", CURRENCIES[found["sign"] or found["name"]], found.group()
