"""Convert a comparison of two answers to plain values and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, cast

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from propcite.attribution.citations import CitedAnswer, Evidence
from propcite.attribution.citing.comparing import ComparedFact, ComparedFacts, Comparison
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.json.native import native_evidence, passages_json, to_native
from propcite.attribution.formats.json.reading import from_dict, read_evidence, read_passage, read_verdict
from propcite.attribution.formats.json.schema import AnswerJson, EvidenceJson, PassageJson, VerdictJson
from propcite.attribution.formats.json.writing import verdict_json
from propcite.attribution.formats.offsets import Unit
from propcite.retrieval.text import Passage

RelationName = Literal["agrees", "partly", "differs", "alone"]


class ComparedFactJson(TypedDict):
    """A fact of an answer: its id there, and what the other side's sources say of it, in their words."""

    id: str
    text: str
    relation: RelationName
    verdict: VerdictJson | None
    evidence: list[EvidenceJson]


class ComparedFactsJson(TypedDict):
    """What two sides say of the same; null where one side has no such fact."""

    relation: RelationName
    left: ComparedFactJson | None
    right: ComparedFactJson | None


class ComparisonJson(TypedDict):
    """Two answers to a question, and their facts side by side.

    The evidence of left facts is in `right_passages`, that of right facts in `left_passages`.
    """

    question: str
    left: AnswerJson
    right: AnswerJson
    facts: list[ComparedFactsJson]
    left_passages: list[PassageJson]
    right_passages: list[PassageJson]


def comparison_dict(comparison: Comparison, unit: Unit = Unit.CODE_POINTS) -> ComparisonJson:
    """Return a comparison as plain values, with offsets in a unit."""
    lefts = [row.left for row in comparison.rows if row.left]
    rights = [row.right for row in comparison.rows if row.right]
    return {
        "question": comparison.question,
        "left": _answer(comparison.left, unit),
        "right": _answer(comparison.right, unit),
        "facts": [
            {"relation": row.relation.value, "left": _fact(row.left, unit), "right": _fact(row.right, unit)}
            for row in comparison.rows
        ],
        "left_passages": passages_json((place.passage for fact in rights for place in _places(fact)), unit),
        "right_passages": passages_json((place.passage for fact in lefts for place in _places(fact)), unit),
    }


def read_comparison(text: str | bytes) -> Comparison:
    """Read a comparison; raise AttributionError if the text is none."""
    try:
        data = TypeAdapter(ComparisonJson).validate_python(json.loads(text))
        left, right = from_dict(data["left"]), from_dict(data["right"])
        of_left, of_right = (
            {passage["id"]: read_passage(passage) for passage in own}
            for own in (data["left_passages"], data["right_passages"])
        )
        rows = [
            ComparedFacts(_read_fact(row["left"], left, of_right), _read_fact(row["right"], right, of_left))
            for row in data["facts"]
        ]
    except (ValueError, KeyError) as error:
        reason = error.errors(include_url=False)[0]["msg"] if isinstance(error, ValidationError) else error
        raise AttributionError(f"this is not a comparison: {reason}") from error
    return Comparison(data["question"], left, right, tuple(rows))


def _answer(answer: CitedAnswer, unit: Unit) -> AnswerJson:
    return cast(AnswerJson, to_native(answer, unit))


def _fact(compared: ComparedFact | None, unit: Unit) -> ComparedFactJson | None:
    if compared is None:
        return None
    return {
        "id": compared.fact.id,
        "text": compared.fact.proposition.text,
        "relation": compared.relation.value,
        "verdict": verdict_json(compared.verdict) if compared.verdict else None,
        "evidence": [native_evidence(evidence, unit) for evidence in compared.evidence],
    }


def _read_fact(
    data: ComparedFactJson | None, answer: CitedAnswer, passages: Mapping[str, Passage]
) -> ComparedFact | None:
    if data is None:
        return None
    verdict = read_verdict(data["verdict"]) if data["verdict"] else None
    facts = {fact.id: fact for fact in answer.facts}
    return ComparedFact(
        facts[data["id"]], verdict, tuple(read_evidence(evidence, passages) for evidence in data["evidence"])
    )


def _places(compared: ComparedFact) -> list[Evidence]:
    return [place for evidence in compared.evidence for place in (evidence, *evidence.copies)]
