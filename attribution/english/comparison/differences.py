"""Describe how evidence that misses a claim differs from it: numbers, units, dates, names.

This explains a verdict for which the judge gave no reason, and changes no verdict.
"""

from __future__ import annotations

from itertools import groupby

from propcite.attribution.english import words
from propcite.attribution.english.comparison.contradictions import contradiction
from propcite.attribution.english.grammar import tag

MIN_PLAIN_SHARE = 0.5  # of the claim's plain words that the evidence has; with fewer, everything differs
MAX_WORDS = 60  # of the evidence
MAX_LISTED = 3  # names per side


def difference(claim: str, evidence: str, context: str = "") -> str:
    """Return what differs, in one line; empty if a few words cannot say it.  Names in the context do not differ.

    >>> difference("Ana Ruiz opened the museum in Madrid.", "Ana Ruiz opened the museum in Lisbon in 1987.")
    'source says Lisbon; answer says Madrid'
    """
    if len(evidence.split()) > MAX_WORDS or _plain_share(claim, evidence) < MIN_PLAIN_SHARE:
        return ""
    if reason := contradiction(claim, evidence, words.plain_share(claim, evidence), context):
        return reason
    if units := words.other_unit(claim, evidence):
        return f"source says “{units[1]}”; answer says “{units[0]}”"
    return _name_difference(claim, evidence, context)


def _name_difference(claim: str, evidence: str, context: str) -> str:
    """Compare dates with dates and names with names; otherwise return the names that only the claim has."""
    source_stems, claim_stems = _stems(f"{context}\n{evidence}"), _stems(claim)
    for dates in (True, False):
        ours = [name for name in _names(claim, dates=dates) if not _stems(name) <= source_stems]
        theirs = [name for name in _names(evidence, dates=dates) if not _stems(name) <= claim_stems]
        if ours and theirs:
            return f"source says {', '.join(theirs[:MAX_LISTED])}; answer says {', '.join(ours[:MAX_LISTED])}"
        if ours and not dates:
            return f"the source does not name {', '.join(ours[:MAX_LISTED])}"
    return ""


def _names(text: str, *, dates: bool) -> list[str]:
    """Return the names of a text, or its dates with their numbers, in order."""
    tagged = tag(text, text)
    pairs = list(zip(tagged.words, tagged.tags, strict=True))
    names = []
    for is_name, run in groupby(pairs, key=lambda pair: pair[1] == "X" or (dates and pair[1] == "U")):
        name = [word for word, _ in run]
        if is_name and any(map(_is_date, name)) is dates and not all(word.isdigit() for word in name):
            names.append(" ".join(name))
    return list(dict.fromkeys(names))


def _is_date(word: str) -> bool:
    return word.capitalize() in words.DAY_NAMES or word in words.MONTH_NAMES


def _stems(text: str) -> set[str]:
    return {words.stem(word.lower()) for word in text.split() for word in words.WORD.findall(word)}


def _plain_share(claim: str, evidence: str) -> float:
    """Return the share of the claim's words, without names and numbers, that the evidence has."""
    tagged = tag(claim, claim)
    plain = [w for w, kind in zip(tagged.words, tagged.tags, strict=True) if kind not in "XU" and w[0].isalpha()]
    stems = {words.stem(w.lower()) for w in plain} - {words.stem(w) for w in words.FUNCTION_WORDS}
    return len(stems & _stems(evidence)) / len(stems) if stems else 0.0
