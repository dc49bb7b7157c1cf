"""Write a cited answer as a message of Cohere's Chat API v2: `citations` of its words, each with sources."""

from __future__ import annotations

from typing import Any

from propcite.attribution.citations import Citation, CitedAnswer
from propcite.attribution.formats.offsets import Offsets, Unit
from propcite.attribution.formats.pieces import CitedPiece, cited_pieces


def to_cohere(answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS) -> dict[str, Any]:
    """Return a message with one citation per cited fact, whose sources support it together."""
    offsets = Offsets(answer.text, unit)
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": answer.text}],
        "citations": [_citation(piece, answer.text, offsets) for piece in cited_pieces(answer) if piece.citations],
        "offsets": unit.value,
    }


def _citation(piece: CitedPiece, text: str, offsets: Offsets) -> dict[str, Any]:
    start, end = offsets.pair(piece.words)
    return {
        "start": start,
        "end": end,
        "text": piece.words.of(text),
        "sources": [_source(citation, offsets.unit) for citation in piece.citations],
        "content_index": 0,
        "type": "TEXT_CONTENT",
    }


def _source(citation: Citation, unit: Unit) -> dict[str, Any]:
    """Return the passage, and the place of the quote in its text."""
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
