"""Find what a question is about: its noun phrases, dates and months, by the tags of its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from propcite.attribution.english import words
from propcite.attribution.english.grammar.tagging import Tagged, tag

MAX_CHARACTERS = 600  # of a question; anything longer is a text
ARTICLES = frozenset("the a an this that these those its their his her our your my".split())
INTERROGATIVES = frozenset("what which whose many much".split())  # the noun after these is what the question asks for
UNCHANGING_VERBS = frozenset("cost set cut put hit let read shut split spread".split())  # with one form for all tenses
PLURALS = frozenset("people children men women police".split())
NOT_TOPICS = frozenset("public people time times year years month months day days way share number".split())

_PHRASE = re.compile(r"D?[JNXU]*[NX]U?|XU?")
_VERB_FOLLOWS = re.compile(r"(?:[PO]D?[JNXU]*[NXU])?[VI]")  # after a phrase: "the data centre (in Twente) burn"
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}\s+)?(?:(?:{'|'.join(words.MONTH_NAMES)})\s+)?(?:1\d{{3}}|20\d{{2}})"
    r"(?:\s*(?:,|and|or|to|[-–])\s*(?:1\d{3}|20\d{2}))*\b",
    re.IGNORECASE,
)
_POSSESSOR = re.compile(r"(.+?)['’](s?) \w")
_MONTH = re.compile(rf"\b(?:{'|'.join(words.MONTH_NAMES)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Topic:
    """A noun phrase and its position; `head` is its main noun, without a complement after `of` or `at`."""

    start: int
    end: int
    text: str
    head: str
    is_name: bool
    is_plural: bool
    is_definite: bool

    @property
    def definite(self) -> str:
        """Return the phrase as a later sentence refers to it.

        >>> [topic.definite for topic in topics("Is a barrier built by Ada Ree?")]
        ['the barrier', 'Ada Ree']
        """
        first, _, rest = self.text.partition(" ")
        if self.is_name or self.is_definite:
            return self.text[:1].lower() + self.text[1:] if first.lower() in ARTICLES else self.text
        bare = rest if _is_determiner(first) and rest else self.text
        return f"the {bare}"


def dates(text: str) -> list[re.Match[str]]:
    """Return years, with the day and the month before them.

    >>> [match[0] for match in dates("In 2022 and 2023, or on 17 January 2025?")]
    ['2022 and 2023', '17 January 2025']
    """
    return list(_DATE.finditer(text))


def months(text: str) -> list[re.Match[str]]:
    return list(_MONTH.finditer(text))


def topics(text: str, *, with_target: bool = False) -> list[Topic]:
    """Return the noun phrases of a text in order, except dates and times.

    What the question asks for (`how much water`) is excluded too, unless `with_target` is set.

    >>> [topic.text for topic in topics("How much water can the pumps at Alder Sluice lift together?")]
    ['the pumps at Alder Sluice']
    >>> [topic.text for topic in topics("How wide are the barrier's gates?")]
    ["the barrier's gates", 'the barrier']
    >>> [topic.text for topic in topics("When did the data centre in Twente burn down?")]
    ['the data centre in Twente']
    """
    return [part for topic in _topics(text[:MAX_CHARACTERS], with_target) for part in (topic, *_possessor(topic))]


def best_topic(candidates: Iterable[Topic], *, is_plural: bool) -> Topic | None:
    """Return what `it` (or `they`) most likely refers to: right number first, then definite phrases and names."""
    return min(candidates, key=lambda t: (t.is_plural is not is_plural, not (t.is_definite or t.is_name)), default=None)


@lru_cache(maxsize=256)
def tagged(text: str) -> Tagged:
    return tag(text, text)


def _topics(text: str, with_target: bool) -> Iterator[Topic]:
    s = tagged(text)
    at = 0
    while match := _PHRASE.search(s.tags, at):
        first, last = match.start(), _last_noun(s, match.start(), match.end())
        end = _with_complement(s, last)
        follows, at = at and first == at, max(end, first + 1)  # a word right after a phrase is its verb
        is_included = not follows and (with_target or not _is_target(s, first))
        if last > first and is_included and not _is_time(s, first, last):
            yield _topic(s, text, first, last, end)


def _possessor(topic: Topic) -> list[Topic]:
    """Return the possessor in a phrase such as `the barrier's gates`, if any."""
    match = _POSSESSOR.match(topic.text)
    if match is None:
        return []
    text, head = match[1], match[1].split()[-1].lower()
    is_name = not topic.is_definite and text[:1].isupper()
    return [Topic(topic.start, topic.start + len(text), text, head, is_name, not match[2], topic.is_definite)]


def _last_noun(s: Tagged, first: int, end: int) -> int:
    """Return the end of the phrase's noun; in `did the budget set aside` the last noun by its tag is the verb."""
    is_question = first > 0 and s.tags[first - 1] == "M"
    num_nouns = sum(t in "NX" for t in s.tags[first:end])
    ends_low = s.tags[end - 1] == "N" and s.words[end - 1].islower()
    verb_follows = _VERB_FOLLOWS.match(s.tags, end) or (end < len(s.lows) and s.lows[end] in UNCHANGING_VERBS)
    return end - 1 if is_question and num_nouns > 1 and ends_low and not verb_follows else end


def _with_complement(s: Tagged, end: int) -> int:
    """Return the end of the phrase with its complements: `of the city`, and named places as in `at Alder Sluice`."""
    while end < len(s.tags) and (s.tags[end] == "O" or s.lows[end] in {"at", "in", "for"}):
        match = _PHRASE.match(s.tags, end + 1)
        if match is None:
            break
        is_named = "X" in match[0] and not _is_time(s, match.start(), match.end())
        if s.tags[end] != "O" and not is_named:
            break
        end = (_of_end if s.tags[end] == "O" else _name_end)(s, match.start(), match.end())
    return end


def _of_end(s: Tagged, first: int, end: int) -> int:
    """Return where a complement with `of` ends; after a name, a word in small letters is already the verb."""
    return _name_end(s, first, end) if "X" in s.tags[first:end] else end


def _name_end(s: Tagged, first: int, end: int) -> int:
    return max(i for i in range(first, end) if s.tags[i] in "XU") + 1


def _is_target(s: Tagged, first: int) -> bool:
    """Return whether a phrase is what the question asks for."""
    before = s.lows[first - 1] if first else ""
    return before in INTERROGATIVES or s.lows[first] == "much"


def _is_time(s: Tagged, first: int, last: int) -> bool:
    phrase = " ".join(s.words[first:last])
    rest = _MONTH.sub("", _DATE.sub("", phrase)).strip()
    return not rest or s.lows[last - 1] in NOT_TOPICS


def _topic(s: Tagged, text: str, first: int, last: int, end: int) -> Topic:
    start, stop = s.places[first][0], s.places[end - 1][1]
    is_name = "D" not in s.tags[first:last] and s.tags[last - 1] in "XU"
    is_definite = s.lows[first] in ARTICLES - {"a", "an"}
    return Topic(start, stop, text[start:stop], s.lows[last - 1], is_name, _is_plural(s, last), is_definite)


def _is_plural(s: Tagged, last: int) -> bool:
    head = s.lows[last - 1]
    has_ending = head.endswith("s") and not head.endswith(("ss", "us", "is"))
    return s.tags[last - 1] == "N" and (head in PLURALS or has_ending)


def _is_determiner(word: str) -> bool:
    return tagged(word).tags == "D"
