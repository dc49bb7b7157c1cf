"""The ways in which numbers and dates are written, and how those with words in them are brought to digits."""

from __future__ import annotations

import re

MONTHS = {
    name: number
    for number, names in enumerate(
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|"
        "september sep sept|october oct|november nov|december dec".split("|"),
        start=1,
    )
    for name in names.split()
}
NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
SCALES = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_TENS = "|".join(word for word, value in NUMBER_WORDS.items() if value >= 20)
_ONES = "|".join(word for word, value in NUMBER_WORDS.items() if 0 < value < 10)
# Thousands apart by a hard or a plain space ("480 000"; not "in 2019 480 came"), or by two dots or more.
NARROW = "\u00a0\u2009\u202f"
_GROUPS = (
    rf"(?<!\d[{NARROW}])\d{{1,3}}(?:[{NARROW}]\d{{3}})+(?![{NARROW}]?\d)"
    r"|(?<!\d )\d{1,3}(?: \d{3})+(?! ?\d)|\d{1,3}(?:\.\d{3}){2,}(?!\.?\d)"
)
DIGITS = rf"(?<![\w.])[-−]?(?:(?:{_GROUPS})|(?:\d{{1,3}}(?:,\d{{2,3}})*,\d{{3}}(?!\d)|\d+)(?:\.\d+)?)"
SUFFIXES = {"k": "thousand", "m": "million", "mn": "million", "bn": "billion", "b": "billion", "tn": "trillion"}
# "m" is a million only beside a currency: "3m" alone is three metres.
SUFFIX = r"(?:(?ai:k|bn|tn)\b|(?ai:mn?|b)\b(?=\s(?:euros?|dollars?|pounds?)\b))"
CURRENCY = r"[$€£¥]\s?"
SHORT_SCALE = re.compile(
    rf"(?P<money>{CURRENCY}{DIGITS})\s?(?P<of_money>(?ai:k|mn?|bn?|tn))\b|(?P<digits>{DIGITS})(?P<suffix>{SUFFIX})"
)
DAY_FIRST = re.compile(
    r"(?<![\w./])(?:(0?[1-9]|[12]\d|3[01])\.(0?[1-9]|1[0-2])\.(\d{4})|(1[3-9]|2\d|3[01])/(0?[1-9]|1[0-2])/(\d{4}))"
    r"(?![\w/]|\.\d)"
)
ISO_DATE = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(\d{2})\b")
DAY_NAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTH_NAMES = "January February March April May June July August September October November December".split()
SCALE = rf"(?:[-\s](?ai:{'|'.join(SCALES)})s?\b)"
# "one" and "a" are numbers only before a scale: "one of them" states none.
SPELT = (
    rf"(?:\b(?ai:{_TENS})[-\s](?ai:{_ONES})\b|\b(?ai:{'|'.join(w for w in NUMBER_WORDS if w != 'one')})\b"
    rf"|\b(?ai:an?|one)\b(?={SCALE}))"
)
JOINS = re.compile(r"[-\s](?:and\s)?")
ORDINALS = dict(
    enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        start=1,
    )
)
COMPOUND = re.compile(rf"\b(?P<tens>(?ai:{_TENS}))-(?P<nth>(?ai:{'|'.join(list(ORDINALS.values())[:9])}))\b")
AND_A_HALF = re.compile(rf"(?<![\w.,-])(\d+|(?ai:{'|'.join(NUMBER_WORDS)}))\s(?ai:and\sa\shalf)\b")
HALF_A = re.compile(rf"\b(?ai:half)[-\s](?:(?ai:an?)\s)?((?ai:{'|'.join(SCALES)})\b)")
_YEARS = re.compile(r"\b(?P<century>1[5-9]|20)(?P<first>\d\d)[–-](?P<last>\d\d)(?![\d–-])")
_MINUS = re.compile(r"(?<!\d\s)\b(?ai:minus)\s(?=\d)")


def in_digits(text: str) -> str:
    """The text with its short scales, its dates, its halves and its "twenty-first" in a form that `NUMBER` reads.

    >>> in_digits("£5bn, half a million, two and a half, the twenty-first, minus 5, 2027-12-31")
    '£5 billion, 0.5 million, 2.5, the 21, -5, 31 December 2027'
    """
    text = DAY_FIRST.sub(_date, SHORT_SCALE.sub(_scale, text))
    text = ISO_DATE.sub(lambda m: f"{int(m[3])} {MONTH_NAMES[int(m[2]) - 1]} {m[1]}", text)
    text = HALF_A.sub(r"0.5 \1", AND_A_HALF.sub(_and_a_half, text))
    return _YEARS.sub(_years, _MINUS.sub("-", COMPOUND.sub(_ordinal, text)))


def _date(found: re.Match[str]) -> str:
    day, month, year = (part for part in found.groups() if part)
    return f"{int(day)} {MONTH_NAMES[int(month) - 1]} {year}"


def _scale(found: re.Match[str]) -> str:
    digits, suffix = found["money"] or found["digits"], found["of_money"] or found["suffix"]
    return f"{digits} {SUFFIXES[suffix.lower()]}"


def _years(found: re.Match[str]) -> str:
    """Both years of "1990–95" whole; "2024-05" is a month."""
    century, first, last = found.groups()
    return f"{century}{first}–{century}{last}" if first < last else found.group()


def _and_a_half(found: re.Match[str]) -> str:
    whole = found[1].lower()
    return f"{NUMBER_WORDS.get(whole, whole)}.5"


def _ordinal(found: re.Match[str]) -> str:
    nth = next(value for value, name in ORDINALS.items() if name == found["nth"].lower())
    return str(NUMBER_WORDS[found["tens"].lower()] + nth)
