"""A cited answer as an Anthropic message: text blocks with `char_location` and `page_location` citations; and back.

The blocks' texts joined are the answer's text.  A block ends where a fact does and carries that fact's citations, which
lie in `documents`: the cited passages as document blocks, in the order that `document_index` counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from propcite.attribution.citations import Citation, CitedAnswer
from propcite.attribution.formats.offsets import Offsets, Unit
from propcite.attribution.formats.pieces import claims
from propcite.retrieval.text import Passage, Span


def to_anthropic(
    answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS, documents: Sequence[Passage] = ()
) -> dict[str, Any]:
    """`documents` are counted first, in their order, then what is cited beyond them by first appearance."""
    listed = {passage.id: passage for passage in (*documents, *answer.passages)}
    places = {name: (index, Offsets(passage.text, unit)) for index, (name, passage) in enumerate(listed.items())}
    content = []
    for claim in claims(answer):
        cited = [place for c in claim.citations for place in _locations(c, *places[c.passage.id])]
        content.append({"type": "text", "text": claim.span.of(answer.text), "citations": cited or None})
    return {
        "role": "assistant",
        "content": content,
        "documents": [_document(passage) for passage in listed.values()],
        "offsets": unit.value,
    }


def _locations(citation: Citation, index: int, places: Offsets) -> list[dict[str, Any]]:
    """The words by their characters and, where the pages are known, by these too; both ends are excluded."""
    common = {
        "cited_text": citation.quote,
        "document_index": index,
        "document_title": citation.passage.title or None,
    }
    start, end = places.pair(citation.span)
    found: list[dict[str, Any]] = [
        {"type": "char_location", **common, "start_char_index": start, "end_char_index": end}
    ]
    if pages := citation.pages:
        numbers = {"start_page_number": pages[0], "end_page_number": pages[-1] + 1}
        found.append({"type": "page_location", **common, **numbers})
    return found


def _document(passage: Passage) -> dict[str, Any]:
    return {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": passage.text},
        "title": passage.title or None,
        "citations": {"enabled": True},
    }


class Located(NamedTuple):
    """Words of the answer, and the words of a document that they cite."""

    block: Span
    document_index: int
    span: Span


def from_anthropic(message: Mapping[str, Any]) -> list[Located]:
    """Every `char_location` of a message that was written here, in code points."""
    unit = Unit(message["offsets"])
    documents = [Offsets(document["source"]["data"], unit) for document in message["documents"]]
    found, end = [], 0
    for block in message["content"]:
        start, end = end, end + len(block["text"])
        for citation in block["citations"] or ():
            if citation["type"] == "char_location":
                index = citation["document_index"]
                span = documents[index].span(citation["start_char_index"], citation["end_char_index"])
                found.append(Located(Span(start, end), index, span))
    return found
