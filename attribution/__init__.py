"""Tie each fact of an answer to its support: `PropCite.default().cite(answer, passages)`."""

from __future__ import annotations

from importlib import import_module
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
    from attribution.events import AnswerDone, SentenceCited, TextDelta, event_dict, event_json, server_sent
    from attribution.many import acite, cite_many
    from attribution.propcite import PropCite
    from attribution.sources import as_passages
    from attribution.stream import acite_stream, cite_stream

# These load numpy and the splitters: each is imported when it is first named, so that values stay cheap.
_LATE = {
    "PropCite": "propcite",
    "acite": "many",
    "cite_many": "many",
    "as_passages": "sources",
    "acite_stream": "stream",
    "cite_stream": "stream",
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
    "acite",
    "acite_stream",
    "as_passages",
    "cite_many",
    "cite_stream",
    "event_dict",
    "event_json",
    "server_sent",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'attribution' has no attribute {name!r}")
    return getattr(import_module(f"attribution.{_LATE[name]}"), name)
