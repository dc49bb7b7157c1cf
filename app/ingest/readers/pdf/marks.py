"""Put accents that a PDF draws by themselves on their letters, and write raised and lowered digits as such."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from propcite.app.ingest.readers.pdf.rules import Rectangle
from propcite.app.ingest.readers.raised import LOWERED_DIGITS, RAISED_DIGITS

# Accents that take a place of their own, with those that combine with a letter.
_COMBINING = dict(
    zip("`´ˆ˜¨˝˚ˇ˘¯˙¸˛", "\u0300\u0301\u0302\u0303\u0308\u030b\u030a\u030c\u0306\u0304\u0307\u0327\u0328", strict=True)
)
_ACCENT = re.compile(f"[{''.join(_COMBINING)}]")
_FAR = 60  # characters between an accent and its letter, at most: pdfium may write it after its word or the next
_NEAR = 6  # characters between two letters with accents and a space between them, at most
_MAX_OFFSET = 0.2  # of the letter's width, by which the accent's middle may be beside the letter
_MIN_SPACE = 0.15  # of the letter's height, from which a space between letters is real
_MAX_TRACKING = 0.15  # of the digits' height, up to which the space between digits is only letterspacing
_LEVEL = 0.1  # of the digits' height, by which the bottoms of level ones may differ
_SMALLER = 0.85  # of the size of the digit before, up to which one may be raised or lowered
_RAISED = 0.25  # of that size, by which its bottom is higher or its top lower, at least
_TRACKED = re.compile(r"(?<![0-9])[0-9](?: ?[.,]? [0-9]){2,}(?![0-9])")
_NUMBER = re.compile(r"[0-9](?:[0-9]|[.,−-](?=[0-9]))+")
_AFTER_WORD = re.compile(r"(?<=[^\W\d_]|[.,;:!?)\]”’»%])[0-9]+(?:[,−-][0-9]+)*(?!\w)")
_FIRST = re.compile(r"[−-]?[0-9]+(?:[.,][0-9]+)*(?![\w+−-])")
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


def with_numbers(text: str, box: Callable[[int], Rectangle], size: Callable[[int], float]) -> str:
    """Return the text with letterspaced numbers as one, and digits beside a larger one as exponents or indices.

    Without this 10⁶ would be 106, and a year with the mark of a note another year.  Beside a word digits become raised
    ones, as in km², but not lowered ones: CO2 is read as it is.
    """
    chars = list(text)
    for number in _TRACKED.finditer(text):
        gaps = [at for at in range(*number.span()) if text[at] == " "]
        if all(_are_tracked(box(at - 1), box(at + 1)) for at in gaps):
            for at in gaps:
                chars[at] = NOTHING
    for number in _NUMBER.finditer(text):
        level, written = number.start(), {}
        for at in range(level + 1, min(number.end() + 1, len(text))):
            signs = _signs(box(level), box(at))
            if signs is None or size(at) > _SMALLER * size(level):
                level = at
            elif at < number.end():
                written[at] = text[at].translate(signs)
            elif not text[at].isspace():  # an exponent that is no number, as that of 2ⁿ⁻¹
                written = {}
        for at, char in written.items():
            chars[at] = char
    for number in _AFTER_WORD.finditer(text):
        word = number.start() - 1
        digits = [at for at in range(*number.span()) if text[at].isdecimal()]
        if all(size(at) <= _SMALLER * size(word) and _signs(box(word), box(at)) is RAISED_DIGITS for at in digits):
            chars[slice(*number.span())] = number[0].translate(RAISED_DIGITS)
    return "".join(chars)


def _are_tracked(box: Rectangle, after: Rectangle) -> bool:
    height = box[3] - box[1]
    return 0 <= after[0] - box[2] < _MAX_TRACKING * height and abs(after[1] - box[1]) < _LEVEL * height


def beside_number(
    words: str, box: Rectangle, size: float, before: Rectangle, size_before: float, *, is_word: bool = False
) -> str:
    """Return words that follow others with the number that they begin with as an exponent or index, if it is one.

    After a word only an exponent is one.
    """
    number = _FIRST.match(words)
    if number is None or size > _SMALLER * size_before or (signs := _signs(before, box)) is None:
        return words
    if is_word and signs is not RAISED_DIGITS:
        return words
    return number[0].translate(signs) + words[number.end() :]


def _signs(box: Rectangle, after: Rectangle) -> dict[int, int] | None:
    """Return the raised or lowered digits if a rectangle is so beside another one; None if they are level."""
    least = _RAISED * (box[3] - box[1])
    if after[1] - box[1] > least:
        return RAISED_DIGITS
    return LOWERED_DIGITS if box[3] - after[3] > least else None


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
