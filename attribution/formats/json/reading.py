"""Read a cited answer from plain values or JSON; a quote that differs from its source is an error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from propcite.attribution.citations import (
    Citation,
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Evidence,
    Label,
    Proposition,
    Verdict,
)
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.json.schema import (
    SCHEMA,
    VERSION_1,
    VERSION_2,
    VERSION_3,
    VERSION_4,
    VERSION_5,
    AnswerJson,
    BoxJson,
    CitationJson,
    CopyJson,
    EvidenceJson,
    PartJson,
    PassageJson,
    PropositionJson,
    SentenceJson,
    VerdictJson,
    answer_adapter,
)
from propcite.attribution.formats.text import is_address
from propcite.attribution.question_parts import Answered, QuestionPart
from propcite.retrieval.text import Box, Page, Passage, Place, Sentence, Span

EARLIER = (VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5)


def from_json(text: str) -> CitedAnswer:
    """Read an answer of this or an earlier version; raise AttributionError if the text is none.

    >>> from propcite import to_json
    >>> from_json(to_json(CitedAnswer("It rained."))).text
    'It rained.'
    """
    try:
        return from_dict(answer_adapter().validate_python(_upgraded(json.loads(text))))
    except (ValueError, RecursionError) as error:
        if not isinstance(error, ValidationError):
            raise AttributionError(f"this is not a cited answer ({SCHEMA}): {error}") from error
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise AttributionError(f"this is not a cited answer ({SCHEMA}): {place}: {first['msg']}") from error


def from_dict(data: AnswerJson) -> CitedAnswer:
    """Read an answer from the values of `to_dict`; raise AttributionError if its parts contradict each other.

    >>> from propcite import to_dict
    >>> from_dict(to_dict(CitedAnswer("It rained."))).text
    'It rained.'
    """
    try:
        passages = {p["id"]: read_passage(p) for p in data["passages"]}
        return CitedAnswer(
            text=data["text"],
            sentences=tuple(read_sentence(s, data["text"], passages) for s in data["sentences"]),
            question=data["question"],
            collection=data["collection"],
            abstained=data["abstained"],
            index_version=data["index_version"],
            models=data["models"],
            timings_ms=data["timings_ms"],
            incomplete=data["incomplete"],
            notes=tuple(data["notes"]),
            after=data["after"],
            understood=data["understood"],
            written_from=tuple(data["written_from"]),
            parts=tuple(_read_part(part, data["text"]) for part in data["parts"]),
        )
    except (KeyError, ValueError) as error:
        raise AttributionError(f"this cited answer is inconsistent: {error}") from error


def _upgraded(data: Any) -> Any:
    """Add to an answer of an earlier version the fields that it lacks."""
    if not isinstance(data, dict) or data.get("schema") not in EARLIER:
        return data
    first = data["schema"] == VERSION_1
    new: dict[str, Any] = {"after": "", "understood": "", "written_from": [], "answered": None, "parts": []}
    new |= {"uncited_spans": [], "index_version": ""} if first else {}
    new |= {"incomplete": False, "notes": []} if data["schema"] in (VERSION_1, VERSION_2) else {}
    parts = data if data["schema"] in (VERSION_4, VERSION_5) else _with_parts(data, first)
    return {**new, **parts, "schema": SCHEMA}


def _with_parts(value: Any, first: bool) -> Any:
    """Add the fields that its parts lack.  The first version had no evidence from elsewhere, so `shown` is true."""
    if isinstance(value, list):
        return [_with_parts(item, first) for item in value]
    if isinstance(value, dict):
        new = {"id": "", "shown": True} if first and ("quote" in value or "spans" in value) else {}
        new |= {"places": [], **({"boxes": []} if first else {})} if "pages" in value else {}
        return {**new, **{name: _with_parts(item, first) for name, item in value.items()}}
    return value


def _read_part(data: PartJson, answer: str) -> QuestionPart:
    start, end = data["start"], data["end"]
    span = None if start is None or end is None else Span(start, end)
    if span is not None:
        span.of(answer)  # it ends within the answer
    return QuestionPart(data["question"], Answered(data["answered"]), data["probability"], span)


def read_verdict(data: VerdictJson) -> Verdict:
    return Verdict(Label(data["label"]), data["probability"], data["reason"])


def read_evidence(data: EvidenceJson, passages: Mapping[str, Passage]) -> Evidence:
    scores = data["score"], data["passage_score"]
    copies = tuple(Evidence(*_place(copy, passages), *scores, data["shown"]) for copy in data.get("copies", []))
    link = data.get("link", "")
    return Evidence(*_place(data, passages), *scores, data["shown"], copies, link=link if is_address(link) else "")


def _place(data: CopyJson, passages: Mapping[str, Passage]) -> tuple[Passage, Span]:
    passage, span = passages[data["passage_id"]], Span(data["start"], data["end"])
    if span.of(passage.text) != data["quote"]:
        raise ValueError(f"the quote {data['quote'][:60]!r} is not at its place in passage {passage.id!r}")
    return passage, span


def _read_citation(data: CitationJson, passages: Mapping[str, Passage]) -> Citation:
    return Citation(data["number"], read_evidence(data, passages), read_verdict(data["verdict"]))


def read_sentence(data: SentenceJson, answer: str, passages: Mapping[str, Passage]) -> CitedSentence:
    """Read a sentence of an answer, whose passages are given by id; ValueError if its parts contradict each other."""
    span = Span(data["start"], data["end"])
    if span.of(answer) != data["text"]:
        raise ValueError(f"the sentence {data['text'][:60]!r} is not at its place in the answer")
    return CitedSentence(span, tuple(_read_proposition(p, span, passages) for p in data["propositions"]), data["most"])


def _read_proposition(data: PropositionJson, sentence: Span, passages: Mapping[str, Passage]) -> CitedProposition:
    spans = tuple(Span(*span) for span in data["spans"])
    if any(span.start < sentence.start or span.end > sentence.end for span in spans):
        raise ValueError(f"the proposition {data['text'][:60]!r} reaches beyond its sentence")
    return CitedProposition(
        Proposition(spans, data["text"], data["check_worthy"]),
        read_verdict(data["verdict"]) if data["verdict"] else None,
        tuple(_read_citation(c, passages) for c in data["citations"]),
        read_evidence(data["nearest"], passages) if data["nearest"] else None,
    )


def read_passage(data: PassageJson) -> Passage:
    return Passage(
        id=data["id"],
        text=data["text"],
        title=data["title"],
        document_id=data["document_id"],
        start=data["start"],
        sentences=tuple(Sentence(Span(s["start"], s["end"]), s["is_heading"]) for s in data["sentences"]),
        pages=tuple(Page(p["number"], Span(p["start"], p["end"])) for p in data["pages"]),
        boxes=tuple(_read_box(box) for box in data["boxes"]),
        places=tuple(Place(p["name"], Span(p["start"], p["end"])) for p in data["places"]),
    )


def _read_box(data: BoxJson) -> Box:
    span = Span(data["start"], data["end"])
    return Box(data["page"], span, data["left"], data["top"], data["right"], data["bottom"])
