"""Detect that the evidence has another name where the claim has one of its own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from propcite.attribution.english.grammar import tag
from propcite.attribution.english.languages import language_of
from propcite.attribution.english.words import DAY_NAMES, FUNCTION_WORDS, MONTH_NAMES, plain_share, stem

CAPITALIZED_NOUNS = ("German",)  # languages in which a capital does not mark a name
MAX_WORDS = 60  # of a sentence of the evidence
NUM_NEIGHBOURS = 3  # words on each side of a name that define its place
MIN_STEM = 4  # letters that the forms of a name share: Peru and Peruvian, Spain and Spaniard
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[^\W_]+")
_CLITIC = re.compile(r"['’](?:s|ve|re|ll|d|m)?$")
_COMMON_ENDINGS = ("s", "ing", "ed", "ly", "tion", "ment", "ness", "ism")  # of a first word that is hardly a name
_DATES = frozenset((*DAY_NAMES, *MONTH_NAMES))
_LINKS = frozenset(". & - '".split())
_TITLES = frozenset(
    "mr mrs ms miss dr prof professor sir lady lord dame president king queen prince princess pope st saint".split()
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name as written, its words in plain letters, and the stems of up to three words on each side, nearest first."""

    text: str
    words: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    is_first: bool


def name_mismatch(claim: str, evidence: str, context: str = "", *, share: float) -> tuple[str, str] | None:
    """Return a name of the claim and the evidence's other name in its place, as written there; None if there is none.

    At least `share` of the rest of the claim must be in the same sentence of the evidence.  A name that the context
    mentions does not count, and neither do other forms of a name: initials, a surname alone, an adjective.

    >>> name_mismatch("The museum in Madrid is free.", "The museum in Lisbon is free.", share=0.6)
    ('Madrid', 'Lisbon')
    >>> name_mismatch("Eva Ruiz opened it.", "Ana Ruiz opened it in May.", share=0.6)
    ('Eva Ruiz', 'Ana Ruiz')
    >>> name_mismatch("Peruvian trains are slow.", "In Peru trains are slow.", share=0.6)
    """
    names = _names(claim)
    source = f"{context}\n{evidence}" if names else ""
    names = tuple(name for name in names if not _is_mentioned(name, source))
    if not names:
        return None
    claim_words = _words(claim)
    for sentence in _SENTENCE.split(evidence):
        if len(sentence.split()) <= MAX_WORDS:
            for own, other in product(names, _names(sentence)):
                if _replaces(own, other, claim_words) and plain_share(_without(claim, own), sentence) >= share:
                    return None if language_of(f"{claim} {sentence}") in CAPITALIZED_NOUNS else (own.text, other.text)
    return None


def _replaces(own: Name, other: Name, claim_words: frozenset[str]) -> bool:
    """Return whether the evidence's name is a different one in the same place, or of another person of that surname."""
    new = [word for word in other.words if not _has_form(word, claim_words)]
    if own.is_first and other.is_first and len(own.words) == len(other.words) == 1 and _is_common(own, other):
        return False
    if len(new) == len(other.words):
        return _is_same_place(own, other)
    return bool(new) and len(own.words) == len(other.words) and own.words[-1] == other.words[-1]


def _is_same_place(own: Name, other: Name) -> bool:
    """Return whether the names share at least two neighbours, one of them a content word."""
    before, after = _num_shared(own.before, other.before), _num_shared(own.after, other.after)
    shared = own.before[:before] + own.after[:after]
    return len(shared) > 1 and any(word not in FUNCTION_WORDS for word in shared)


def _num_shared(own: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Return how many of the nearest words are pairwise equal."""
    same = [a == b for a, b in zip(own, other, strict=False)]
    return same.index(False) if False in same else len(same)


def _is_common(*names: Name) -> bool:
    return any(name.words[0].endswith(_COMMON_ENDINGS) for name in names)


def _is_mentioned(name: Name, text: str) -> bool:
    """Return whether the text has the name, ignoring initials, or an abbreviation of it."""
    text_words = _words(text)
    words = [word for word in name.words if len(word) > 1]
    missing = [word for word in words if not _has_form(word, text_words)]
    if not missing or (len(missing) < len(words) and words[-1] in text_words and not _is_of_another(name, text)):
        return True
    letters = "".join(name.words)
    initials = {"".join(word[0] for word in other.words) for other in _names(text) if len(other.words) > 1}
    return letters in initials or "".join(word[0] for word in words) in text_words or letters in "".join(_plain(text))


def _is_of_another(name: Name, text: str) -> bool:
    """Return whether the text has the surname, but always with as many other first names."""
    same = [n for s in _SENTENCE.split(text) for n in _names(s) if n.words[-1:] == name.words[-1:]]
    return len(name.words) > 1 and bool(same) and all(len(n.words) == len(name.words) for n in same)


def _has_form(word: str, words: Set[str]) -> bool:
    """Return whether the words contain the word or another form of it.

    >>> _has_form("peru", {"peruvian"}), _has_form("ana", {"anatolia"})
    (True, False)
    """
    if word in words:
        return True
    pairs = (sorted((word, other), key=len) for other in words)
    return any(
        len(short) >= MIN_STEM and long.startswith(short[: max(MIN_STEM, len(short) - 2)]) for short, long in pairs
    )


@lru_cache(maxsize=4096)
def _names(sentence: str) -> tuple[Name, ...]:
    return tuple(_parse_names(sentence)) if any(map(str.isupper, sentence)) else ()


def _parse_names(sentence: str) -> Iterator[Name]:
    tagged = tag(sentence, sentence)
    stems = [stem(word) for word in tagged.lows]
    start = 0
    while start < len(stems):
        end = start
        while end < len(stems) and (tagged.tags[end] == "X" or (end > start and tagged.words[end] in _LINKS)):
            end += 1
        while end > start and tagged.words[end - 1] in _LINKS:
            end -= 1
        words = tuple(word for word in _plain(" ".join(tagged.words[start:end])) if word not in _TITLES)
        if words and not any(word.capitalize() in _DATES or word[0].isdigit() for word in words):
            text = _CLITIC.sub("", sentence[tagged.places[start][0] : tagged.places[end - 1][1]])
            before = tuple(reversed(stems[max(0, start - NUM_NEIGHBOURS) : start]))
            yield Name(text, words, before, tuple(stems[end : end + NUM_NEIGHBOURS]), start == 0)
        start = max(end, start + 1)


@lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    return frozenset(_plain(text))


def _plain(text: str) -> list[str]:
    """Return the words in lower case, without accents and without a possessive or contracted ending.

    >>> _plain("Britain’s José")
    ['britain', 'jose']
    """
    letters = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    parts = (_CLITIC.sub("", part.strip(',.;:!?"”)')) for part in letters.split())
    return [word.lower() for part in parts for word in _WORD.findall(part)]


def _without(claim: str, name: Name) -> str:
    return claim.replace(name.text, " ", 1)
