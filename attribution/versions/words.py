"""The words of two sentences: are they the same, and which of them differ?"""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher

from propcite.retrieval.text import Span

_NUMBERING = re.compile(r"\s*(?:[-*+•–]|#{1,6}|\(?(?:\d{1,3}(?:\.\d{1,3}){0,4}|[a-z]|[ivx]{2,5})[.)])\s+")
_WORD = re.compile(r"\w+(?:[.,'’:/-]\w+)*|[^\w\s]")
_SIGNS = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "‐": "-", "‑": "-", "–": "-", "—": "-"})
_LETTERED = re.compile(r"\w")


def plain_words(text: str) -> str:
    """Return a text as it is compared: one space between words, plain signs, and no numbering before it.

    >>> plain_words("  2. The “fee”\\n   is due")
    'The "fee" is due'
    """
    return spaced(text[_numbered(text) :])


def spaced(text: str) -> str:
    """Return the same with the numbering."""
    plain = unicodedata.normalize("NFKC", text).translate(_SIGNS).replace("``", '"').replace("''", '"')
    return " ".join(plain.split())


def same_words(left: str, right: str) -> bool:
    return plain_words(left) == plain_words(right)


def changed_words(left: str, right: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return the spans of each text that the other one has not; neighbouring words are one span.

    >>> texts = "Pay within 30 days, please.", "You pay within 60 days."
    >>> [[span.of(text) for span in spans] for text, spans in zip(texts, changed_words(*texts))]
    [['30', ', please'], ['You', '60']]
    """
    ours, theirs = (list(_WORD.finditer(text, _numbered(text))) for text in (left, right))
    matcher = SequenceMatcher(None, [_key(word) for word in ours], [_key(word) for word in theirs], autojunk=False)
    changes = [one for one in matcher.get_opcodes() if one[0] != "equal"]
    return (
        tuple(Span(ours[i].start(), ours[j - 1].end()) for _, i, j, _, _ in changes if j > i),
        tuple(Span(theirs[i].start(), theirs[j - 1].end()) for _, _, _, i, j in changes if j > i),
    )


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text in small letters."""
    return frozenset(_key(word) for word in _WORD.finditer(plain_words(text)) if _LETTERED.match(word[0]))


def _numbered(text: str) -> int:
    """Return where the numbering before a text ends; 0 without one, and where nothing follows it."""
    found = _NUMBERING.match(text)
    return found.end() if found and found.end() < len(text.rstrip()) else 0


def _key(word: re.Match[str]) -> str:
    return word[0].translate(_SIGNS).casefold()
