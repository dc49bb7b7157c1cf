"""Recognise text of nonsense letters, as a PDF has whose fonts have wrong Unicode maps."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"(?<![\w.\\/_-])[a-zß-öø-ſ]{4,}(?![\w\\/_:-])")
_LETTERS = re.compile(r"[^\W\d_]+")
_VOWELS = frozenset("aeiouyæœøı")
# A page of any length in a language of Europe has some of these.
_COMMON = frozenset(
    "the of and to in is for with de la le les et que el los en un una und der die das den von ist e il di che da do "
    "os een het van och att det i w z na je se v az a és og er til ja on".split()
)
_MIN_WORDS = 25


def is_garbled(text: str) -> bool:
    """Whether a page's Latin letters make no words: it has hardly a common word, and many without a vowel."""
    words = set(_WORD.findall(text))
    if len(words) < _MIN_WORDS:
        return False
    without_vowel = sum(_VOWELS.isdisjoint(unicodedata.normalize("NFD", word)) for word in words)
    if without_vowel < 0.08 * len(words):
        return False
    tokens = _LETTERS.findall(text)
    return sum(token in _COMMON for token in tokens) < 0.02 * len(tokens)
