"""Write a cited answer as W3C Web Annotations: one per fact, with its verdict and its evidence.

Selectors count Unicode code points, as the recommendation says.  Evidence is in bodies with the purpose `linking`; the
nearest evidence of a fact without support is in a body with the purpose `commenting`.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from propcite.attribution.citations import CitedAnswer, CitedProposition, Evidence, Verdict
from propcite.attribution.formats.text import is_address
from propcite.retrieval.text import Passage, Span

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
CONTEXT_CHARACTERS = 32  # of prefix and suffix


def to_w3c(answer: CitedAnswer) -> dict[str, Any]:
    """Return a collection with one page that has an annotation per fact."""
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
    bodies = [_textual_body(cited.proposition.text, "describing")]
    bodies += _verdict_bodies(cited.verdict) if cited.verdict else []
    bodies += [_evidence_body(citation.evidence, "linking") for citation in cited.citations]
    if cited.nearest and not cited.citations:
        bodies.append(_evidence_body(cited.nearest, "commenting"))
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


def _verdict_bodies(verdict: Verdict) -> list[dict[str, Any]]:
    """Return a body with label and probability, then one with the reason if there is one."""
    bodies = [_textual_body(f"{verdict.label.value}, {verdict.probability:.2f}", "assessing")]
    return bodies + ([_textual_body(verdict.reason, "commenting")] if verdict.reason else [])


def _textual_body(text: str, purpose: str) -> dict[str, Any]:
    return {"type": "TextualBody", "purpose": purpose, "value": text, "format": "text/plain"}


def _evidence_body(evidence: Evidence, purpose: str) -> dict[str, Any]:
    """Locate the quote in its document, or in its passage if it has no document."""
    passage = evidence.passage
    return {
        "type": "SpecificResource",
        "purpose": purpose,
        "source": {"id": source_of(passage), "type": "Text", "label": passage.title},
        "selector": selectors(passage.text, evidence.span, passage.start if passage.document_id else 0),
    }


def source_of(passage: Passage) -> str:
    """Return the web address of the source if it has one, else a URN.

    >>> source_of(Passage("p1", "", document_id="d1")), source_of(Passage("https://example.org/a", ""))
    ('urn:propcite:document:d1', 'https://example.org/a')
    """
    kind, id_ = ("document", passage.document_id) if passage.document_id else ("passage", passage.id)
    if is_address(id_):
        return id_
    return f"urn:propcite:{kind}:{quote(id_, safe='', errors='replace')}"


def selectors(text: str, span: Span, start: int = 0) -> list[dict[str, Any]]:
    """Select a span by its words and their context, and by position; `start` is where the text starts."""
    return [
        {
            "type": "TextQuoteSelector",
            "exact": span.of(text),
            "prefix": text[max(0, span.start - CONTEXT_CHARACTERS) : span.start],
            "suffix": text[span.end : span.end + CONTEXT_CHARACTERS],
        },
        {"type": "TextPositionSelector", "start": start + span.start, "end": start + span.end},
    ]
