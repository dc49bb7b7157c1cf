"""Convert a cited answer to plain values and to JSON."""

from __future__ import annotations

import json
from typing import cast

from propcite.attribution.citations import (
    Citation,
    CitedAnswer,
    CitedSentence,
    Evidence,
    Verdict,
)
from propcite.attribution.formats.cited_documents import all_evidence
from propcite.attribution.formats.json.schema import (
    SCHEMA,
    AnswerJson,
    BoxJson,
    CitationJson,
    CopyJson,
    EvidenceJson,
    PartJson,
    PassageJson,
    SentenceJson,
    VerdictJson,
)
from propcite.attribution.formats.links import link_of
from propcite.attribution.formats.text import without_surrogates
from propcite.attribution.question_parts import QuestionPart
from propcite.retrieval.text import Box, Passage, Span


def to_dict(answer: CitedAnswer) -> AnswerJson:
    """Return an answer as plain values, as `json_schema` describes them.

    >>> to_dict(CitedAnswer("It rained."))["text"]
    'It rained.'
    """
    passages = {evidence.passage.id: evidence.passage for evidence in all_evidence(answer)}
    return {
        "schema": SCHEMA,
        "id": answer.id,
        "question": answer.question,
        "understood": answer.understood,
        "after": answer.after,
        "collection": answer.collection,
        "text": answer.text,
        "answered": answer.answered.value if answer.answered else None,
        "parts": [_part(part) for part in answer.parts],
        "abstained": answer.abstained,
        "incomplete": answer.incomplete,
        "notes": list(answer.notes),
        "coverage": round(answer.coverage, 4),
        "sentences": [_sentence(s, answer.text) for s in answer.sentences],
        "uncited": [p.proposition.text for p in answer.uncited],
        "uncited_spans": [(s.start, s.end) for s in answer.uncited_spans],
        "passages": [passage_json(p) for p in passages.values()],
        "written_from": list(answer.written_from),
        "index_version": answer.index_version,
        "models": dict(answer.models),
        "timings_ms": dict(answer.timings_ms),
    }


def to_json(answer: CitedAnswer, *, indent: int | None = None) -> str:
    """Return an answer as JSON.  A lone surrogate, which JSON cannot hold, becomes �; offsets stay right.

    >>> to_json(CitedAnswer("It rained."))[:31]
    '{"schema": "propcite/answer/6",'
    """
    return without_surrogates(json.dumps(to_dict(answer), ensure_ascii=False, indent=indent))


def _part(part: QuestionPart) -> PartJson:
    return {
        "question": part.question,
        "answered": part.answered.value,
        "probability": part.probability,
        "start": part.span.start if part.span else None,
        "end": part.span.end if part.span else None,
    }


def verdict_json(verdict: Verdict) -> VerdictJson:
    return {"label": verdict.label.value, "probability": verdict.probability, "reason": verdict.reason}


def evidence_json(evidence: Evidence) -> EvidenceJson:
    passage, span = evidence.passage, evidence.span
    own = {
        "boxes": [_box(box) for box in passage.boxes_of(span)],
        "score": evidence.score,
        "passage_score": evidence.passage_score,
        "shown": evidence.shown,
    }
    data = cast(EvidenceJson, {**copy_json(passage, span), **own})
    if evidence.copies:
        data["copies"] = [copy_json(copy.passage, copy.span) for copy in evidence.copies]
    return data


def copy_json(passage: Passage, span: Span) -> CopyJson:
    place = passage.in_document(span)
    data: CopyJson = {
        "passage_id": passage.id,
        "document_id": passage.document_id,
        "title": passage.title,
        "quote": span.of(passage.text),
        "start": span.start,
        "end": span.end,
        "document_start": place.start,
        "document_end": place.end,
        "pages": list(passage.pages_of(span)),
        "places": list(passage.places_of(span)),
    }
    if link := link_of(passage, span):
        data["link"] = link
    return data


def _citation(citation: Citation) -> CitationJson:
    return {
        "id": citation.id,
        "number": citation.number,
        **evidence_json(citation.evidence),
        "verdict": verdict_json(citation.verdict),
    }


def _sentence(sentence: CitedSentence, text: str) -> SentenceJson:
    return {
        "text": sentence.span.of(text),
        "start": sentence.span.start,
        "end": sentence.span.end,
        "most": sentence.max_citations,
        "citations": [_citation(c) for c in sentence.citations],
        "propositions": [
            {
                "id": p.id,
                "text": p.proposition.text,
                "spans": [(s.start, s.end) for s in p.proposition.spans],
                "check_worthy": p.proposition.check_worthy,
                "verdict": verdict_json(p.verdict) if p.verdict else None,
                "citations": [_citation(c) for c in p.citations],
                "nearest": evidence_json(p.nearest) if p.nearest else None,
            }
            for p in sentence.propositions
        ],
    }


def passage_json(passage: Passage) -> PassageJson:
    return {
        "id": passage.id,
        "document_id": passage.document_id,
        "title": passage.title,
        "text": passage.text,
        "start": passage.start,
        "sentences": [
            {"start": s.span.start, "end": s.span.end, "is_heading": s.is_heading} for s in passage.sentences
        ],
        "pages": [{"number": p.number, "start": p.span.start, "end": p.span.end} for p in passage.pages],
        "boxes": [_box(box) for box in passage.boxes],
        "places": [{"name": p.name, "start": p.span.start, "end": p.span.end} for p in passage.places],
    }


def _box(box: Box) -> BoxJson:
    return {
        "page": box.page,
        "start": box.span.start,
        "end": box.span.end,
        "left": box.left,
        "top": box.top,
        "right": box.right,
        "bottom": box.bottom,
    }
