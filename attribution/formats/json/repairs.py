"""Convert a repaired answer to plain values and back: the state of each marker, and the answer with its citations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from propcite.attribution.citing.repaired import MarkerCheck, MarkerState, Repaired
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.json.native import native_evidence, to_native
from propcite.attribution.formats.json.reading import from_dict, read_evidence, read_passage, read_verdict
from propcite.attribution.formats.json.schema import AnswerJson, EvidenceJson, VerdictJson, schema_document
from propcite.attribution.formats.json.writing import verdict_json
from propcite.attribution.formats.offsets import Offsets, Unit
from propcite.retrieval.text import Passage, Span

SCHEMA: Literal["propcite/repair/1"] = "propcite/repair/1"


class CheckJson(TypedDict):
    """One number at one sentence; `marker` is its place in the given answer, `sentence` in `answer.text`."""

    number: int
    state: Literal["kept", "dropped", "no such passage", "added", "not checked"]
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


def read_repair(text: str | bytes, given: str, passages: Sequence[Passage]) -> Repaired:
    """Read a repair in code points of the given text over these passages; AttributionError if the text is none."""
    try:
        data = _adapter().validate_python(json.loads(text))
        known = {passage.id: passage for passage in passages} | {
            passage["id"]: read_passage(passage) for passage in data["answer"]["passages"]
        }
        checks = tuple(_read_check(check, known) for check in data["checks"])
        return Repaired(given, from_dict(data["answer"]), tuple(passages), checks)
    except (ValueError, KeyError) as error:
        reason = error.errors(include_url=False)[0]["msg"] if isinstance(error, ValidationError) else error
        raise AttributionError(f"this is not a repair ({SCHEMA}): {reason}") from error


def _read_check(data: CheckJson, passages: Mapping[str, Passage]) -> MarkerCheck:
    return MarkerCheck(
        number=data["number"],
        state=MarkerState(data["state"]),
        sentence=Span(*data["sentence"]),
        marker=Span(*data["marker"]) if data["marker"] else None,
        verdict=read_verdict(data["verdict"]) if data["verdict"] else None,
        evidence=read_evidence(data["evidence"], passages) if data["evidence"] else None,
    )


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
