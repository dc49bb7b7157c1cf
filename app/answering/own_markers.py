"""The markers that a language model typed itself, counted against what PropCite finds: the baseline's own marks."""

from __future__ import annotations

from collections.abc import Sequence

from propcite.attribution.citing.repaired import MarkerState, Repaired
from propcite.attribution.propcite import PropCite
from propcite.retrieval.text import Passage


def marks_told(propcite: PropCite, given: str, passages: Sequence[Passage]) -> str:
    """How many of the answer's own markers, which count these passages from 1, are right, and how many are missing."""
    return marks_line(propcite.repair(given, passages))


def marks_line(repaired: Repaired) -> str:
    right, missing = len(repaired.numbers(MarkerState.KEPT)), len(repaired.numbers(MarkerState.ADDED))
    typed = len(repaired.checks) - missing
    if not typed:
        return "the language model typed no markers of its own"
    told = f"{right} of the {typed} markers that the language model typed {'is' if right == 1 else 'are'} right"
    return f"{told}, {missing} {'is' if missing == 1 else 'are'} missing" if missing else told
