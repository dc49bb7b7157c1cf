"""The numbers that a text states, in digits or words, in one spelling."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from math import prod

from propcite.attribution.english.words.content import plain_words
from propcite.attribution.english.words.named_numbers import without_named
from propcite.attribution.english.words.roundings import without_filled
from propcite.attribution.english.words.spellings import (
    DIGITS,
    JOINS,
    MONTHS,
    NARROW,
    NUMBER_WORDS,
    ORDINALS,
    SCALE,
    SCALES,
    SPELT,
    in_digits,
)
from propcite.attribution.english.words.times import same_time, times, without_times

NUMBER = re.compile(rf"(?:(?P<digits>{DIGITS})|(?P<words>{SPELT}))(?P<scale>{SCALE}{{0,3}})")
_LISTED = re.compile(r"^\s*\d{1,2}[.)]\s+(?=\S)")
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
    return set(_numbers(text))


@lru_cache(maxsize=4096)
def _numbers(text: str) -> frozenset[str]:
    text = in_digits(text)
    found = {format(value.normalize(), "f") for value in _values(without_times(text))}
    # "may" and "march" are months only with a capital: "it may march" holds no date.
    months = {f"month {MONTHS[w.lower()]}" for w in re.findall(r"[A-Z][a-z]+", text) if w.lower() in MONTHS}
    return frozenset(found | times(text) | months)


def without_list_number(text: str) -> str:
    """Return a line without the number that it has in a list.

    >>> without_list_number("1. Rinse it 3 times.")
    'Rinse it 3 times.'
    """
    return _LISTED.sub("", text)


def missing_numbers(claim: str, evidence: str) -> set[str]:
    """The claim's numbers that the evidence states nowhere; "half" states 50%, and "second" states "2nd".

    A decade, a century, "about 400" or "over 20" is stated by a number within; the number of a list's line is none, nor
    is one that only names something, as in COVID-19.

    >>> missing_numbers("50% of the 2nd gate broke.", "Half of the second gate broke.")
    set()
    >>> missing_numbers("It has 1 gate.", "1. It has a gate.")
    {'1'}
    >>> missing_numbers("1. In the 17th century about 400 ships sank.", "From 1601 to 1650, 412 ships sank.")
    set()
    """
    if not numbers(claim):
        return set()
    given = set(plain_words(evidence))

    def told(found: re.Match[str]) -> str:
        word = "half" if found["half"] else ORDINALS.get(int(found["nth"]), "")
        return " " if word in given else found.group()

    stated = numbers(without_list_number(evidence))
    clocks = [number for number in stated if ":" in number]
    claim = without_filled(without_named(without_list_number(claim), evidence), stated, _values)
    missing = numbers(TOLD_IN_WORDS.sub(told, claim)) - stated
    return {number for number in missing if ":" not in number or not any(same_time(number, c) for c in clocks)}


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
        digits = re.sub(rf"[, {NARROW}]", "", term["digits"]).replace("−", "-")
        return Decimal(digits.replace(".", "") if digits.count(".") > 1 else digits)
    return Decimal(sum(NUMBER_WORDS.get(word, 1) for word in re.findall(r"\w+", term["words"].lower())))
