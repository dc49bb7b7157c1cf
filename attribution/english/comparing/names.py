"""Names: has the evidence another name where the claim has one of its own?  No model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from propcite.attribution.english.grammar import tag
from propcite.attribution.english.words import DAY_NAMES, FUNCTION_WORDS, MONTH_NAMES, plain_share, stem
from propcite.attribution.prose.languages import language_of

NOUNS_IN_CAPITALS = ("German",)  # there a capital tells no name
LONGEST = 60  # words of a sentence that is read
AROUND = 3  # words on each side of a name that tell its place
KIN = 4  # letters that a name's forms share: Peru and Peruvian, Spain and Spaniard
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[^\W_]+")
_OWNING = re.compile(r"['’](?:s|ve|re|ll|d|m)?$")
_COMMON = ("s", "ing", "ed", "ly", "tion", "ment", "ness", "ism")  # how a first word ends that is hardly a name
_DATES = frozenset((*DAY_NAMES, *MONTH_NAMES))
_LINKS = frozenset(". & - '".split())
_TITLES = frozenset(
    "mr mrs ms miss dr prof professor sir lady lord dame president king queen prince princess pope st saint".split()
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is written, its words in plain letters, and the stems of up to three words on each side of it."""

    text: str
    words: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    is_first: bool


def renamed(claim: str, evidence: str, context: str = "", *, share: float) -> tuple[str, str] | None:
    """A name of the claim and the one that the evidence has in its place, as each writes it.

    The rest of the claim must stand in a sentence of the evidence to that share.  What the context names is known,
    and so are other forms of a name: initials, a surname alone, an adjective.

    >>> renamed("The museum in Madrid is free.", "The museum in Lisbon is free.", share=0.6)
    ('Madrid', 'Lisbon')
    >>> renamed("Eva Ruiz opened it.", "Ana Ruiz opened it in May.", share=0.6)
    ('Eva Ruiz', 'Ana Ruiz')
    >>> renamed("Peruvian trains are slow.", "In Peru trains are slow.", share=0.6)
    """
    own = _names(claim)
    around = f"{context}\n{evidence}" if own else ""
    own = tuple(name for name in own if not _is_known(name, around))
    if not own:
        return None
    said = _words(claim)
    for sentence in _SENTENCE.split(evidence):
        if len(sentence.split()) <= LONGEST:
            for mine, other in product(own, _names(sentence)):
                if _stands_for(mine, other, said) and plain_share(_without(claim, mine), sentence) >= share:
                    return None if language_of(f"{claim} {sentence}") in NOUNS_IN_CAPITALS else (mine.text, other.text)
    return None


def _stands_for(mine: Name, other: Name, said: frozenset[str]) -> bool:
    """Whether the evidence's name is another one in the same place, or another bearer of a shared name."""
    strange = [word for word in other.words if not _has_kin(word, said)]
    if mine.is_first and other.is_first and len(mine.words) == len(other.words) == 1 and _is_common(mine, other):
        return False
    if len(strange) == len(other.words):
        return _in_one_place(mine, other)
    return bool(strange) and len(mine.words) == len(other.words) and mine.words[-1] == other.words[-1]


def _in_one_place(mine: Name, other: Name) -> bool:
    """Two of the words around the one stand around the other, and one of them means something."""
    before, after = _alike(mine.before, other.before), _alike(mine.after, other.after)
    alike = mine.before[:before] + mine.after[:after]
    return len(alike) > 1 and any(word not in FUNCTION_WORDS for word in alike)


def _alike(mine: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many of the nearest words are the same, one by one."""
    same = [one == two for one, two in zip(mine, other, strict=False)]
    return same.index(False) if False in same else len(same)


def _is_common(*names: Name) -> bool:
    return any(name.words[0].endswith(_COMMON) for name in names)


def _is_known(name: Name, text: str) -> bool:
    """Whether the text has the name, all but initials of it, or what is short for it."""
    there = _words(text)
    words = [word for word in name.words if len(word) > 1]
    missing = [word for word in words if not _has_kin(word, there)]
    if not missing or (len(missing) < len(words) and words[-1] in there and not _other_bearer(name, text)):
        return True
    letters = "".join(name.words)
    initials = {"".join(word[0] for word in run.words) for run in _names(text) if len(run.words) > 1}
    return letters in initials or "".join(word[0] for word in words) in there or letters in "".join(_plain(text))


def _other_bearer(name: Name, text: str) -> bool:
    """Whether the surname stands in the text with as many other first names."""
    same = [n for s in _SENTENCE.split(text) for n in _names(s) if n.words[-1:] == name.words[-1:]]
    return len(name.words) > 1 and bool(same) and all(len(n.words) == len(name.words) for n in same)


def _has_kin(word: str, there: Set[str]) -> bool:
    """Whether the word or another form of it is there.

    >>> _has_kin("peru", {"peruvian"}), _has_kin("ana", {"anatolia"})
    (True, False)
    """
    if word in there:
        return True
    return any(len(short) >= KIN and long.startswith(short[: max(KIN, len(short) - 2)])
               for other in there for short, long in [sorted((word, other), key=len)])  # fmt: skip


@lru_cache(maxsize=4096)
def _names(sentence: str) -> tuple[Name, ...]:
    return tuple(_read(sentence)) if any(map(str.isupper, sentence)) else ()


def _read(sentence: str) -> Iterator[Name]:
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
            text = _OWNING.sub("", sentence[tagged.places[start][0] : tagged.places[end - 1][1]])
            before, after = tuple(reversed(stems[max(0, start - AROUND) : start])), tuple(stems[end : end + AROUND])
            yield Name(text, words, before, after, start == 0)
        start = max(end, start + 1)


@lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    return frozenset(_plain(text))


def _plain(text: str) -> list[str]:
    """The words in small letters without accents and without an owner's 's and the like.

    >>> _plain("Britain’s José")
    ['britain', 'jose']
    """
    letters = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return [
        word.lower() for part in letters.split() for word in _WORD.findall(_OWNING.sub("", part.strip(',.;:!?"”)')))
    ]


def _without(claim: str, name: Name) -> str:
    return claim.replace(name.text, " ", 1)
