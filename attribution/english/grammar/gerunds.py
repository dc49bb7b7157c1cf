"""`, becoming king`: an -ing form after a comma told as a verb of the subject."""

from __future__ import annotations

from propcite.attribution.english.grammar import verbs
from propcite.attribution.english.grammar.members import members_after
from propcite.attribution.english.grammar.phrases import Fact, Piece, be_like, group_end, is_many, words
from propcite.attribution.english.grammar.tagging import Tagged


def told_by_gerunds(s: Tagged, subject: Fact, start: int, end: int, verb: int) -> list[Fact] | None:
    """`, living in A and moving to B`: each as a verb of the subject; None where its verb is not known."""
    first = start
    while first < end and s.tags[first] == "a":
        first += 1
    said = _finite(s.lows[first], s, subject, verb)
    if said is None:
        return None
    stop = end
    for at in range(first + 2, end - 1):
        if s.tags[at] == "c" and s.tags[at + 1] == "G" and _finite(s.lows[at + 1], s, subject, verb):
            stop = at
            break
    lead = (*subject, *words(start, first), Piece(first, first + 1, said))
    listed = members_after(s, first + 1, stop)
    out: list[Fact] = [(*lead, *pieces) for pieces in listed]
    return out if stop == end else out + (told_by_gerunds(s, subject, stop + 1, end, verb) or [])


def is_no_deed(s: Tagged, subject: Fact, verb: int, at: int, end: int) -> bool:
    """`by cleaning the lens, turning the ring and waiting`: one of several, not a verb of the subject."""
    if s.lows[subject[0].start : subject[-1].end] in (["this"], ["that"]):
        return True  # "this is why A is B, doing C"
    if {"him", "her"} & set(s.lows[at + 2 : at + 3]) and s.tags[at + 2] == "K":
        return True  # "Ada won, putting her ahead": the winning did it
    before = any(s.tags[i] == "G" and s.tags[i - 1] in "PBHVEI" for i in range(verb + 1, at))
    done = group_end(s, verb, at)
    if s.tags[verb] == "B" and done > verb + 1 and s.tags[done - 1] in "EL" and s.tags[subject[0].start] == "D":
        return True  # "the valve was opened, releasing gas": the opening did it
    return before and any(s.tags[i] == "G" and s.tags[i - 1] in "co" for i in range(at + 2, end))


def _finite(gerund: str, s: Tagged, subject: Fact, verb: int) -> str | None:
    """`becoming` as `became`, `becomes` or `become`, in the tense and number of the main verb; None if not known."""
    base = verbs.base_of(gerund)
    if base is None or gerund in verbs.EVENT_GERUNDS:
        return None
    low = s.lows[verb]
    if be_like(s, verb, subject[0]) in {"was", "were"}:
        return verbs.past_of(base)
    if (
        low in {"are", "have", "do"}
        or low in verbs.BASE_VERBS
        or is_many(s, subject[0])
        or s.lows[subject[0].start] in {"i", "you"}
    ):
        return base
    return verbs.third_of(base)
