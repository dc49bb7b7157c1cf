"""A cited answer as PropCite's own JSON with its places counted in another unit; and back.

`offsets` names the unit.  With another than code points the schema's name says so too, so that no reader of the
published schema takes these places for its own; places in a whole document stay code points (`document_offsets`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.json import SCHEMA, from_json, to_dict
from propcite.attribution.formats.offsets import Offsets, Unit

Place = Callable[[int], int]


def to_native(answer: CitedAnswer, unit: Unit = Unit.CODE_POINTS) -> dict[str, Any]:
    written: dict[str, Any] = {**to_dict(answer)}
    if unit is Unit.CODE_POINTS:
        return written
    _recount(written, lambda text: Offsets(text, unit).of)
    named = {"schema": f"{SCHEMA};offsets={unit}", "offsets": unit.value}
    return {**named, "document_offsets": Unit.CODE_POINTS.value, **{k: v for k, v in written.items() if k != "schema"}}


def from_native(text: str) -> CitedAnswer:
    """The answer, whichever unit its places are counted in; a place inside a character is refused."""
    try:
        data = json.loads(text)
        unit = Unit(data.get("offsets", Unit.CODE_POINTS))
        if unit is not Unit.CODE_POINTS and data["schema"] == f"{SCHEMA};offsets={unit}":
            _recount(data, lambda text: Offsets(text, unit).back)
            text = json.dumps({**data, "schema": SCHEMA})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise AttributionError(f"this is not a cited answer ({SCHEMA}): {error}") from error
    return from_json(text)


def _recount(data: dict[str, Any], places: Callable[[str], Place]) -> None:
    """Every place in the answer and in its passages, in place."""
    own = places(data["text"])
    passages = {passage["id"]: places(passage["text"]) for passage in data["passages"]}
    data["uncited_spans"] = _pairs(data["uncited_spans"], own)
    for sentence in data["sentences"]:
        _ends(sentence, own)
        found = list(sentence["citations"])
        for fact in sentence["propositions"]:
            fact["spans"] = _pairs(fact["spans"], own)
            found += [*fact["citations"], *filter(None, [fact["nearest"]])]
        for evidence in found:
            _ends(evidence, passages[evidence["passage_id"]])
            _all_ends(evidence["boxes"], passages[evidence["passage_id"]])
    for passage in data["passages"]:
        parts = [*passage["sentences"], *passage["pages"], *passage["boxes"], *passage["places"]]
        _all_ends(parts, passages[passage["id"]])


def _ends(part: dict[str, Any], place: Place) -> None:
    part["start"], part["end"] = place(part["start"]), place(part["end"])


def _all_ends(parts: list[dict[str, Any]], place: Place) -> None:
    for part in parts:
        _ends(part, place)


def _pairs(spans: list[tuple[int, int]], place: Place) -> list[tuple[int, int]]:
    return [(place(start), place(end)) for start, end in spans]
