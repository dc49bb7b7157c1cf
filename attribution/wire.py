"""CitedAnswer as JSON and back.  The types below are the documented schema: `propcite schema` prints it.

All offsets are half-open and count Unicode code points from 0.  A quote is written for the reader; when JSON is read,
every quote is cut anew from its passage, and one that differs is refused.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from attribution.citations import (
    Citation,
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Evidence,
    Label,
    Proposition,
    Verdict,
)
from attribution.errors import AttributionError
from retrieval.text import Page, Passage, Sentence, Span

SCHEMA: Literal["propcite/answer/1"] = "propcite/answer/1"
_SURROGATE = re.compile("[\ud800-\udfff]")


class VerdictJson(TypedDict):
    """What the judge said: `probability` is that of support."""

    label: Literal["supported", "partly", "unsupported", "contradicted"]
    probability: float
    reason: str


class EvidenceJson(TypedDict):
    """A sentence of a passage: `start` and `end` lie in the passage, the `document_` ones in its document."""

    passage_id: str
    document_id: str
    title: str
    quote: str
    start: int
    end: int
    document_start: int
    document_end: int
    pages: list[int]
    score: float
    passage_score: float


class CitationJson(EvidenceJson):
    """Accepted evidence; `number` is its marker in the answer."""

    number: int
    verdict: VerdictJson


class PropositionJson(TypedDict):
    """A claim of the answer: `spans` are [start, end] in the answer, `nearest` the best evidence of an uncited one."""

    text: str
    spans: list[tuple[int, int]]
    check_worthy: bool
    verdict: VerdictJson | None
    citations: list[CitationJson]
    nearest: EvidenceJson | None


class SentenceJson(TypedDict):
    """A sentence of the answer.  `citations` is the union over its propositions, one a passage, at most `most`."""

    text: str
    start: int
    end: int
    most: int
    citations: list[CitationJson]
    propositions: list[PropositionJson]


class SourceSentenceJson(TypedDict):
    start: int
    end: int
    is_heading: bool


class PageJson(TypedDict):
    number: int
    start: int
    end: int


class PassageJson(TypedDict):
    """A passage that the answer cites or nearly cited; `start` is its place in the document."""

    id: str
    document_id: str
    title: str
    text: str
    start: int
    sentences: list[SourceSentenceJson]
    pages: list[PageJson]


@with_config(ConfigDict(title="CitedAnswer"))
class AnswerJson(TypedDict):
    """An answer, its sentences, their propositions, the citations of each, and the propositions that stayed uncited."""

    schema: Literal["propcite/answer/1"]
    id: str
    question: str
    collection: str
    text: str
    abstained: bool
    coverage: float
    sentences: list[SentenceJson]
    uncited: list[str]
    passages: list[PassageJson]
    models: dict[str, str]
    timings_ms: dict[str, float]


@cache
def _adapter() -> TypeAdapter[AnswerJson]:
    return TypeAdapter(AnswerJson)


def json_schema() -> dict[str, Any]:
    return _adapter().json_schema()


def to_dict(answer: CitedAnswer) -> AnswerJson:
    passages = {e.passage.id: e.passage for p in answer.propositions for e in _all_evidence(p)}
    return {
        "schema": SCHEMA,
        "id": answer.id,
        "question": answer.question,
        "collection": answer.collection,
        "text": answer.text,
        "abstained": answer.abstained,
        "coverage": round(answer.coverage, 4),
        "sentences": [_sentence(s, answer.text) for s in answer.sentences],
        "uncited": [p.proposition.text for p in answer.uncited],
        "passages": [_passage(p) for p in passages.values()],
        "models": dict(answer.models),
        "timings_ms": dict(answer.timings_ms),
    }


def to_json(answer: CitedAnswer, *, indent: int | None = None) -> str:
    """Half a character (a lone surrogate), which JSON cannot hold, is written as �; every place stays where it is."""
    return _SURROGATE.sub("\ufffd", json.dumps(to_dict(answer), ensure_ascii=False, indent=indent))


def from_json(text: str) -> CitedAnswer:
    try:
        return from_dict(_adapter().validate_json(text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise AttributionError(f"this is not a cited answer ({SCHEMA}): {place}: {first['msg']}") from error


def from_dict(data: AnswerJson) -> CitedAnswer:
    try:
        passages = {p["id"]: _read_passage(p) for p in data["passages"]}
        return CitedAnswer(
            text=data["text"],
            sentences=tuple(_read_sentence(s, data["text"], passages) for s in data["sentences"]),
            question=data["question"],
            collection=data["collection"],
            abstained=data["abstained"],
            models=data["models"],
            timings_ms=data["timings_ms"],
        )
    except (KeyError, ValueError) as error:
        raise AttributionError(f"this cited answer does not fit together: {error}") from error


def _all_evidence(proposition: CitedProposition) -> list[Evidence]:
    nearest = [proposition.nearest] if proposition.nearest else []
    return [c.evidence for c in proposition.citations] + nearest


def _verdict(verdict: Verdict) -> VerdictJson:
    return {"label": verdict.label.value, "probability": verdict.probability, "reason": verdict.reason}


def _evidence(evidence: Evidence) -> EvidenceJson:
    passage, span = evidence.passage, evidence.span
    place = passage.in_document(span)
    return {
        "passage_id": passage.id,
        "document_id": passage.document_id,
        "title": passage.title,
        "quote": evidence.quote,
        "start": span.start,
        "end": span.end,
        "document_start": place.start,
        "document_end": place.end,
        "pages": list(passage.pages_of(span)),
        "score": evidence.score,
        "passage_score": evidence.passage_score,
    }


def _citation(citation: Citation) -> CitationJson:
    return {"number": citation.number, **_evidence(citation.evidence), "verdict": _verdict(citation.verdict)}


def _sentence(sentence: CitedSentence, text: str) -> SentenceJson:
    return {
        "text": sentence.span.of(text),
        "start": sentence.span.start,
        "end": sentence.span.end,
        "most": sentence.most,
        "citations": [_citation(c) for c in sentence.citations],
        "propositions": [
            {
                "text": p.proposition.text,
                "spans": [(s.start, s.end) for s in p.proposition.spans],
                "check_worthy": p.proposition.check_worthy,
                "verdict": _verdict(p.verdict) if p.verdict else None,
                "citations": [_citation(c) for c in p.citations],
                "nearest": _evidence(p.nearest) if p.nearest else None,
            }
            for p in sentence.propositions
        ],
    }


def _passage(passage: Passage) -> PassageJson:
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
    }


def _read_verdict(data: VerdictJson) -> Verdict:
    return Verdict(Label(data["label"]), data["probability"], data["reason"])


def _read_evidence(data: EvidenceJson, passages: dict[str, Passage]) -> Evidence:
    passage = passages[data["passage_id"]]
    evidence = Evidence(passage, Span(data["start"], data["end"]), data["score"], data["passage_score"])
    if evidence.quote != data["quote"]:
        raise ValueError(f"the quote {data['quote'][:60]!r} does not stand in passage {passage.id!r} where it says")
    return evidence


def _read_citation(data: CitationJson, passages: dict[str, Passage]) -> Citation:
    return Citation(data["number"], _read_evidence(data, passages), _read_verdict(data["verdict"]))


def _read_sentence(data: SentenceJson, answer: str, passages: dict[str, Passage]) -> CitedSentence:
    span = Span(data["start"], data["end"])
    if span.of(answer) != data["text"]:
        raise ValueError(f"the sentence {data['text'][:60]!r} does not stand in the answer where it says")
    return CitedSentence(span, tuple(_read_proposition(p, span, passages) for p in data["propositions"]), data["most"])


def _read_proposition(data: PropositionJson, sentence: Span, passages: dict[str, Passage]) -> CitedProposition:
    spans = tuple(Span(*span) for span in data["spans"])
    if any(span.start < sentence.start or span.end > sentence.end for span in spans):
        raise ValueError(f"the proposition {data['text'][:60]!r} leaves its sentence")
    return CitedProposition(
        Proposition(spans, data["text"], data["check_worthy"]),
        _read_verdict(data["verdict"]) if data["verdict"] else None,
        tuple(_read_citation(c, passages) for c in data["citations"]),
        _read_evidence(data["nearest"], passages) if data["nearest"] else None,
    )


def _read_passage(data: PassageJson) -> Passage:
    return Passage(
        id=data["id"],
        text=data["text"],
        title=data["title"],
        document_id=data["document_id"],
        start=data["start"],
        sentences=tuple(Sentence(Span(s["start"], s["end"]), s["is_heading"]) for s in data["sentences"]),
        pages=tuple(Page(p["number"], Span(p["start"], p["end"])) for p in data["pages"]),
    )


__all__ = ["SCHEMA", "AnswerJson", "from_dict", "from_json", "json_schema", "to_dict", "to_json"]
