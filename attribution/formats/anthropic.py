"""Write a cited answer as an Anthropic message with `char_location` and `page_location` citations, and read them.

The texts of the blocks joined are the answer's text.  A block ends where a fact ends and has that fact's citations.
They refer to `documents`, the cited passages as document blocks, which `document_index` counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from propcite.attribution.citations import Citation, CitedAnswer
from propcite.attribution.formats.offsets import Offsets, Unit
from propcite.attribution.formats.pieces import cited_pieces
from propcite.retrieval.text import Passage, Span


def to_anthropic(
    answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS, documents: Sequence[Passage] = ()
) -> dict[str, Any]:
    """Return a message.  `documents` come first, in their order, then other cited passages by first appearance."""
    listed = {passage.id: passage for passage in (*documents, *answer.passages)}
    places = {id_: (index, Offsets(passage.text, unit)) for index, (id_, passage) in enumerate(listed.items())}
    content = []
    for piece in cited_pieces(answer):
        locations = [one for c in piece.citations for one in _locations(c, *places[c.passage.id])]
        content.append({"type": "text", "text": piece.span.of(answer.text), "citations": locations or None})
    return {
        "role": "assistant",
        "content": content,
        "documents": [_document(passage) for passage in listed.values()],
        "offsets": unit.value,
    }


def _locations(citation: Citation, index: int, offsets: Offsets) -> list[dict[str, Any]]:
    """Locate the quote by characters and, if its pages are known, by pages too; ends are exclusive."""
    common = {
        "cited_text": citation.quote,
        "document_index": index,
        "document_title": citation.passage.title or None,
    }
    start, end = offsets.pair(citation.span)
    locations: list[dict[str, Any]] = [
        {"type": "char_location", **common, "start_char_index": start, "end_char_index": end}
    ]
    if pages := citation.pages:
        numbers = {"start_page_number": pages[0], "end_page_number": pages[-1] + 1}
        locations.append({"type": "page_location", **common, **numbers})
    return locations


def _document(passage: Passage) -> dict[str, Any]:
    return {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": passage.text},
        "title": passage.title or None,
        "citations": {"enabled": True},
    }


class BlockCitation(NamedTuple):
    """A block of the answer, and the span of a document that it cites."""

    block: Span
    document_index: int
    span: Span


def from_anthropic(message: Mapping[str, Any]) -> list[BlockCitation]:
    """Return every `char_location` of a message that `to_anthropic` wrote, in code points."""
    unit = Unit(message["offsets"])
    documents = [Offsets(document["source"]["data"], unit) for document in message["documents"]]
    citations, end = [], 0
    for block in message["content"]:
        start, end = end, end + len(block["text"])
        for citation in block["citations"] or ():
            if citation["type"] == "char_location":
                index = citation["document_index"]
                span = documents[index].span(citation["start_char_index"], citation["end_char_index"])
                citations.append(BlockCitation(Span(start, end), index, span))
    return citations
