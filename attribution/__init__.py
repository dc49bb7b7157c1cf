"""Tie each fact of an answer to its support: `PropCite(...).cite(answer, passages)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attribution.citations import (
    Citation,
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Evidence,
    Label,
    Proposition,
    Verdict,
)
from attribution.errors import AttributionError

if TYPE_CHECKING:
    from attribution.propcite import PropCite

__all__ = [
    "AttributionError",
    "Citation",
    "CitedAnswer",
    "CitedProposition",
    "CitedSentence",
    "Evidence",
    "Label",
    "PropCite",
    "Proposition",
    "Verdict",
]


def __getattr__(name: str) -> Any:
    """`PropCite` loads numpy and the splitters; it is imported when first named, so that values stay cheap."""
    if name != "PropCite":
        raise AttributeError(f"module 'attribution' has no attribute {name!r}")
    from attribution.propcite import PropCite

    return PropCite
