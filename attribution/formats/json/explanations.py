"""Convert an explanation to plain values: words, their weights, and what each pair contributes to the score."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from propcite.attribution.citing.explaining import Explained
from propcite.attribution.formats.explanations.text import summary_line
from propcite.attribution.formats.json.native import native_evidence
from propcite.attribution.formats.json.schema import EvidenceJson, VerdictJson, schema_document
from propcite.attribution.formats.json.writing import verdict_json
from propcite.attribution.formats.offsets import Offsets, Unit
from propcite.retrieval.explanation import Word

SCHEMA: Literal["propcite/explanation/1"] = "propcite/explanation/1"


class WordJson(TypedDict):
    """A word: `start` and `end` are null for what is no character of the text, as a title; `weight` is its share."""

    text: str
    start: int | None
    end: int | None
    weight: float | None


class FactJson(TypedDict):
    number: int
    id: str
    text: str
    verdict: VerdictJson | None


class QueryJson(TypedDict):
    """What was read of the answer, where it begins there (null: the fact was read by itself), and the fact's words.

    `nearness` says how near each word came to what counted for it.
    """

    text: str
    start: int | None
    words: list[WordJson]
    nearness: list[float]


class UnitJson(TypedDict):
    """What of the passage was compared; places lie in the passage."""

    text: str
    spans: list[tuple[int, int]]
    words: list[WordJson]


class ExplanationJson(TypedDict):
    """Why a fact's evidence was found; `citation` is its marker, null for a near miss.

    `contributions` has a row for each word of the query and a column for each of the source; it adds up to
    `unit_score`, and `score` = (1 - `passage_share`) * `unit_score` + `passage_share` * `passage_score`.
    `similarities` are those of the nearest pieces of two words, whether the pair counts or not.
    """

    schema: Literal["propcite/explanation/1"]
    answer: str
    fact: FactJson
    citation: int | None
    evidence: EvidenceJson
    granularity: Literal["passage", "sentence", "proposition"]
    alignment: str
    summary: str
    query: QueryJson
    source: UnitJson
    contributions: list[list[float]]
    similarities: list[list[float]]
    score: float
    unit_score: float
    passage_score: float
    passage_share: float


@cache
def _adapter() -> TypeAdapter[ExplanationJson]:
    return TypeAdapter(ExplanationJson)


def explanation_schema() -> dict[str, Any]:
    return schema_document(SCHEMA, _adapter())


def explanation_json(explained: Explained, unit: Unit = Unit.CODE_POINTS) -> ExplanationJson:
    fact, explanation = explained.fact, explained.explanation
    in_answer, in_query = Offsets(explained.answer.text, unit), Offsets(explained.text, unit)
    in_passage = Offsets(explained.evidence.passage.text, unit)
    return {
        "schema": SCHEMA,
        "answer": explained.answer.id,
        "fact": {
            "number": explained.number,
            "id": fact.id,
            "text": fact.proposition.text,
            "verdict": verdict_json(fact.verdict) if fact.verdict else None,
        },
        "citation": explained.citation.number if explained.citation else None,
        "evidence": native_evidence(explained.evidence, unit),
        "granularity": explanation.granularity.value,
        "alignment": str(explanation.alignment),
        "summary": summary_line(explanation),
        "query": {
            "text": explained.text,
            "start": None if explained.start is None else in_answer.of(explained.start),
            "words": [_word(word, in_query) for word in explanation.query],
            "nearness": explanation.nearness.tolist(),
        },
        "source": {
            "text": explained.unit_text,
            "spans": [in_passage.pair(span) for span in explained.unit],
            "words": [_word(word, in_passage) for word in explanation.source],
        },
        "contributions": explanation.contributions.tolist(),
        "similarities": explanation.similarities.tolist(),
        "score": explanation.score,
        "unit_score": explanation.unit_score,
        "passage_score": explanation.passage_score,
        "passage_share": explanation.passage_share,
    }


def _word(word: Word, offsets: Offsets) -> WordJson:
    start, end = offsets.pair(word.span) if word.span else (None, None)
    return {"text": word.text, "start": start, "end": end, "weight": word.weight}
