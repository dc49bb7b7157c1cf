"""List the citations of an answer as plain values, as messages of other frameworks carry them."""

from __future__ import annotations

from typing import Any

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import SentenceCited, event_dict


def citations_of(sentence: SentenceCited) -> list[dict[str, Any]]:
    """Return a sentence's citations; `answer_start` and `answer_end` are the place of the sentence in the answer."""
    data = event_dict(sentence)["data"]
    return [{**c, "answer_start": data["start"], "answer_end": data["end"]} for c in data["citations"]]


def all_citations(answer: CitedAnswer) -> list[dict[str, Any]]:
    return [c for s in answer.sentences for c in citations_of(SentenceCited(s, s.span.of(answer.text)))]


def summary(answer: CitedAnswer) -> dict[str, Any]:
    """Return what concerns the whole answer: its coverage, its uncited propositions, and the models."""
    return {
        "id": answer.id,
        "coverage": round(answer.coverage, 4),
        "uncited": [p.proposition.text for p in answer.uncited],
        "models": dict(answer.models),
    }
