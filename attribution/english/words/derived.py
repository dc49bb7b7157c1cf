"""Numbers that follow from others by one step of arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from itertools import combinations, permutations

from propcite.attribution.english.words.numerals import missing_numbers, numbers

MOST_LISTED = 12  # of a list that is counted
_JOINS = re.compile(r",|;|\band\b|\bor\b")


def underived_numbers(claim: str, evidence: str) -> set[str]:
    """Return the claim's numbers that neither stand in the evidence nor follow from its numbers.

    >>> underived_numbers("They won by 14 points in 2016.", "They won 24–10.")
    {'2016'}
    """
    stated = numbers(evidence)
    return {number for number in missing_numbers(claim, evidence) if not is_derived(number, stated, evidence)}


def is_derived(number: str, stated: Iterable[str], evidence: str) -> bool:
    """Return whether a number follows from stated ones, or counts what a sentence lists.

    It follows as the sum, difference, product or ratio of two of them, twice one, or what one leaves of a hundred.

    Which of them is meant has to be read: this only says that the number need not be stated.

    >>> is_derived("14", ["24", "10"], "They won 24–10."), is_derived("15", ["24", "10"], "They won 24–10.")
    (True, False)
    >>> is_derived("3", [], "France, Spain and Italy signed it.")
    True
    """
    value, values = _value(number), [v for v in map(_value, stated) if v is not None]
    if value is None:
        return False
    if any(value in (a + b, abs(a - b), a * b, 100 - a) for a, b in combinations(values, 2)):
        return True
    if any(value in (100 - a, 2 * a) for a in values) or any(b and value == a / b for a, b in permutations(values, 2)):
        return True
    listed = (len(_JOINS.findall(part)) for part in re.split(r"[.!?]\s", evidence))
    return 2 <= value <= MOST_LISTED and any(joins >= value - 1 for joins in listed)


def _value(number: str) -> Decimal | None:
    """Return a number's value; None for a month or a time of day."""
    try:
        return Decimal(number)
    except InvalidOperation:
        return None
