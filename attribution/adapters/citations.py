"""The citations of an answer as one list of plain values, as messages of other frameworks carry them."""

from __future__ import annotations

from typing import Any

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import SentenceCited, event_dict


def citations_of(sentence: SentenceCited) -> list[dict[str, Any]]:
    """A sentence's citations; `answer_start` and `answer_end` say which words of the answer they support."""
    told = event_dict(sentence)["data"]
    return [{**c, "answer_start": told["start"], "answer_end": told["end"]} for c in told["citations"]]


def all_citations(answer: CitedAnswer) -> list[dict[str, Any]]:
    return [c for s in answer.sentences for c in citations_of(SentenceCited(s, s.span.of(answer.text)))]


def summary(answer: CitedAnswer) -> dict[str, Any]:
    """What is said of the whole answer: how much of it has support, and what has none."""
    return {
        "id": answer.id,
        "coverage": round(answer.coverage, 4),
        "uncited": [p.proposition.text for p in answer.uncited],
        "models": dict(answer.models),
    }
