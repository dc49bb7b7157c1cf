"""The same words in several documents, or in versions of one, are one result with several places."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from propcite.retrieval.text import Granularity, Hit

Dates = Callable[[Collection[str]], Mapping[str, str]]  # of documents by id; a later date compares as greater

MAX_COPIES = 20  # places that are listed beside the first
MIN_WORDS = 4  # fewer words are the same only beside the same sentence
MAX_UNIT = 3  # letters
NAMED_FROM = 0.5  # of a title's words: a text that has so many of them names the document

# Numbers keep what belongs to them: 6.4 is not 64, .5 is not 5, -5 is not 5, 3–7 is not 3, 7.
_TOKEN = re.compile(
    r"(?P<number>(?:(?<!\w)[.,])?\d+(?:[.,:/]\d+)*)|(?P<sign>(?<=\d)\s*-\s*(?=\d)|(?<!\w)-(?=\d))|\w+|[^\w\s]"
)
_DASH = re.compile("[‐‑‒–—−]")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]")
_SAYING = frozenset("?¿؟？%‰٪％#＃&＆@＠*/／\\§†‡")  # punctuation that changes what is said
_REFERS_BACK = re.compile(
    r"\W*(?:it|its|they|their|them|he|his|him|she|her|this|these|those|that|such|both|there|then|"
    r"the (?:former|latter|same))\b",
    re.IGNORECASE,
)


def no_dates(_: Collection[str]) -> Mapping[str, str]:
    return {}


@lru_cache(maxsize=4096)  # the facts of an answer meet the same texts
def same_words(text: str) -> str:
    """Return a text such that texts with the same one differ in case, punctuation and spacing only.

    A short word after a number keeps its case, as units need.

    >>> same_words("It costs  €6.4m, “net”.") == same_words("it costs €6.4 m (net)")
    True
    >>> same_words("It weighs 5 mg.") == same_words("It weighs 5 Mg.")
    False
    """
    plain = _DASH.sub("-", _INVISIBLE.sub("", unicodedata.normalize("NFC", text)))
    words: list[str] = []
    after_number = False
    for match in _TOKEN.finditer(plain):
        word = match.group()
        if match["sign"]:
            words.append("-")
        elif not _is_punctuation(word):
            words.append(word if after_number and len(word) <= MAX_UNIT else word.casefold())
            after_number = match["number"] is not None
    return " ".join(words)


def _is_punctuation(word: str) -> bool:
    return len(word) == 1 and word not in _SAYING and (unicodedata.category(word)[0] == "P" or word in "`´")


def merge_copies(hits: Sequence[Hit], text: str, dates: Dates = no_dates) -> list[Hit]:
    """Return the hits with each that repeats the words of a better one among the `copies` of that, best first.

    The place that the text names goes first, else the newest, else the best.  It has the score of the best.
    """
    groups: dict[Hashable, list[Hit]] = {}
    for number, hit in enumerate(hits):
        groups.setdefault(_key(hit) or number, []).append(hit)
    several = [group for group in groups.values() if len(group) > 1]
    if not several:
        return list(hits)
    known = dates({hit.passage.document_id for group in several for hit in group})
    named = _Naming(text)
    return [_as_one(group, named, known) for group in groups.values()]


def _as_one(group: Sequence[Hit], named: _Naming, dates: Mapping[str, str]) -> Hit:
    best = group[0]
    if len(group) == 1:
        return best
    newest_first = sorted(group, key=lambda hit: dates.get(hit.passage.document_id, ""), reverse=True)
    first, *others = sorted(newest_first, key=lambda hit: -named.times(hit))
    copies = tuple(hit for hit in others if hit.passage.id != first.passage.id)[:MAX_COPIES]
    return replace(first, score=best.score, passage_score=best.passage_score, words=best.words, copies=copies)


def _key(hit: Hit) -> Hashable:
    """Return what copies have in common; None for a hit without words.

    Words that say little by themselves, or begin with a pronoun, are the same only after the same sentence.
    """
    said = same_words(hit.text)
    if not said:
        return None
    stands_alone = said.count(" ") + 1 >= MIN_WORDS and not _REFERS_BACK.match(hit.text)
    return said, "" if stands_alone else _before(hit)


def _before(hit: Hit) -> str:
    """Return the words before a hit in its passage, or else the passage's title, or else its id."""
    passage, start = hit.passage, hit.spans[0].start
    earlier = [sentence.span for sentence in passage.sentences if sentence.span.end <= start]
    if hit.granularity != Granularity.PASSAGE and earlier:
        return same_words(earlier[-1].of(passage.text))
    return same_words(passage.title) or passage.id


class _Naming:
    """What a text names.  A passage may hold many of its hits, so its words are read once."""

    def __init__(self, text: str) -> None:
        self._said, self._names = _vocabulary(text), _names(text)
        self._of_document, self._of_passage = cache(self._in_title), cache(self._in_passage)

    def times(self, hit: Hit) -> int:
        """Return how many of its names are around a hit's words, and how many words it has of the title."""
        around = self._of_passage(hit.passage.title, hit.passage.text) - _vocabulary(hit.text)
        return self._of_document(hit.passage.title.split(" › ")[0]) + len(around)

    def _in_title(self, title: str) -> int:
        words = _vocabulary(title)
        shared = len(words & self._said)
        return shared if words and shared >= NAMED_FROM * len(words) else 0

    def _in_passage(self, title: str, text: str) -> set[str]:
        return self._names & _vocabulary(f"{title} {text}")


def _names(text: str) -> set[str]:
    """Return the words with a digit or a capital letter, without one that only begins the text."""
    words = re.findall(r"\w+", text)
    named = [any(c.isdigit() or c.isupper() for c in word) for word in words]
    if len(words) > 1 and not named[1] and not any(c.isdigit() or c.isupper() for c in words[0][1:]):
        named[0] = False
    return {word.casefold() for word, is_name in zip(words, named, strict=True) if is_name}


def _vocabulary(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"\w+", text)}
