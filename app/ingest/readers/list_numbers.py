"""Write the numbers of list items: 4, d, D, iv, IV."""

from __future__ import annotations


def numbered(count: int, form: str) -> str:
    """Write a number in one of the forms 1, a, A, i and I.

    >>> numbered(4, "i"), numbered(28, "A"), numbered(4, "1")
    ('iv', 'BB', '4')
    """
    match form:
        case "a" | "A":
            letters = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1) if 0 < count < 260 else str(count)
            return letters.upper() if form == "A" else letters
        case "i" | "I":
            return _roman(count).lower() if form == "i" else _roman(count)
    return str(count)


def _roman(count: int) -> str:
    if not 0 < count < 1000:
        return str(count)
    signs = ((900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"))
    roman = ""
    for value, sign in (*signs, (5, "V"), (4, "IV"), (1, "I")):
        roman += sign * (count // value)
        count %= value
    return roman
