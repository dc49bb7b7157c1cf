"""The main clause of a sentence that came before: its subject, its verb, and what its subject is said to be."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from propcite.attribution.english.grammar import people
from propcite.attribution.english.grammar.leads import lead_end
from propcite.attribution.english.grammar.phrases import Piece, is_many
from propcite.attribution.english.grammar.subjects import subject_of
from propcite.attribution.english.grammar.tagging import Tagged, tag

MARKS = re.compile(
    r"(?<![ \t])[ \t]*\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]|^\s*(?:(?:[-*+•‣◦▪>]+|\(?\d{1,3}[.)]|#{1,6})\s+)+|`+"
    r"|(?<!\w)(?:\*{1,3}(?=\S)|_{1,3}(?=\w))|(?<=\S)\*{1,3}(?!\w)|(?<=[\w.,;:!?])_{1,3}(?!\w)"
    r"|!?\[(?=[^\[\]]+\]\([^()\s]+\))|(?<=[^\[\]])\]\([^()\s]+\)"
)
SAMPLE = 2_000  # characters of a context sentence that are looked at


class MainClause(NamedTuple):
    """A sentence's words, the subject of its main clause without asides and adverbs, and where its verb stands."""

    s: Tagged
    text: str
    start: int
    end: int
    verb: int

    @property
    def lows(self) -> list[str]:
        return self.s.lows[self.start : self.end]

    @property
    def tags(self) -> str:
        return self.s.tags[self.start : self.end]

    @property
    def noun(self) -> str:
        return " ".join(self.text[self.s.places[self.start][0] : self.s.places[self.end - 1][1]].split())


@lru_cache(maxsize=4096)
def main_clause(text: str) -> MainClause | None:
    """The main clause of a context sentence; None where its subject and verb are not sure."""
    blank = " ".join(MARKS.sub("", text[:SAMPLE]).split())
    s = tag(blank, blank)
    if (
        not s.tags
        or blank.endswith("?")
        or s.tags[0] in "zS"
        or s.tags.lstrip("Q")[:1] not in s.tags[:1] + "B"
        or s.words.count("\n")
    ):
        return None
    lead = lead_end(s, 0, len(s.tags)) or 0
    start = lead + (s.tags[lead : lead + 1] == ",")
    while s.tags[start : start + 1] == "a" and s.lows[start] not in people.QUANTITY:
        start += 1
    found = subject_of(s, start, len(s.tags))
    if found is None:
        return None
    end = start
    while end < found[1] and s.tags[end] in "DJNXUpORPckQ":
        end += 1
    if (s.tags[end] not in ",az-" and end != found[1]) or (lead and s.tags[end] == "," != s.tags[lead : lead + 1]):
        return None  # "In the 2009 NFL Draft, he"
    return MainClause(s, blank, start, end, found[1]) if end > start else None


def is_predicate(clause: MainClause, at: int) -> bool:
    """Whether a noun says what the subject is: `is a Welsh singer and actor`, `as a member`, or an apposition to it."""
    s = clause.s
    while at > clause.end and s.tags[at - 1] in "DJNXUac,k":
        at -= 1
    return clause.start < at and (at <= clause.end or s.lows[at - 1] in people.BECOMING)


def is_many_of(s: Tagged, start: int, end: int) -> bool:
    named = set(s.tags[start + 1 : end]) == {"X"} and s.lows[start] == "the" and s.lows[end - 1].endswith("s")
    return named or is_many(s, Piece(start, end))
