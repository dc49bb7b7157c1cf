"""Write and read PropCite's own JSON with offsets in another unit.

`offsets` names the unit.  If it is not code points, the schema's name says so too, so that a reader of the published
schema does not misread these offsets.  Offsets in whole documents stay code points (`document_offsets`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from propcite.attribution.citations import CitedAnswer, Evidence
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.json import SCHEMA, from_json, to_dict
from propcite.attribution.formats.json.schema import EvidenceJson, PassageJson
from propcite.attribution.formats.json.writing import evidence_json, passage_json
from propcite.attribution.formats.offsets import Offsets, Unit
from propcite.retrieval.text import Passage

Convert = Callable[[int], int]


def to_native(answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS) -> dict[str, Any]:
    data: dict[str, Any] = {**to_dict(answer)}
    if unit is Unit.CODE_POINTS:
        return data
    _convert_offsets(data, lambda text: Offsets(text, unit).of)
    first = {"schema": f"{SCHEMA};offsets={unit}", "offsets": unit.value}
    return {**first, "document_offsets": Unit.CODE_POINTS.value, **{k: v for k, v in data.items() if k != "schema"}}


def native_evidence(evidence: Evidence, unit: Unit) -> EvidenceJson:
    """Return evidence with offsets in a unit; its place in the document counts code points."""
    data = evidence_json(evidence)
    if unit is not Unit.CODE_POINTS:
        boxes: list[Any] = list(data["boxes"])
        converted: dict[str, Any] = {**data}
        _convert(Offsets(evidence.passage.text, unit).of, converted, *boxes)
        data["start"], data["end"] = converted["start"], converted["end"]
        for copy, own in zip(evidence.copies, data.get("copies", []), strict=True):
            own["start"], own["end"] = Offsets(copy.passage.text, unit).pair(copy.span)
    return data


def passages_json(passages: Iterable[Passage], unit: Unit = Unit.CODE_POINTS) -> list[PassageJson]:
    """Return passages, each once, with offsets in a unit; `start` in the document counts code points."""
    found = [passage_json(passage) for passage in {passage.id: passage for passage in passages}.values()]
    if unit is not Unit.CODE_POINTS:
        for passage in found:
            _convert_passage(Offsets(passage["text"], unit).of, passage)
    return found


def from_native(text: str) -> CitedAnswer:
    """Read an answer with offsets in any unit; raise AttributionError for an offset inside a character."""
    try:
        data = json.loads(text)
        unit = Unit(data.get("offsets", Unit.CODE_POINTS))
        if unit is not Unit.CODE_POINTS and data["schema"] == f"{SCHEMA};offsets={unit}":
            _convert_offsets(data, lambda text: Offsets(text, unit).back)
            text = json.dumps({**data, "schema": SCHEMA})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise AttributionError(f"this is not a cited answer ({SCHEMA}): {error}") from error
    return from_json(text)


def _convert_offsets(data: dict[str, Any], converter: Callable[[str], Convert]) -> None:
    """Convert every offset in the answer and in its passages, in place; `converter` makes the function for a text."""
    in_answer = converter(data["text"])
    in_passage = {passage["id"]: converter(passage["text"]) for passage in data["passages"]}
    data["uncited_spans"] = _pairs(data["uncited_spans"], in_answer)
    _convert(in_answer, *(part for part in data["parts"] if part["start"] is not None))
    for sentence in data["sentences"]:
        _convert(in_answer, sentence)
        all_evidence = list(sentence["citations"])
        for proposition in sentence["propositions"]:
            proposition["spans"] = _pairs(proposition["spans"], in_answer)
            all_evidence += [*proposition["citations"], *filter(None, [proposition["nearest"]])]
        for evidence in all_evidence:
            _convert(in_passage[evidence["passage_id"]], evidence, *evidence["boxes"])
            for copy in evidence.get("copies", []):
                _convert(in_passage[copy["passage_id"]], copy)
    for passage in data["passages"]:
        _convert_passage(in_passage[passage["id"]], passage)


def _convert_passage(convert: Convert, passage: Mapping[str, Any]) -> None:
    _convert(convert, *passage["sentences"], *passage["pages"], *passage["boxes"], *passage["places"])


def _convert(convert: Convert, *parts: dict[str, Any]) -> None:
    for part in parts:
        part["start"], part["end"] = convert(part["start"]), convert(part["end"])


def _pairs(spans: list[tuple[int, int]], convert: Convert) -> list[tuple[int, int]]:
    return [(convert(start), convert(end)) for start, end in spans]
