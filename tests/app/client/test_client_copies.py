"""Hits whose words stand in several documents: what the server writes is what the client reads."""

from __future__ import annotations

import json
from dataclasses import replace

from propcite.app.client.calls import Calls
from propcite.attribution.formats.json.hits import hit_json
from propcite.attribution.formats.json.native import passages_json
from propcite.retrieval.text import Granularity, Hit, Passage, Span

WORDS = "The barrier has fourteen gates."
MINUTES = Passage("m1", f"It rained. {WORDS}", "Minutes", "d1")
LEAFLET = Passage("l1", WORDS, "Leaflet", "d2")


def test_a_hit_keeps_its_copies() -> None:
    copy = Hit(LEAFLET, Granularity.SENTENCE, (Span(0, len(WORDS)),), 0.9, 0.8, 0.1)
    span = Span(11, 11 + len(WORDS))
    hit = replace(copy, passage=MINUTES, spans=(span,), copies=(copy,))
    sent = {"hits": [hit_json(hit)], "passages": passages_json(place.passage for place in hit.everywhere)}
    call = Calls(None).search("gates", Granularity.SENTENCE, 1, None, (), ())
    assert call.read(json.dumps(sent)) == [hit]
