"""Tie each fact of an answer to its support: `PropCite.default().cite(answer, passages)`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from propcite.attribution.citations import (
    Citation,
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Evidence,
    Label,
    Proposition,
    Verdict,
)
from propcite.attribution.errors import AttributionError

if TYPE_CHECKING:
    from propcite.attribution.citing.sources import as_passages
    from propcite.attribution.events import AnswerDone, SentenceCited, TextDelta, event_dict, event_json, server_sent
    from propcite.attribution.propcite import PropCite

# These load numpy and the splitters: each is imported when it is first named, so that values stay cheap.
_LATE = {
    "PropCite": "propcite",
    "as_passages": "citing.sources",
    **dict.fromkeys(("AnswerDone", "SentenceCited", "TextDelta", "event_dict", "event_json", "server_sent"), "events"),
}

__all__ = [
    "AnswerDone",
    "AttributionError",
    "Citation",
    "CitedAnswer",
    "CitedProposition",
    "CitedSentence",
    "Evidence",
    "Label",
    "PropCite",
    "Proposition",
    "SentenceCited",
    "TextDelta",
    "Verdict",
    "as_passages",
    "event_dict",
    "event_json",
    "server_sent",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'propcite.attribution' has no attribute {name!r}")
    return getattr(import_module(f"propcite.attribution.{_LATE[name]}"), name)
