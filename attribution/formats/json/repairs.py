"""Convert a repaired answer to plain values: the state of each marker, and the answer with its citations."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from propcite.attribution.citing.repaired import MarkerCheck, Repaired
from propcite.attribution.formats.json.schema import AnswerJson, EvidenceJson, VerdictJson, schema_document
from propcite.attribution.formats.json.writing import evidence_json, to_dict, verdict_json

SCHEMA: Literal["propcite/repair/1"] = "propcite/repair/1"


class CheckJson(TypedDict):
    """One number at one sentence; `marker` is its place in the given answer, `sentence` in `answer.text`."""

    number: int
    state: Literal["kept", "dropped", "no such passage", "added"]
    marker: tuple[int, int] | None
    sentence: tuple[int, int]
    verdict: VerdictJson | None
    evidence: EvidenceJson | None


class RepairJson(TypedDict):
    """`text` is the answer with its right markers, numbered as the passages were given."""

    schema: Literal["propcite/repair/1"]
    text: str
    changed: bool
    checks: list[CheckJson]
    answer: AnswerJson


@cache
def _adapter() -> TypeAdapter[RepairJson]:
    return TypeAdapter(RepairJson)


def repair_schema() -> dict[str, Any]:
    return schema_document(SCHEMA, _adapter())


def repair_json(repaired: Repaired) -> RepairJson:
    return {
        "schema": SCHEMA,
        "text": repaired.text,
        "changed": repaired.changed,
        "checks": [_check(check) for check in repaired.checks],
        "answer": to_dict(repaired.answer),
    }


def _check(check: MarkerCheck) -> CheckJson:
    return {
        "number": check.number,
        "state": check.state.value,
        "marker": (check.marker.start, check.marker.end) if check.marker else None,
        "sentence": (check.sentence.start, check.sentence.end),
        "verdict": verdict_json(check.verdict) if check.verdict else None,
        "evidence": evidence_json(check.evidence) if check.evidence else None,
    }
