"""What else comes near a fact, as plain values."""

from __future__ import annotations

from propcite.attribution.citing.alternatives import Alternative
from propcite.attribution.formats.json.hits import HitJson, hit_json
from propcite.attribution.formats.json.schema import VerdictJson
from propcite.attribution.formats.json.writing import verdict_json


class AlternativeJson(HitJson):
    """`citation` is the marker of the citation that it is, null for what the fact does not cite."""

    verdict: VerdictJson | None
    citation: int | None


def alternative_json(found: Alternative) -> AlternativeJson:
    return {**hit_json(found.hit), "verdict": verdict_json(found.verdict), "citation": found.number or None}
