"""Convert a repaired answer to plain values: the state of each marker, and the answer with its citations."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from propcite.attribution.citing.repaired import MarkerCheck, Repaired
from propcite.attribution.formats.json.native import native_evidence, to_native
from propcite.attribution.formats.json.schema import AnswerJson, EvidenceJson, VerdictJson, schema_document
from propcite.attribution.formats.json.writing import verdict_json
from propcite.attribution.formats.offsets import Offsets, Unit
from propcite.retrieval.text import Span

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


def repair_json(repaired: Repaired, given: str = "", unit: Unit = Unit.CODE_POINTS) -> RepairJson:
    """Return a repaired answer; a unit other than code points needs the given one."""
    in_given, in_answer = Offsets(given, unit), Offsets(repaired.answer.text, unit)
    answer: Any = to_native(repaired.answer, unit)
    return {
        "schema": SCHEMA,
        "text": repaired.text,
        "changed": repaired.changed,
        "checks": [_check(check, in_given, in_answer) for check in repaired.checks],
        "answer": answer,
    }


def _check(check: MarkerCheck, in_given: Offsets, in_answer: Offsets) -> CheckJson:
    return {
        "number": check.number,
        "state": check.state.value,
        "marker": _pair(check.marker, in_given) if check.marker else None,
        "sentence": _pair(check.sentence, in_answer),
        "verdict": verdict_json(check.verdict) if check.verdict else None,
        "evidence": native_evidence(check.evidence, in_answer.unit) if check.evidence else None,
    }


def _pair(span: Span, offsets: Offsets) -> tuple[int, int]:
    return (span.start, span.end) if offsets.unit is Unit.CODE_POINTS else offsets.pair(span)
