"""What a near miss says otherwise than the claim, for who reads both: numbers, units, dates, names.  No model.

It is asked where a judge has given no reason of its own, and changes no verdict.
"""

from __future__ import annotations

from itertools import groupby

from propcite.attribution.english import words
from propcite.attribution.english.comparing.contradictions import reason_against
from propcite.attribution.english.grammar import tag

SPEAKS_OF_IT = 0.5  # share of the claim's plain words that the evidence has; below, all differs and nothing is told
LONGEST = 60  # words of evidence
MOST = 3  # told of each side


def difference(claim: str, evidence: str, context: str = "") -> str:
    """What differs, in one line; "" where that cannot be said in a few words.  Names in the context are no news.

    >>> difference("Ana Ruiz opened the museum in Madrid.", "Ana Ruiz opened the museum in Lisbon in 1987.")
    'source says Lisbon; answer says Madrid'
    """
    if len(evidence.split()) > LONGEST or _share(claim, evidence) < SPEAKS_OF_IT:
        return ""
    told = reason_against(claim, evidence, words.plain_share(claim, evidence), context)
    if not told and (units := words.other_unit(claim, evidence)):
        told = f"source says “{units[1]}”; answer says “{units[0]}”"
    return told or _names_differ(claim, evidence, context)


def _names_differ(claim: str, evidence: str, context: str) -> str:
    """Dates beside dates, names beside names; else what the answer names and the source does not."""
    known, said = _stems(f"{context}\n{evidence}"), _stems(claim)
    for dates in (True, False):
        claimed = [name for name in _names(claim, dates=dates) if not _stems(name) <= known]
        given = [name for name in _names(evidence, dates=dates) if not _stems(name) <= said]
        if claimed and given:
            return f"source says {', '.join(given[:MOST])}; answer says {', '.join(claimed[:MOST])}"
        if claimed and not dates:
            return f"the source does not name {', '.join(claimed[:MOST])}"
    return ""


def _names(text: str, *, dates: bool) -> list[str]:
    """Names with all their words, or dates with their numbers, in the order of the text."""
    tagged = tag(text, text)
    pairs = list(zip(tagged.words, tagged.tags, strict=True))
    found = []
    for inside, run in groupby(pairs, key=lambda pair: pair[1] == "X" or (dates and pair[1] == "U")):
        several = [word for word, _ in run]
        if inside and any(map(_is_date, several)) is dates and not all(word.isdigit() for word in several):
            found.append(" ".join(several))
    return list(dict.fromkeys(found))


def _is_date(word: str) -> bool:
    return word.capitalize() in words.DAY_NAMES or word in words.MONTH_NAMES


def _stems(text: str) -> set[str]:
    return {words.stem(word.lower()) for word in text.split() for word in words.WORD.findall(word)}


def _share(claim: str, evidence: str) -> float:
    """The share of the claim's plain words, names and numbers apart, that the evidence has."""
    tagged = tag(claim, claim)
    plain = [w for w, kind in zip(tagged.words, tagged.tags, strict=True) if kind not in "XU" and w[0].isalpha()]
    own = {words.stem(w.lower()) for w in plain} - {words.stem(w) for w in words.FUNCTION_WORDS}
    return len(own & _stems(evidence)) / len(own) if own else 0.0
