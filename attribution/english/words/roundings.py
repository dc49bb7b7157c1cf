"""Numbers that a text leaves open: decades, centuries, "about 400", "over 20".  What is told exactly may fill them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal

from propcite.attribution.english.words.spellings import CURRENCY, DIGITS, SCALE, SPELT

_DECADE = re.compile(r"\b(?P<first>(?:1\d|20)\d0)[’']?s\b")
_CENTURY = re.compile(r"\b(?P<nth>\d{1,2})(?:st|nd|rd|th)[-\s]centur(?:y|ies)\b")
# How far what is meant may lie below and above the number that is said.
_VAGUE = {
    "about around approximately roughly circa": ("0.9", "1.1"),
    "nearly almost": ("0.9", "1"),
    "over": ("1", "1.25"),
    "under": ("0.8", "1"),
} | {"more than": ("1", "1.25"), "at least": ("1", "1.25"), "less than": ("0.8", "1"), "fewer than": ("0.8", "1")}
_BOUNDS = {
    word: (Decimal(low), Decimal(high))
    for words, (low, high) in _VAGUE.items()
    for word in ([words] if words.endswith(("than", "least")) else words.split())
}
_OPEN = re.compile(
    rf"\b(?P<how>(?ai:{'|'.join(sorted(_BOUNDS, key=len, reverse=True))}))\s"
    rf"(?P<number>(?:{CURRENCY})?(?:{DIGITS}|{SPELT})(?:{SCALE}){{0,3}})"
)
_YEAR = re.compile(r"(?:1\d|20)\d\d")


def without_filled(text: str, stated: Iterable[str], values: Callable[[str], list[Decimal]]) -> str:
    """The text without those open numbers that one of the stated numbers fills.  `values` reads a text's numbers.

    >>> without_filled("In the 1980s over 20 ships sank.", {"1984", "21"}, lambda text: [Decimal(text)]).split()
    ['In', 'the', 'ships', 'sank.']
    """
    given = [Decimal(number) for number in stated if re.fullmatch(r"-?\d+(?:\.\d+)?", number)]

    def filled(low: Decimal, high: Decimal, found: re.Match[str]) -> str:
        return " " if any(low <= value <= high for value in given) else found.group()

    def decade(found: re.Match[str]) -> str:
        first = int(found["first"])
        return filled(Decimal(first), Decimal(first + (9 if first % 100 else 99)), found)

    def century(found: re.Match[str]) -> str:
        nth = int(found["nth"])
        return filled(Decimal(100 * (nth - 1)), Decimal(100 * nth), found)

    def vague(found: re.Match[str]) -> str:
        read = values(found["number"])
        if len(read) != 1 or read[0] <= 0 or _YEAR.fullmatch(found["number"]):
            return found.group()
        low, high = _BOUNDS[found["how"].lower()]
        return filled(read[0] * low, read[0] * high, found)

    return _OPEN.sub(vague, _CENTURY.sub(century, _DECADE.sub(decade, text)))
