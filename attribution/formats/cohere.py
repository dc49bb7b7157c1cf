"""A cited answer as a message of Cohere's Chat API v2: `citations` on the words of the answer, with their sources."""

from __future__ import annotations

from typing import Any

from propcite.attribution.citations import Citation, CitedAnswer
from propcite.attribution.formats.offsets import Offsets, Unit
from propcite.attribution.formats.pieces import Claim, claims


def to_cohere(answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS) -> dict[str, Any]:
    """The words of each cited fact where it ends; its sources support it together."""
    places = Offsets(answer.text, unit)
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": answer.text}],
        "citations": [_citation(claim, answer.text, places) for claim in claims(answer) if claim.citations],
        "offsets": unit.value,
    }


def _citation(claim: Claim, text: str, places: Offsets) -> dict[str, Any]:
    start, end = places.pair(claim.words)
    return {
        "start": start,
        "end": end,
        "text": claim.words.of(text),
        "sources": [_source(citation, places.unit) for citation in claim.citations],
        "content_index": 0,
        "type": "TEXT_CONTENT",
    }


def _source(citation: Citation, unit: Unit) -> dict[str, Any]:
    """The passage, and where in its text the cited words are."""
    passage = citation.passage
    start, end = Offsets(passage.text, unit).pair(citation.span)
    document = {
        "id": passage.id,
        "title": passage.title,
        "text": passage.text,
        "document_id": passage.document_id,
        "quote": citation.quote,
        "start": start,
        "end": end,
        "pages": list(citation.pages),
        "places": list(citation.places),
    }
    return {"type": "document", "id": passage.id, "document": document}
