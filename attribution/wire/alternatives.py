"""What else comes near a fact, as plain values."""

from __future__ import annotations

from attribution.alternatives import Alternative
from attribution.wire.hits import HitJson, hit_json
from attribution.wire.schema import VerdictJson
from attribution.wire.writing import verdict_json


class AlternativeJson(HitJson):
    """`citation` is the marker of the citation that it is, null for what the fact does not cite."""

    verdict: VerdictJson | None
    citation: int | None


def alternative_json(found: Alternative) -> AlternativeJson:
    return {**hit_json(found.hit), "verdict": verdict_json(found.verdict), "citation": found.number or None}
