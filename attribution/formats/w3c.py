"""A cited answer as W3C Web Annotations: each fact of the answer with its verdict and the words of its sources.

Selectors count Unicode code points, as the recommendation says.  A fact's evidence are the bodies with the purpose
`linking`; for a fact without support, the nearest words are a body with the purpose `commenting`.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote as percent

from propcite.attribution.citations import CitedAnswer, CitedProposition, Evidence, Verdict
from propcite.attribution.formats.addresses import is_address
from propcite.retrieval.text import Passage, Span

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
AROUND = 32  # characters of prefix and suffix


def to_w3c(answer: CitedAnswer) -> dict[str, Any]:
    """A collection with one page: an annotation for each fact that needs support."""
    name = f"urn:propcite:answer:{answer.id}"
    items = [_annotation(answer, cited, name) for cited in answer.facts]
    page = {"id": f"{name}#page", "type": "AnnotationPage", "partOf": name, "startIndex": 0, "items": items}
    return {
        "@context": CONTEXT,
        "id": name,
        "type": "AnnotationCollection",
        "label": answer.question or "Cited text",
        "total": len(items),
        "first": page,
    }


def _annotation(answer: CitedAnswer, cited: CitedProposition, name: str) -> dict[str, Any]:
    bodies = [_said(cited.proposition.text, "describing")]
    bodies += _verdict(cited.verdict) if cited.verdict else []
    bodies += [_words(citation.evidence, "linking") for citation in cited.citations]
    if cited.nearest and not cited.citations:
        bodies.append(_words(cited.nearest, "commenting"))
    return {
        "id": f"{name}#fact-{cited.id}",
        "type": "Annotation",
        "motivation": "assessing",
        "body": bodies,
        "target": [
            {"type": "SpecificResource", "source": name, "selector": selectors(answer.text, span)}
            for span in cited.proposition.spans
        ],
    }


def _verdict(verdict: Verdict) -> list[dict[str, Any]]:
    """The label and the probability of support; then what differs."""
    said = [_said(f"{verdict.label.value}, {verdict.probability:.2f}", "assessing")]
    return said + ([_said(verdict.reason, "commenting")] if verdict.reason else [])


def _said(text: str, purpose: str) -> dict[str, Any]:
    return {"type": "TextualBody", "purpose": purpose, "value": text, "format": "text/plain"}


def _words(evidence: Evidence, purpose: str) -> dict[str, Any]:
    """The quoted words in their document, or in their passage where that is all there is."""
    passage = evidence.passage
    return {
        "type": "SpecificResource",
        "purpose": purpose,
        "source": {"id": source_of(passage), "type": "Text", "label": passage.title},
        "selector": selectors(passage.text, evidence.span, passage.start if passage.document_id else 0),
    }


def source_of(passage: Passage) -> str:
    """An address if the source has one, else a name.

    >>> source_of(Passage("p1", "", document_id="d1")), source_of(Passage("https://example.org/a", ""))
    ('urn:propcite:document:d1', 'https://example.org/a')
    """
    kind, name = ("document", passage.document_id) if passage.document_id else ("passage", passage.id)
    if is_address(name):
        return name
    return f"urn:propcite:{kind}:{percent(name, safe='', errors='replace')}"


def selectors(text: str, span: Span, begins: int = 0) -> list[dict[str, Any]]:
    """The same words twice: by what they are and stand between, and by where they are in what `begins` before."""
    return [
        {
            "type": "TextQuoteSelector",
            "exact": span.of(text),
            "prefix": text[max(0, span.start - AROUND) : span.start],
            "suffix": text[span.end : span.end + AROUND],
        },
        {"type": "TextPositionSelector", "start": begins + span.start, "end": begins + span.end},
    ]
