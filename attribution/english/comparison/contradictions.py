"""Find what rules out support whatever a score says: other numbers, units, words or roles, or a "not"."""

from __future__ import annotations

import re

from propcite.attribution.english import words
from propcite.attribution.english.comparison.roles import role_mismatch

MIN_CLAIM_SHARE = (
    0.6  # of the claim's words: evidence with so many makes the same statement, so a difference contradicts
)
MIN_OWN_SHARE = 0.4  # of them in the evidence itself; its context may contain the rest


def contradiction(claim: str, evidence: str, overlap: float, context: str = "") -> str:
    """Return how the evidence contradicts the claim, in one line; empty if it does not.

    `overlap` is the share of the claim's words in the evidence.  `context` is the text around the evidence, which may
    say what it speaks of.
    """
    is_same_topic = _is_same_topic(claim, evidence, overlap, context)
    if words.missing_numbers(claim, evidence):
        is_other = is_same_topic and words.underived_numbers(claim, evidence)  # one that follows is no difference
        return _number_difference(claim, evidence) if is_other else ""
    return _word_contradiction(claim, evidence, is_same_topic=is_same_topic)


def _is_same_topic(claim: str, evidence: str, overlap: float, context: str) -> bool:
    """Return whether the evidence makes the claim's statement; the context may say what its "it" is."""
    if overlap >= MIN_CLAIM_SHARE or overlap < MIN_OWN_SHARE or not context:
        return overlap >= MIN_CLAIM_SHARE
    return words.plain_share(claim, f"{context}\n{evidence}") >= MIN_CLAIM_SHARE


def _word_contradiction(claim: str, evidence: str, *, is_same_topic: bool) -> str:
    """Return how the evidence contradicts a claim whose numbers it states; empty if it does not.

    A claim that the evidence contains word for word may be negated there, but cannot be opposed by another word.
    """
    is_verbatim = words.stands_in(claim, evidence)
    pair = None if is_verbatim else words.opposed_words(claim, evidence, share=MIN_CLAIM_SHARE)
    if pair := pair or _other_unit(claim, evidence):
        return f"source says “{pair[1]}”; answer says “{pair[0]}”"
    if not is_same_topic:
        return ""
    if words.negation_differs(claim, evidence):
        is_synonym = words.denial_in_other_words(claim, evidence, share=MIN_CLAIM_SHARE)
        return "" if is_synonym else "one of the two is negated, the other is not"
    return role_mismatch(claim, evidence, share=MIN_CLAIM_SHARE)


def _other_unit(claim: str, evidence: str) -> tuple[str, str] | None:
    """Return a number in both units, if the evidence has the rest of the claim; else None."""
    pair = words.other_unit(claim, evidence)
    return pair if pair and words.plain_share(claim.replace(pair[0], " "), evidence) >= MIN_CLAIM_SHARE else None


def _number_difference(claim: str, evidence: str) -> str:
    """Return the numbers that differ, in one line; empty if none are of one kind.

    A missing year, for instance, is not contradicted by a price.
    """
    theirs = _quoted_numbers(words.without_list_number(evidence), words.numbers(claim))
    ours = _quoted_numbers(claim, words.numbers(claim) - words.missing_numbers(claim, evidence))
    kinds = set(map(_kind, theirs)) & set(map(_kind, ours))
    theirs = [number for number in theirs if _kind(number) in kinds]
    ours = [number for number in ours if _kind(number) in kinds]
    return f"source says {', '.join(theirs[:4])}; answer says {', '.join(ours[:4])}" if theirs else ""


def _kind(number: str) -> str:
    """Return what a quoted number measures: a year, money, a share, a date or a count."""
    if re.fullmatch(r"1\d{3}|20\d{2}", number):
        return "year"
    if any(sign in number for sign in "$€£¥"):
        return "money"
    if "%" in number or "per" in number:
        return "share"
    return "date" if any(month in number for month in words.MONTH_NAMES) else "count"


def _quoted_numbers(text: str, excluded: set[str]) -> list[str]:
    """Return the numbers of a text as written there, with their units, except those excluded."""
    matches = words.NUMBER_WITH_UNIT.finditer(text)
    quotes = [match.group().strip(" .,;") for match in matches if words.numbers(match.group()) - excluded]
    return list(dict.fromkeys(quotes))
