"""Numbers that count nothing: part of an identifier, of a title, or behind a section sign."""

from __future__ import annotations

import re

from propcite.attribution.english.words.spellings import MONTHS, NUMBER_WORDS

_IDENTIFIER = re.compile(r"(?<![\w.])(?P<letters>(?:\w++-){0,6}[A-Za-z]\w*+)-\d++(?![\w.,–-]{0,40}\d|\s?%)")
_PREFIXES = frozenset("mid pre post under over sub non early late circa minus plus".split()) | MONTHS.keys()
_SECTION = re.compile(r"(?<!§)§++\s?\d++(?:\.\d++)*")
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
