"""The numbers that a text states, in digits or words, in one spelling."""

from __future__ import annotations

import re
from decimal import Decimal
from math import prod

from attribution.words.content import plain_words

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
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_TENS = "|".join(word for word, value in NUMBER_WORDS.items() if value >= 20)
_ONES = "|".join(word for word, value in NUMBER_WORDS.items() if 0 < value < 10)
# Thousands apart by a hard or a plain space ("480 000"; not "in 2019 480 came"), or by two dots or more.
_NARROW = "\u00a0\u2009\u202f"
_GROUPS = (
    rf"(?<!\d[{_NARROW}])\d{{1,3}}(?:[{_NARROW}]\d{{3}})+(?![{_NARROW}]?\d)"
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
MONTH_NAMES = "January February March April May June July August September October November December".split()
CLOCK = re.compile(r"(?<![\w.:])\d{1,2}:\d{2}(?![\w:])")
SCALE = rf"(?:[-\s](?ai:{'|'.join(SCALES)})s?\b)"
# "one" and "a" are numbers only before a scale: "one of them" states none.
SPELT = (
    rf"(?:\b(?ai:{_TENS})[-\s](?ai:{_ONES})\b|\b(?ai:{'|'.join(w for w in NUMBER_WORDS if w != 'one')})\b"
    rf"|\b(?ai:an?|one)\b(?={SCALE}))"
)
NUMBER = re.compile(rf"(?:(?P<digits>{DIGITS})|(?P<words>{SPELT}))(?P<scale>{SCALE}{{0,3}})")
JOINS = re.compile(r"[-\s](?:and\s)?")
ORDINALS = dict(
    enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        start=1,
    )
)
TOLD_IN_WORDS = re.compile(
    r"(?<![\w.,])(?:(?P<half>50(?:\s?%|\s(?:percent|per cent)\b))|(?P<nth>\d{1,2})(?:st|nd|rd|th)\b)"
)


def numbers(text: str) -> set[str]:
    """The numbers a text states, digits or words, in one spelling; a month counts as the number it is.

    >>> sorted(numbers("Fourteen gates cost $1,250.50 in May"))
    ['1250.5', '14', 'month 5']
    >>> sorted(numbers("two hundred and fifty of 1.2 million"))
    ['1200000', '250']
    >>> sorted(numbers("£52.1m by 31.12.2027"))
    ['2027', '31', '52100000', 'month 12']
    """
    text = DAY_FIRST.sub(_date_in_words, SHORT_SCALE.sub(_scale_in_words, text))
    text = ISO_DATE.sub(lambda m: f"{int(m[3])} {MONTH_NAMES[int(m[2]) - 1]} {m[1]}", text)
    times = set(CLOCK.findall(text))
    found = {format(value.normalize(), "f") for value in _values(CLOCK.sub(" ", text))}
    # "may" and "march" are months only with a capital: "it may march" holds no date.
    months = {f"month {MONTHS[w.lower()]}" for w in re.findall(r"[A-Z][a-z]+", text) if w.lower() in MONTHS}
    return found | times | months


def _date_in_words(found: re.Match[str]) -> str:
    day, month, year = (part for part in found.groups() if part)
    return f"{int(day)} {MONTH_NAMES[int(month) - 1]} {year}"


def _scale_in_words(found: re.Match[str]) -> str:
    digits, suffix = found["money"] or found["digits"], found["of_money"] or found["suffix"]
    return f"{digits} {SUFFIXES[suffix.lower()]}"


def missing_numbers(claim: str, evidence: str) -> set[str]:
    """The claim's numbers that the evidence states nowhere; "half" states 50%, and "second" states "2nd".

    >>> missing_numbers("50% of the 2nd gate broke.", "Half of the second gate broke.")
    set()
    """
    given = set(plain_words(evidence))

    def told(found: re.Match[str]) -> str:
        word = "half" if found["half"] else ORDINALS.get(int(found["nth"]), "")
        return " " if word in given else found.group()

    return numbers(TOLD_IN_WORDS.sub(told, claim)) - numbers(evidence)


def _values(text: str) -> list[Decimal]:
    """Each number's value; words after a larger scale belong to the same number."""
    values: list[Decimal] = []
    end = limit = 0
    for term in NUMBER.finditer(text):
        scale = prod(SCALES[word.lower().removesuffix("s")] for word in re.findall(r"\w+", term["scale"]))
        value = _base(term) * scale
        if term["words"] and 0 < value < limit and JOINS.fullmatch(text[end : term.start()]):
            values[-1] += value
        else:
            values.append(value)
        end, limit = term.end(), scale
    return values


def _base(term: re.Match[str]) -> Decimal:
    if term["digits"]:
        digits = re.sub(rf"[, {_NARROW}]", "", term["digits"]).replace("−", "-")
        return Decimal(digits.replace(".", "") if digits.count(".") > 1 else digits)
    return Decimal(sum(NUMBER_WORDS.get(word, 1) for word in re.findall(r"\w+", term["words"].lower())))
