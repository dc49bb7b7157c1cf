"""Numbers that count nothing: part of an identifier, of a title, or behind a section sign."""

from __future__ import annotations

import re

from propcite.attribution.english.words.content import FUNCTION_WORDS
from propcite.attribution.english.words.spellings import MONTHS, NUMBER_WORDS

_IDENTIFIER = re.compile(r"(?<![\w.])(?P<letters>(?:\w++-){0,6}[A-Za-z]\w*+)-\d++(?![\w.,–-]{0,40}\d|\s?%)")
_PREFIXES = frozenset("mid pre post under over sub non early late circa minus plus".split()) | MONTHS.keys()
_SECTION = re.compile(r"(?<!§)§++\s?\d++(?:\.\d++)*")
_NUMBER = re.compile(r"(?<![\w.,-])\d++(?:\.\d++)*+(?![\w-])")
_WORD_BEFORE, _WORD_AFTER = re.compile(r"([^\W\d_][\w'’-]*)\s+$"), re.compile(r"\s+([^\W\d_][\w'’-]*)")
_LONGEST_WORD = 40
_TITLE = re.compile(rf"\b(?:{'|'.join(word.title() for word in NUMBER_WORDS)})(?=\s[A-Z][a-z])")


def without_named(claim: str, evidence: str) -> str:
    """Return the claim without such numbers; one remains where the evidence gives its name another number.

    >>> without_named("COVID-19 delayed Three Billboards by 4 days.", "The virus delayed it.")
    '  delayed   Billboards by 4 days.'
    >>> without_named("It is under GPL-3.", "Its licence is GPL-2.")
    'It is under GPL-3.'
    """

    def blank(found: re.Match[str]) -> str:
        letters = found["letters"]
        other = re.search(rf"\b{re.escape(letters)}[-\s]?\d", evidence, re.IGNORECASE)
        return found.group() if other or letters.lower() in _PREFIXES else " "

    return _TITLE.sub(" ", _SECTION.sub(" ", _IDENTIFIER.sub(blank, claim)))


def without_titled(claim: str, context: str, evidence: str) -> str:
    """Return the claim without numbers that belong to a word as they do in the title or heading above its evidence.

    One remains where the evidence gives that word another number.  A month names no thing: the date of a report is not
    that of what it reports.

    >>> without_titled("Python 3.11 added 2 modules.", "Python 3.11 › Modules", "tomllib is new.")
    'Python   added 2 modules.'
    >>> without_titled("The 2026 plan failed.", "Plan 2026", ""), without_titled("In 2026 it failed.", "Plan 2026", "")
    ('The   plan failed.', 'In 2026 it failed.')
    >>> without_titled("Python 3.11 added it.", "Python 3.11", "Python 3.10 added it.")
    'Python 3.11 added it.'
    """
    titled = _pairs(context)
    of_others = {word for word, _ in _pairs(evidence) - titled} if titled else set()
    named = {pair for pair in titled if pair[0] not in of_others}

    def blank(number: re.Match[str]) -> str:
        return " " if any((word, number[0]) in named for word in _beside(number, claim)) else number[0]

    return _NUMBER.sub(blank, claim) if named else claim


def _pairs(text: str) -> set[tuple[str, str]]:
    """Return each number of a text with a word beside it."""
    return {(word, number[0]) for number in _NUMBER.finditer(text) for word in _beside(number, text)}


def _beside(number: re.Match[str], text: str) -> list[str]:
    """Return the words before and after a number that may name a thing, in small letters."""
    before = _WORD_BEFORE.search(text[max(0, number.start() - _LONGEST_WORD) : number.start()])
    after = _WORD_AFTER.match(text, number.end(), number.end() + _LONGEST_WORD)
    words = [found[1].lower() for found in (before, after) if found]
    return [word for word in words if word not in FUNCTION_WORDS and word not in MONTHS]
