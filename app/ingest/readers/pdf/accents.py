"""Put accents that a PDF draws by themselves on their letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from propcite.app.ingest.readers.pdf.rules import Rectangle

# Accents that take a place of their own, with those that combine with a letter.
_COMBINING = dict(
    zip("`´ˆ˜¨˝˚ˇ˘¯˙¸˛", "\u0300\u0301\u0302\u0303\u0308\u030b\u030a\u030c\u0306\u0304\u0307\u0327\u0328", strict=True)
)
_ACCENT = re.compile(f"[{''.join(_COMBINING)}]")
_FAR = 60  # characters between an accent and its letter, at most: pdfium may write it after its word or the next
_NEAR = 6  # characters between two letters with accents and a space between them, at most
_MAX_OFFSET = 0.2  # of the letter's width, by which the accent's middle may be beside the letter
_MIN_SPACE = 0.15  # of the letter's height, from which a space between letters is real
NOTHING = "\x03"  # stands where a character was


def with_accents(text: str, box: Callable[[int], Rectangle]) -> str:
    """Return the text with each accent on the letter that is below or above it; U+0003 stands where the accent was.

    Spaces that only the accent's place made are removed in the same way.
    """
    found = [accent.start() for accent in _ACCENT.finditer(text)]
    if not found:
        return text
    chars = list(text)
    for at in found:
        letter = _letter(chars, at, box)
        if letter is None:
            continue
        base = {"ı": "i", "ȷ": "j"}.get(chars[letter], chars[letter])
        whole = unicodedata.normalize("NFC", base + _COMBINING[chars[at]])
        if len(whole) > 1:
            continue
        chars[letter], chars[at] = whole, NOTHING
        for step in (-1, 1):
            _close(chars, at, step, box)
    return "".join(chars)


def _letter(chars: list[str], at: int, box: Callable[[int], Rectangle]) -> int | None:
    """Return the place of the letter under an accent; None if it stands alone, as in code."""
    left, _, right, _ = box(at)
    middle = (left + right) / 2
    for other in sorted(range(max(0, at - _FAR), min(len(chars), at + _FAR + 1)), key=lambda place: abs(place - at)):
        if not chars[other].isalpha() or chars[other] in _COMBINING:
            continue
        start, bottom, end, top = box(other)
        slack = _MAX_OFFSET * (end - start)
        if start - slack < middle < end + slack and box(at)[1] < top and bottom < box(at)[3]:
            return other
    return None


def _close(chars: list[str], at: int, step: int, box: Callable[[int], Rectangle]) -> None:
    """Remove the space beside an accent if the letters on both sides of it are side by side."""
    space = at + step
    if not (0 < space < len(chars) - 1) or chars[space] != " ":
        return
    sides = [_next(chars, space, -1), _next(chars, space, 1)]
    if None in sides:
        return
    before, after = (box(side) for side in sides if side is not None)
    if after[0] - before[2] < _MIN_SPACE * (after[3] - after[1]):
        chars[space] = NOTHING


def _next(chars: list[str], at: int, step: int) -> int | None:
    """Return the place of the next character that is neither a space nor an accent."""
    for distance in range(1, _NEAR + 1):
        place = at + step * distance
        if not 0 <= place < len(chars) or chars[place] in "\r\n":
            return None
        if chars[place] not in f" {NOTHING}" and chars[place] not in _COMBINING:
            return place
    return None
