"""A question that follows another, filled from it: pronouns, "and in 2024?", "and the ferry?", "why?".

English alone: a question in another language stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from propcite.attribution.english import words
from propcite.attribution.english.grammar.tagging import Tagged
from propcite.attribution.english.questions.topics import ARTICLES, Topic, dates, months, tagged, topic_of, topics

LONGEST_PIECE = 8  # words
FEW = 4  # content words of a question that may speak of the same as the one before without saying so
BARE = frozenset("why how when where who so come exactly and but then".split())
MANY = frozenset("they them their".split())
PEOPLE = frozenset("he she him her his".split())
OWNING = frozenset("its their his her".split())
POINTING = frozenset("this that these those".split())
VERBS = "VBHMIE"

_LEAD = re.compile(r"(?:(?:and|or|but|also|so|then|ok|okay)\b[\s,]*)*(?:(?:what|how)\s+about\b|same\s+for\b)?\s*", re.I)
_THEN = re.compile(r"\b(?:in\s+|at\s+|on\s+)?that\s+(?:year|time|month|day)\b|\bthen\b(?=\s*[?,.]|\s*$)", re.I)
_EXPLETIVE = re.compile(r"\bit\b.*\bto\s+\w|\bit\s+(?:rain|snow|true|possible)", re.IGNORECASE)
_PLACE = re.compile(r"(?<!is )(?<!are )(?<!was )(?<!were )\bthere\b(?!\s+(?:is|are|was|were|any|a)\b)", re.IGNORECASE)


class Exchange(NamedTuple):
    """An earlier question, as it stands alone, and its answer."""

    question: str
    answer: str


def standing_alone(question: str, before: Sequence[Exchange]) -> str:
    """Return the question as it reads without the conversation, or unchanged where it leaves nothing out."""
    earlier = [exchange for exchange in before if exchange.question.strip()]
    asked = " ".join(question.split())
    if not earlier or not asked:
        return question
    last = " ".join(earlier[-1].question.split())
    filled = _bare(asked, last) or _fragment(asked, last) or _pronouns(asked, last, earlier) or _left_out(asked, last)
    return filled or question


def _bare(asked: str, last: str) -> str:
    """`Why?`"""
    found = [low for low in tagged(asked).lows if low.isalpha()]
    if not found or not set(found) <= BARE or not set(found) & {"why", "how", "when", "where", "who"}:
        return ""
    said = " ".join(low for low in found if low not in {"and", "but", "so", "then", "exactly"})
    return f"{_open(last)}, and {said}?"


# Pieces of a question


def _fragment(asked: str, last: str) -> str:
    """`And in 2024?`, `What about the ferry?`"""
    lead = _LEAD.match(asked)
    rest = _open(asked[lead.end() :] if lead else asked)
    s = tagged(rest)
    led = bool(lead and lead[0].strip())
    if not rest or any(t in VERBS for t in s.tags) or s.tags[0] in "SWM" or not (led or _is_piece(rest, s)):
        return ""
    if len(s.tags) > LONGEST_PIECE:
        return ""
    if set(s.lows) & OWNING and (topic := topic_of(topics(last), many="their" in s.lows)):
        return f"What {'are' if s.lows[-1].endswith('s') else 'is'} {_owned(rest, s, topic)}?"
    return _other_time(rest, last) or _other_thing(rest, s, last) or f"{_open(last)}, {rest}?"


def _is_piece(rest: str, s: Tagged) -> bool:
    """Whether a few words that no `and` leads go on from the question before: a time, a place, a thing, a name."""
    is_name = len(s.tags) > 1 and set(s.tags) <= {"X"}
    return bool(dates(rest) or months(rest)) or s.tags[0] in "PD" or is_name


def _other_time(rest: str, last: str) -> str:
    new, old = dates(rest), dates(last)
    if new and old:
        return _put(last, old[-1].span(), new[0][0])
    if new:
        return f"{_open(last)} {rest if tagged(rest).tags[0] in 'PJa' else f'in {rest}'}?"
    new, old = months(rest), months(last)
    return _put(last, old[-1].span(), new[0][0]) if new and old else ""


def _other_thing(rest: str, s: Tagged, last: str) -> str:
    """Another thing in the place of one of the same name, else of the same kind, else of what was spoken of."""
    found, named = topics(last), topics(rest)
    if not named or not found:
        return ""
    preposition = s.lows[0] if s.tags[0] in "PT" else ""
    if preposition:
        found = [t for t in found if last[: t.start].lower().endswith(f" {preposition} ")]
        if not found:
            return ""
    new = named[0]
    alike = [t for t in found if _singular(t.head) == _singular(new.head)]
    old = next(iter(alike), None) or _of_kind(found, new)
    said = new.text if new.is_name or new.is_definite or not old.is_definite else f"the {new.text}"
    return _put(last, (old.start, old.end), said)


def _of_kind(found: Sequence[Topic], new: Topic) -> Topic:
    known = [t for t in found if t.is_name or t.is_definite] or list(found)
    return next((t for t in known if t.is_name == new.is_name), known[0])


# Whole questions


def _pronouns(asked: str, last: str, earlier: Sequence[Exchange]) -> str:
    """What stands for something of the question before is replaced by that."""
    filled = _then(asked, last)
    s = tagged(filled)
    for at, low in enumerate(s.lows):
        if _stands_for_itself(s, at, filled):
            continue
        topic = _meant(low, last, earlier)
        if topic is None:
            continue
        place = s.places[at]
        if low in OWNING and s.tags[at] == "D":
            return _put(filled, place, _owner(topic.definite), ask=True)
        return _put(filled, place, topic.definite, ask=True)
    if (place_found := _PLACE.search(filled)) and (where := _place(last)):
        return _put(filled, place_found.span(), where, ask=True)
    if any(low in POINTING and _is_alone(s, at) for at, low in enumerate(s.lows)) and (topic := _first(last)):
        return _about(topic, filled)
    return filled if filled != asked else ""


def _meant(low: str, last: str, earlier: Sequence[Exchange]) -> Topic | None:
    """Persons are looked for in the answer too, which may have named them."""
    found = topics(last, asked_for=low in MANY)
    if low in PEOPLE | MANY and tagged(last).lows[0] == "who" and not any(t.is_many for t in found):
        return next((t for t in topics(earlier[-1].answer) if t.is_name), None) or topic_of(found, many=low in MANY)
    if low in PEOPLE:
        return next((t for t in found if t.is_name), None)
    counted = [t for t in found if t.is_many and re.search(r"\bhow\s+$", last[: t.start], re.IGNORECASE)]
    return topic_of(counted if low in MANY and counted else found, many=low in MANY)


def _stands_for_itself(s: Tagged, at: int, text: str) -> bool:
    """Whether this word is no pronoun, means nothing, or means what its own question has named in a clause before."""
    low = s.lows[at]
    if low not in {"it", "its"} | MANY | PEOPLE:
        return True
    if low == "it" and _EXPLETIVE.search(text[s.places[at][0] :]):
        return True
    parts = [i for i in range(at) if s.tags[i] in ",;coS"]
    named = [t for t in topics(text) if t.is_definite or t.is_name]
    return bool(parts) and any(t.end <= s.places[parts[-1]][0] for t in named)


def _then(asked: str, last: str) -> str:
    found, old = _THEN.search(asked), dates(last)
    if found is None or not old:
        return asked
    date = old[-1][0]
    return _put(asked, found.span(), f"{'on' if re.match(r'[0-9]{1,2} ', date) else 'in'} {date}", ask=True)


def _place(last: str) -> str:
    """`at Mill Weir` of the question before, or at what it speaks of."""
    for topic in topics(last):
        before = re.search(r"\b(in|at|on)\s+$", last[: topic.start], re.IGNORECASE)
        if before:
            return f"{before[1].lower()} {topic.definite}"
        if inner := re.search(r"\b(?:at|in) ((?:the )?[A-Z].*)$", topic.text):
            return inner[0]
    known = _first(last)
    return f"at {known.definite.rsplit(' of ', 1)[-1]}" if known else ""


def _left_out(asked: str, last: str) -> str:
    """A short question that names nothing speaks of what was named before."""
    s = tagged(asked)
    content = words.content_words(asked)
    is_of_something = len(content) == 1 and s.lows[:1] != ["who"]  # `What is the height?`
    known = any(t.is_name or t.is_definite for t in topics(asked)) and not is_of_something
    names_something = known or set(s.tags) & set("XU")
    is_question = bool(s.tags) and (asked.endswith("?") or s.tags[0] in "SWMBH")
    if names_something or not is_question or not content or len(content) > FEW or not _is_english(s):
        return ""
    topic = _first(last)
    return _about(topic, asked) if topic and _singular(topic.head) not in map(_singular, s.lows) else ""


def _is_english(s: Tagged) -> bool:
    return bool(set(s.lows) & words.FUNCTION_WORDS)


def _first(last: str) -> Topic | None:
    return topic_of([t for t in topics(last) if t.is_definite or t.is_name] or topics(last)[:1], many=False)


def _about(topic: Topic, asked: str) -> str:
    head = topic.definite
    first = asked if tagged(asked).tags[:1] in ("X", "R") else asked[:1].lower() + asked[1:]
    return f"{head[:1].upper()}{head[1:]}: {first}"


# Words in their places


def _owned(rest: str, s: Tagged, topic: Topic) -> str:
    at = next(i for i, low in enumerate(s.lows) if low in OWNING)
    start, end = s.places[at]
    return f"{rest[:start]}the{rest[end:]} of {topic.definite}"


def _owner(noun: str) -> str:
    return noun + ("'" if noun.endswith("s") else "'s")


def _is_alone(s: Tagged, at: int) -> bool:
    """`When was that decided?`, not `in that town` nor `says that`."""
    return s.tags[at + 1 : at + 2] in ("", ".", "V", "E", "B", "I", "M") and s.tags[at - 1 : at] in (
        "B",
        "M",
        "P",
        "E",
        "V",
        "H",
    )


def _singular(noun: str) -> str:
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def _open(question: str) -> str:
    return question.rstrip(" ?!.")


def _put(text: str, place: tuple[int, int], said: str, *, ask: bool = False) -> str:
    start, end = place
    if start == 0:
        said = said[:1].upper() + said[1:]
    elif said.split(" ")[0].lower() in ARTICLES:
        said = said[:1].lower() + said[1:]
    filled = f"{text[:start]}{said}{text[end:]}"
    return filled if ask and not text.endswith("?") else f"{_open(filled)}?"
