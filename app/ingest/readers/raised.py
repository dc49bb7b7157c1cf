"""Write raised and lowered digits as such: 10³ is not 103, and £5.20¹ has a note."""

from __future__ import annotations

import re

RAISED_DIGITS = str.maketrans("0123456789+−–-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿ")
LOWERED_DIGITS = str.maketrans("0123456789+−–-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_SIGNS = re.compile(r"\s*(?=[^\s]*[\dn])[\d+−–\-=()n,.*]{1,20}\s*")


def raised(words: str) -> str:
    """Return words that stand above the line; letters, as in 1st, and marks such as [1] have no raised form.

    >>> raised("3"), raised("n+1"), raised("st"), raised("[1]")
    ('³', 'ⁿ⁺¹', 'st', '[1]')
    """
    return words.translate(RAISED_DIGITS) if _SIGNS.fullmatch(words) else words


def lowered(words: str, before: str) -> str:
    """Return words that stand below the line; only below a fraction or after a number would they be read as another.

    >>> lowered("4", "³/"), lowered("2", "10"), lowered("2", "CO")
    ('₄', '₂', '2')
    """
    beside = before[-1:].isdigit() or before[-1:] in ("/", "⁄")
    return words.translate(LOWERED_DIGITS) if beside and _SIGNS.fullmatch(words) else words
