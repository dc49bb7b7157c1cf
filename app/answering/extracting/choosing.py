"""Choose the sentences of an answer: the likeliest, and others only where they answer differently."""

from __future__ import annotations

import re
from collections.abc import Sequence

from propcite.app.answering.extracting.candidates import Candidate
from propcite.app.answering.headings import heading_of
from propcite.attribution import english

ANSWERS_FROM = 0.55  # probability from which a sentence answers: it is the likeliest of all that were read
NEAR_FROM = 0.3  # and from which it is worth showing, where none answers
MORE_FROM = 0.5  # and from which another one is added
MORE_SHARE = 0.7  # of the best one's probability, which another one needs too
MAX_SENTENCES = 3
_ROW = re.compile(r"[^=;]{1,80} = [^;]+(?:; [^=;]{1,80} = |$)")
SAME_WORDS = 0.7  # sentences that share this much of the shorter one's words say the same


def choose(candidates: Sequence[Candidate], limit: int = MAX_SENTENCES, question: str = "") -> list[Candidate]:
    """Return the sentences that answer, the likeliest first; empty where none does.

    Beside a row of a table come only rows that have as many words of the question.  Beside a sentence with words of
    it come only sentences that have some, or lie under a heading that has.
    """
    if not candidates or candidates[0].probability < ANSWERS_FROM:
        return []
    least = max(MORE_FROM, MORE_SHARE * candidates[0].probability)
    chosen, asked = [candidates[0]], {*english.content_words(question)}
    own, is_named = _row_words(candidates[0]) & asked, bool(_words(candidates[0]) & asked)
    for candidate in candidates[1:]:
        if len(chosen) == limit or candidate.probability < least:
            break
        of_another = own and (words := _row_words(candidate)) and not own <= words
        if of_another or (is_named and not _words(candidate) & asked):
            continue
        if not any(_says_the_same(candidate, other) for other in chosen):
            chosen.append(candidate)
    return chosen


def nearest(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the likeliest sentence where it may answer, though not surely; empty where nothing comes near."""
    return list(candidates[:1]) if candidates and candidates[0].probability >= NEAR_FROM else []


def _words(candidate: Candidate) -> set[str]:
    """Return the words of a sentence and of the heading that it lies under."""
    return {*english.content_words(f"{candidate.text} {heading_of(candidate.passage, candidate.number)}")}


def _row_words(candidate: Candidate) -> set[str]:
    """Return the words of a row of a table, "Month = May; Rain = 12 mm"; empty where it is none."""
    return {*english.content_words(candidate.text)} if _ROW.match(candidate.text) else set()


def _says_the_same(one: Candidate, other: Candidate) -> bool:
    """Return whether one adds nothing to the other: its answer stands there, or the sentences share their words."""
    if one.direct and one.direct.casefold() in other.text.casefold():
        return True
    shorter, longer = sorted((english.content_words(one.text), english.content_words(other.text)), key=len)
    same_numbers = english.numbers(one.text) == english.numbers(other.text)
    return same_numbers and english.share_found(shorter, longer) >= SAME_WORDS
