"""Write a cited answer as OpenAI messages: an output message of Responses, and a Chat Completions message.

`url_citation` has the span of the answer that a source supports, `file_citation` the place for its marker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.links import link_of
from propcite.attribution.formats.offsets import Offsets, Unit
from propcite.attribution.formats.pieces import cited_pieces
from propcite.attribution.formats.text import is_address
from propcite.attribution.formats.wording import title_of
from propcite.retrieval.text import Passage, Span


def to_openai(answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS) -> dict[str, Any]:
    """Return a message of the Responses API with `url_citation` annotations."""
    return _output_message(
        answer, [{"type": "url_citation", **fields} for fields in _url_citations(answer, unit)], unit
    )


def to_openai_files(answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS) -> dict[str, Any]:
    """Return a message of the Responses API with `file_citation` annotations; passages are the files."""
    offsets = Offsets(answer.text, unit)
    annotations = [
        {
            "type": "file_citation",
            "index": offsets.of(sentence.span.trimmed(answer.text).end),
            "file_id": citation.passage.id,
            "filename": title_of(citation.passage),
        }
        for sentence in answer.sentences
        for citation in sentence.citations
    ]
    return _output_message(answer, annotations, unit)


def to_openai_chat(answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS) -> dict[str, Any]:
    """Return a message of Chat Completions."""
    return {
        "role": "assistant",
        "content": answer.text,
        "refusal": None,
        "annotations": chat_annotations(answer, unit),
        "offsets": unit.value,
    }


def chat_annotations(answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS) -> list[dict[str, Any]]:
    """Return the annotations of a Chat Completions message."""
    return [{"type": "url_citation", "url_citation": fields} for fields in _url_citations(answer, unit)]


def _output_message(answer: CitedAnswer, annotations: list[dict[str, Any]], unit: Unit) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"msg_{answer.id}",
        "role": "assistant",
        "status": "incomplete" if answer.incomplete else "completed",
        "content": [{"type": "output_text", "text": answer.text, "annotations": annotations}],
        "offsets": unit.value,
    }


def _url_citations(answer: CitedAnswer, unit: Unit) -> Iterator[dict[str, Any]]:
    """Yield the words of each cited fact with each of its sources, in the order of the answer."""
    offsets = Offsets(answer.text, unit)
    for piece in cited_pieces(answer):
        start, end = offsets.pair(piece.words)
        for citation in piece.citations:
            url, urn = url_of(citation.passage, citation.span), urn_of(citation.passage, citation.span)
            place = {"start_index": start, "end_index": end, "title": title_of(citation.passage), "url": url}
            yield place if url == urn else {**place, "id": urn}


def url_of(passage: Passage, span: Span) -> str:
    """Return the web address of the source or the application's link to its words, else its URN.

    >>> url_of(Passage("p1", "It rained.", document_id="https://example.org/a"), Span(0, 2))
    'https://example.org/a'
    """
    addresses = [name for name in (passage.document_id, passage.id) if is_address(name)]
    return (addresses[0] if addresses else link_of(passage, span)) or urn_of(passage, span)


def urn_of(passage: Passage, span: Span) -> str:
    """Return a name of words that stays the same, with a character range as in RFC 5147.

    >>> urn_of(Passage("p 1", "The gates weigh 300 tonnes."), Span(4, 9))
    'urn:propcite:passage:p%201#char=4,9'
    """
    return f"urn:propcite:passage:{quote(passage.id, safe='', errors='replace')}#char={span.start},{span.end}"
