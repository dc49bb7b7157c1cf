"""What an earlier question speaks of: its noun phrases, by tags of words; no model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from propcite.attribution.english import words
from propcite.attribution.english.grammar.tagging import Tagged, tag

MOST_READ = 600  # characters of a question: a longer one is a text
ARTICLES = frozenset("the a an this that these those its their his her our your my".split())
ASKED_FOR = frozenset("what which whose many much".split())  # the noun behind these is what is asked for
UNCHANGING = frozenset("cost set cut put hit let read shut split spread".split())  # verbs with one form
PEOPLE = frozenset("people children men women police".split())
NOT_TOPICS = frozenset("public people time times year years month months day days way share number".split())

_PHRASE = re.compile(r"D?[JNXU]*[NX]U?|XU?")
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}\s+)?(?:(?:{'|'.join(words.MONTH_NAMES)})\s+)?(?:1\d{{3}}|20\d{{2}})"
    r"(?:\s*(?:,|and|or|to|[-–])\s*(?:1\d{3}|20\d{2}))*\b",
    re.IGNORECASE,
)
_OWNER = re.compile(r"(.+?)['’](s?) \w")
_MONTH = re.compile(rf"\b(?:{'|'.join(words.MONTH_NAMES)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Topic:
    """A noun phrase at its place; `head` is its noun, without what follows with `of` or `at`."""

    start: int
    end: int
    text: str
    head: str
    is_name: bool
    is_many: bool
    is_definite: bool

    @property
    def definite(self) -> str:
        """As it is spoken of again.

        >>> [topic.definite for topic in topics("Is a barrier built by Ada Ree?")]
        ['the barrier', 'Ada Ree']
        """
        first, _, rest = self.text.partition(" ")
        if self.is_name or self.is_definite:
            return self.text[:1].lower() + self.text[1:] if first.lower() in ARTICLES else self.text
        bare = rest if _is_determiner(first) and rest else self.text
        return f"the {bare}"


def dates(text: str) -> list[re.Match[str]]:
    """Years, with the day and the month before them.

    >>> [found[0] for found in dates("In 2022 and 2023, or on 17 January 2025?")]
    ['2022 and 2023', '17 January 2025']
    """
    return list(_DATE.finditer(text))


def months(text: str) -> list[re.Match[str]]:
    return list(_MONTH.finditer(text))


def topics(text: str, *, asked_for: bool = False) -> list[Topic]:
    """The noun phrases of a text in their order; not dates and times, nor, unless told, what is asked for.

    >>> [topic.text for topic in topics("How much water can the pumps at Alder Sluice lift together?")]
    ['the pumps at Alder Sluice']
    >>> [topic.text for topic in topics("How wide are the barrier's gates?")]
    ["the barrier's gates", 'the barrier']
    """
    found = list(_topics(text[:MOST_READ], asked_for))
    return [one for topic in found for one in (topic, *_owner_in(topic))]


def topic_of(found: Iterable[Topic], *, many: bool) -> Topic | None:
    """What `it` (or `they`) most likely means: what is known and of that number, what is known, then the rest."""
    several = list(found)
    ranked = sorted(several, key=lambda t: (t.is_many is not many, not (t.is_definite or t.is_name)))
    return ranked[0] if ranked else None


@lru_cache(maxsize=256)
def tagged(text: str) -> Tagged:
    return tag(text, text)


def _topics(text: str, asked_for: bool) -> Iterator[Topic]:
    s = tagged(text)
    at = 0
    while found := _PHRASE.search(s.tags, at):
        first, last = found.start(), _last_noun(s, found.start(), found.end())
        end = _with_more(s, last)
        follows, at = at and first == at, max(end, first + 1)  # what stands right behind a name is its verb
        wanted = not follows and (asked_for or not _is_asked_for(s, first))
        if last > first and wanted and not _is_time(s, first, last):
            yield _topic(s, text, first, last, end)


def _owner_in(topic: Topic) -> list[Topic]:
    """Whose it is."""
    found = _OWNER.match(topic.text)
    if found is None:
        return []
    text, head = found[1], found[1].split()[-1].lower()
    is_name = not topic.is_definite and text[:1].isupper()
    return [Topic(topic.start, topic.start + len(text), text, head, is_name, not found[2], topic.is_definite)]


def _last_noun(s: Tagged, first: int, end: int) -> int:
    """Behind the phrase's noun; in `did the budget set aside` the last word is the verb, whatever it looks like."""
    asked = first > 0 and s.tags[first - 1] == "M"
    nouns = sum(t in "NX" for t in s.tags[first:end])
    ends_low = s.tags[end - 1] == "N" and s.words[end - 1].islower()
    verb_follows = s.tags[end : end + 1] in ("V", "I") or (end < len(s.lows) and s.lows[end] in UNCHANGING)
    return end - 1 if asked and nouns > 1 and ends_low and not verb_follows else end


def _with_more(s: Tagged, end: int) -> int:
    """With what belongs to it: `of the city`, and a place by its name, `at Alder Sluice`."""
    while end < len(s.tags) and (s.tags[end] == "O" or s.lows[end] in {"at", "in", "for"}):
        more = _PHRASE.match(s.tags, end + 1)
        if more is None:
            break
        named = "X" in more[0] and not _is_time(s, more.start(), more.end())
        if s.tags[end] != "O" and not named:
            break
        end = _named_end(s, more.start(), more.end()) if s.tags[end] != "O" else _of_end(s, more.start(), more.end())
    return end


def _of_end(s: Tagged, first: int, end: int) -> int:
    """A name ends before a word in small letters: in `the bakery of Ada Ree stay closed` that is the verb."""
    return _named_end(s, first, end) if "X" in s.tags[first:end] else end


def _named_end(s: Tagged, first: int, end: int) -> int:
    last = max(i for i in range(first, end) if s.tags[i] in "XU")
    return last + 1


def _is_asked_for(s: Tagged, first: int) -> bool:
    before = s.lows[first - 1] if first else ""
    return before in ASKED_FOR or (s.lows[first] == "much")


def _is_time(s: Tagged, first: int, last: int) -> bool:
    said = " ".join(s.words[first:last])
    rest = _MONTH.sub("", _DATE.sub("", said)).strip()
    return not rest or s.lows[last - 1] in NOT_TOPICS


def _topic(s: Tagged, text: str, first: int, last: int, end: int) -> Topic:
    start, stop = s.places[first][0], s.places[end - 1][1]
    head = s.lows[last - 1]
    is_name = "D" not in s.tags[first:last] and s.tags[last - 1] in "XU"
    return Topic(
        start, stop, text[start:stop], head, is_name, _is_many(s, last), s.lows[first] in ARTICLES - {"a", "an"}
    )


def _is_many(s: Tagged, last: int) -> bool:
    head = s.lows[last - 1]
    return s.tags[last - 1] == "N" and (
        head in PEOPLE or (head.endswith("s") and not head.endswith(("ss", "us", "is")))
    )


def _is_determiner(word: str) -> bool:
    return tagged(word).tags == "D"
