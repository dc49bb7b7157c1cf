"""What a search found as plain values."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from propcite.retrieval.text import Hit


class HitJson(TypedDict):
    """A passage, sentence or proposition with its score; `spans` lie in its passage."""

    granularity: Literal["passage", "sentence", "proposition"]
    text: str
    spans: list[tuple[int, int]]
    score: float
    passage_score: float
    passage_id: str
    document_id: str
    title: str
    pages: list[int]
    places: list[str]


def hit_json(hit: Hit) -> HitJson:
    passage = hit.passage
    return {
        "granularity": hit.granularity.value,
        "text": hit.text,
        "spans": [(span.start, span.end) for span in hit.spans],
        "score": round(hit.score, 6),
        "passage_score": round(hit.passage_score, 6),
        "passage_id": passage.id,
        "document_id": passage.document_id,
        "title": passage.title,
        "pages": list(passage.pages_of(hit.spans[0])),
        "places": list(passage.places_of(hit.spans[0])),
    }
