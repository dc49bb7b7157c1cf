"""A cited answer in OpenAI's shapes: a Responses output message, and a Chat Completions message.

`url_citation` names the words of the answer that a source supports, `file_citation` the place for its marker.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.addresses import is_address
from propcite.attribution.formats.offsets import Offsets, Unit
from propcite.attribution.formats.pieces import claims
from propcite.attribution.formats.words import title_of
from propcite.retrieval.text import Passage, Span


def to_openai(answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS) -> dict[str, Any]:
    """A message of the Responses API whose annotations are `url_citation`."""
    return _output_message(answer, [{"type": "url_citation", **place} for place in _places(answer, unit)], unit)


def to_openai_files(answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS) -> dict[str, Any]:
    """A message of the Responses API whose annotations are `file_citation`: the passages are the files."""
    places = Offsets(answer.text, unit)
    annotations = [
        {
            "type": "file_citation",
            "index": places.of(sentence.span.trimmed(answer.text).end),
            "file_id": citation.passage.id,
            "filename": title_of(citation.passage),
        }
        for sentence in answer.sentences
        for citation in sentence.citations
    ]
    return _output_message(answer, annotations, unit)


def to_openai_chat(answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS) -> dict[str, Any]:
    """A message of Chat Completions."""
    return {
        "role": "assistant",
        "content": answer.text,
        "refusal": None,
        "annotations": chat_annotations(answer, unit),
        "offsets": unit.value,
    }


def chat_annotations(answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS) -> list[dict[str, Any]]:
    """The citations as a message of Chat Completions has them."""
    return [{"type": "url_citation", "url_citation": place} for place in _places(answer, unit)]


def _output_message(answer: CitedAnswer, annotations: list[dict[str, Any]], unit: Unit) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"msg_{answer.id}",
        "role": "assistant",
        "status": "incomplete" if answer.incomplete else "completed",
        "content": [{"type": "output_text", "text": answer.text, "annotations": annotations}],
        "offsets": unit.value,
    }


def _places(answer: CitedAnswer, unit: Unit) -> Iterator[dict[str, Any]]:
    """The words of each cited fact where it ends, with each of its sources, in the order of the answer."""
    places = Offsets(answer.text, unit)
    for claim in claims(answer):
        start, end = places.pair(claim.words)
        for citation in claim.citations:
            url = url_of(citation.passage, citation.span)
            yield {"start_index": start, "end_index": end, "title": title_of(citation.passage), "url": url}


def url_of(passage: Passage, span: Span) -> str:
    """The source's own address if it has one; else a name for its characters, counted as RFC 5147 does.

    >>> url_of(Passage("p 1", "The gates weigh 300 tonnes."), Span(4, 9))
    'urn:propcite:passage:p%201#char=4,9'
    """
    for name in (passage.document_id, passage.id):
        if is_address(name):
            return name
    return f"urn:propcite:passage:{quote(passage.id, safe='', errors='replace')}#char={span.start},{span.end}"
