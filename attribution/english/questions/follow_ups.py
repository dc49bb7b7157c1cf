"""Complete a follow-up question from the one before: pronouns, "and in 2024?", "and the ferry?", "why?".

These rules are for English: a question in another language is returned unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from propcite.attribution.english.grammar.tagging import Tagged
from propcite.attribution.english.questions.topics import (
    ARTICLES,
    MAX_CHARACTERS,
    Topic,
    best_topic,
    dates,
    months,
    tagged,
    topics,
)

MAX_FRAGMENT_WORDS = 8
BARE_WORDS = frozenset("why how when where who so come exactly and but then not".split())
PLURAL_PRONOUNS = frozenset("they them their".split())
PERSONAL_PRONOUNS = frozenset("he she him her his".split())
POSSESSIVES = frozenset("its their his her".split())
VERB_TAGS = "VBHMIE"

_LEAD = re.compile(r"(?:(?:and|or|but|also|so|then|ok|okay)\b[\s,]*)*(?:(?:what|how)\s+about\b|same\s+for\b)?\s*", re.I)
_THEN = re.compile(r"\b(?:in\s+|at\s+|on\s+)?that\s+(?:year|time|month|day)\b|\bthen\b(?=\s*[?,.]|\s*$)", re.I)
_EXPLETIVE = re.compile(r"\bit\b.*\bto\s+\w|\bit\s+(?:rain|snow|true|possible)", re.IGNORECASE)
_THERE = re.compile(r"(?<!is )(?<!are )(?<!was )(?<!were )\bthere\b(?!\s+(?:is|are|was|were|any|a)\b)", re.IGNORECASE)


class Exchange(NamedTuple):
    """An earlier question, in its complete form, and its answer."""

    question: str
    answer: str


def standalone_question(question: str, before: Sequence[Exchange]) -> str:
    """Return the question as it reads without the conversation; unchanged if it is complete, or too long for one."""
    earlier = [exchange for exchange in before if exchange.question.strip()]
    query = " ".join(question.split())
    if not earlier or not 0 < len(query) <= MAX_CHARACTERS:
        return question
    last = " ".join(earlier[-1].question.split())
    complete = _from_bare(query, last) or _from_fragment(query, last) or _without_pronouns(query, last, earlier)
    return complete or question


def _from_bare(query: str, last: str) -> str:
    """Complete `Why?`; empty for other questions."""
    lows = [low for low in tagged(query).lows if low.isalpha()]
    if not lows or not set(lows) <= BARE_WORDS or not set(lows) & {"why", "how", "when", "where", "who"}:
        return ""
    rest = " ".join(low for low in lows if low not in {"and", "but", "so", "then", "exactly"})
    return f"{_open(last)}, and {rest}?"


# Fragments of a question


def _from_fragment(query: str, last: str) -> str:
    """Complete `And in 2024?`, `What about the ferry?`; empty for other questions."""
    lead = _LEAD.match(query)
    rest = _open(query[lead.end() :] if lead else query)
    s = tagged(rest)
    has_lead = bool(lead and lead[0].strip())
    if not rest or any(t in VERB_TAGS for t in s.tags) or s.tags[0] in "SWM" or not (has_lead or _continues(rest, s)):
        return ""
    if len(s.tags) > MAX_FRAGMENT_WORDS:
        return ""
    if set(s.lows) & POSSESSIVES and (topic := best_topic(topics(last), is_plural="their" in s.lows)):
        return f"What {'are' if s.lows[-1].endswith('s') else 'is'} {_with_possessor(rest, s, topic)}?"
    return _other_time(rest, last) or _other_thing(rest, s, last) or f"{_open(last)}, {rest}?"


def _continues(rest: str, s: Tagged) -> bool:
    """Return whether a fragment without `and` continues the question before: a time, a place, a thing, a name."""
    is_name = len(s.tags) > 1 and set(s.tags) <= {"X"}
    return bool(dates(rest) or months(rest)) or s.tags[0] in "PD" or is_name


def _other_time(rest: str, last: str) -> str:
    new, old = dates(rest), dates(last)
    if new and old:
        return _replace(last, old[-1].span(), new[0][0])
    if new:
        return f"{_open(last)} {rest if tagged(rest).tags[0] in 'PJa' else f'in {rest}'}?"
    new, old = months(rest), months(last)
    return _replace(last, old[-1].span(), new[0][0]) if new and old else ""


def _other_thing(rest: str, s: Tagged, last: str) -> str:
    """Put the new thing in place of one with the same noun, else of the same kind, else of the first topic."""
    candidates, named = topics(last), topics(rest)
    if named and s.tags[0] in "PT":
        candidates = [t for t in candidates if last[: t.start].lower().endswith(f" {s.lows[0]} ")]
    if not named or not candidates:
        return ""
    new = named[0]
    same_noun = (t for t in candidates if _singular(t.head) == _singular(new.head))
    old = next(same_noun, None) or _same_kind(candidates, new)
    phrase = new.text if new.is_name or new.is_definite or not old.is_definite else f"the {new.text}"
    return _replace(last, (old.start, old.end), phrase)


def _same_kind(candidates: Sequence[Topic], new: Topic) -> Topic:
    definite = [t for t in candidates if t.is_name or t.is_definite] or list(candidates)
    return next((t for t in definite if t.is_name == new.is_name), definite[0])


# Whole questions


def _without_pronouns(query: str, last: str, earlier: Sequence[Exchange]) -> str:
    """Replace the first word that refers to the question before; empty if there is none."""
    dated = _with_date(query, last)
    s = tagged(dated)
    for at, low in enumerate(s.lows):
        if not _refers_back(s, at, dated) or not (topic := _referent(low, last, earlier)):
            continue
        is_possessive = low in POSSESSIVES and s.tags[at] == "D"
        phrase = _possessive(topic.definite) if is_possessive else topic.definite
        return _replace(dated, s.places[at], phrase, keep_mark=True)
    if (there := _THERE.search(dated)) and (place := _place(last)):
        return _replace(dated, there.span(), place, keep_mark=True)
    return dated if dated != query else ""


def _referent(low: str, last: str, earlier: Sequence[Exchange]) -> Topic | None:
    """Return what a pronoun refers to; persons may have been named in the answer."""
    is_plural = low in PLURAL_PRONOUNS
    candidates = topics(last, with_target=is_plural)
    if (
        low in PERSONAL_PRONOUNS | PLURAL_PRONOUNS
        and tagged(last).lows[0] == "who"
        and not any(t.is_plural for t in candidates)
    ):
        person = next((t for t in topics(earlier[-1].answer) if t.is_name), None)
        return person or best_topic(candidates, is_plural=is_plural)
    if low in PERSONAL_PRONOUNS:
        return next((t for t in candidates if t.is_name), None)
    counted = [t for t in candidates if t.is_plural and re.search(r"\bhow\s+$", last[: t.start], re.IGNORECASE)]
    return best_topic(counted if is_plural and counted else candidates, is_plural=is_plural)


def _refers_back(s: Tagged, at: int, text: str) -> bool:
    """Return whether a word is a pronoun that neither is impersonal nor refers to an earlier clause of its question."""
    low = s.lows[at]
    if low not in {"it", "its"} | PLURAL_PRONOUNS | PERSONAL_PRONOUNS:
        return False
    if low == "it" and _EXPLETIVE.search(text[s.places[at][0] :]):
        return False
    joints = [i for i in range(at) if s.tags[i] in ",;coS"]
    named = [t for t in topics(text) if t.is_definite or t.is_name]
    return not (joints and any(t.end <= s.places[joints[-1]][0] for t in named))


def _with_date(query: str, last: str) -> str:
    """Replace `then` or `that year` by the date of the question before."""
    match, old = _THEN.search(query), dates(last)
    if match is None or not old:
        return query
    date = old[-1][0]
    preposition = "on" if re.match(r"[0-9]{1,2} ", date) else "in"
    return _replace(query, match.span(), f"{preposition} {date}", keep_mark=True)


def _place(last: str) -> str:
    """Return what `there` refers to: `at Mill Weir` of the question before, else its main topic; empty if none."""
    for topic in topics(last):
        before = re.search(r"\b(in|at|on)\s+$", last[: topic.start], re.IGNORECASE)
        if before:
            return f"{before[1].lower()} {topic.definite}"
        if inner := re.search(r"\b(?:at|in) ((?:the )?[A-Z].*)$", topic.text):
            return inner[0]
    main = _main_topic(last)
    return f"at {main.definite.rsplit(' of ', 1)[-1]}" if main else ""


def _main_topic(last: str) -> Topic | None:
    candidates = topics(last)
    definite = [t for t in candidates if t.is_definite or t.is_name]
    return best_topic(definite or candidates[:1], is_plural=False)


# Words in their places


def _with_possessor(rest: str, s: Tagged, topic: Topic) -> str:
    at = next(i for i, low in enumerate(s.lows) if low in POSSESSIVES)
    start, end = s.places[at]
    return f"{rest[:start]}the{rest[end:]} of {topic.definite}"


def _possessive(noun: str) -> str:
    return noun + ("'" if noun.endswith("s") else "'s")


def _singular(noun: str) -> str:
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def _open(question: str) -> str:
    """Return a question without its end mark."""
    return question.rstrip(" ?!.")


def _replace(text: str, place: tuple[int, int], phrase: str, *, keep_mark: bool = False) -> str:
    """Replace the text at a place and adjust its case.

    The result ends with a question mark, unless `keep_mark` is set and the text has none.
    """
    start, end = place
    if start == 0:
        phrase = phrase[:1].upper() + phrase[1:]
    elif phrase.split(" ")[0].lower() in ARTICLES:
        phrase = phrase[:1].lower() + phrase[1:]
    replaced = f"{text[:start]}{phrase}{text[end:]}"
    return replaced if keep_mark and not text.endswith("?") else f"{_open(replaced)}?"
