"""What plain words forbid whatever a score says: other numbers, units, names, words or roles, or a "not".  No model."""

from __future__ import annotations

import re

from propcite.attribution.english import words
from propcite.attribution.english.comparing.moved_numbers import said_of_another
from propcite.attribution.english.comparing.names import renamed
from propcite.attribution.english.comparing.roles import exchanged

SPEAKS_OF_IT = 0.6  # with this share of the claim's words beside other numbers, the evidence speaks against it
BY_ITSELF = 0.4  # so much of them must stand in the evidence where what stands around it has the rest


def reason_against(claim: str, evidence: str, overlap: float, context: str = "") -> str:
    """Why plain words say that the evidence speaks against the claim; empty where they do not.

    `overlap` is the share of the claim's words in the evidence.  `context` stands around the evidence: what it names
    is no other name.
    """
    speaks_of_it = _speaks_of_it(claim, evidence, overlap, context)
    if words.missing_numbers(claim, evidence):
        return _difference(claim, evidence) if speaks_of_it else ""
    return _contradiction(claim, evidence, context, speaks_of_it=speaks_of_it)


def _speaks_of_it(claim: str, evidence: str, overlap: float, context: str) -> bool:
    """Whether the evidence speaks of what the claim does; what "it" is there, the words around it may tell."""
    if overlap >= SPEAKS_OF_IT or overlap < BY_ITSELF or not context:
        return overlap >= SPEAKS_OF_IT
    return words.plain_share(claim, f"{context}\n{evidence}") >= SPEAKS_OF_IT


def _contradiction(claim: str, evidence: str, context: str, *, speaks_of_it: bool) -> str:
    """Why plain words say that the evidence speaks against the claim, where its numbers do not; "" where they do not.

    Words that stand in the evidence as they are may still be negated there, but no other word opposes them.
    """
    stated = words.stands_in(claim, evidence)
    pair = None if stated else words.opposed_words(claim, evidence, share=SPEAKS_OF_IT)
    if pair := pair or _other_unit(claim, evidence):
        return f"source says “{pair[1]}”; answer says “{pair[0]}”"
    if names := renamed(claim, evidence, context, share=SPEAKS_OF_IT):
        return f"source says {names[1]}; answer says {names[0]}"
    if not speaks_of_it:
        return ""
    if words.negation_differs(claim, evidence):
        same = words.denial_in_other_words(claim, evidence, share=SPEAKS_OF_IT)
        return "" if same else "one of the two is negated, the other is not"
    if reason := exchanged(claim, evidence, share=SPEAKS_OF_IT):
        return reason
    return (
        "the source says that number of something else" if said_of_another(claim, evidence, share=SPEAKS_OF_IT) else ""
    )


def _other_unit(claim: str, evidence: str) -> tuple[str, str] | None:
    """A number that both state in different units, where the evidence speaks of the rest of the claim."""
    pair = words.other_unit(claim, evidence)
    return pair if pair and words.plain_share(claim.replace(pair[0], " "), evidence) >= SPEAKS_OF_IT else None


def _difference(claim: str, evidence: str) -> str:
    """What differs, in words: the claim's numbers that the source lacks beside the source's others of the same kind.

    Nothing when none is of a kind: a year that the source does not name is not contradicted by its price.
    """
    says = _number_words(evidence, words.numbers(claim))
    claimed = _number_words(claim, words.numbers(claim) - words.missing_numbers(claim, evidence))
    kinds = {_kind(number) for number in says} & {_kind(number) for number in claimed}
    says = [number for number in says if _kind(number) in kinds]
    claimed = [number for number in claimed if _kind(number) in kinds]
    return f"source says {', '.join(says[:4])}; answer says {', '.join(claimed[:4])}" if says else ""


def _kind(number: str) -> str:
    """What a number as it is written counts: years, months, money, shares, or other things."""
    if re.fullmatch(r"1\d{3}|20\d{2}", number):
        return "year"
    if any(sign in number for sign in "$€£¥"):
        return "money"
    if "%" in number or "per" in number:
        return "share"
    return "date" if any(month in number for month in words.MONTH_NAMES) else "count"


def _number_words(text: str, known: set[str]) -> list[str]:
    """The numbers of a text as it writes them (with their unit), without those that are known already."""
    found = [m.group().strip(" .,;") for m in words.NUMBER_WITH_UNIT.finditer(text) if words.numbers(m.group()) - known]
    return list(dict.fromkeys(found))
