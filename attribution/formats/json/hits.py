"""Convert hits of a search, and alternatives to a fact's evidence, to plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired

from typing_extensions import TypedDict

from propcite.attribution.formats.json.schema import CopyJson, VerdictJson
from propcite.attribution.formats.json.writing import copy_json, verdict_json
from propcite.attribution.formats.links import link_of
from propcite.attribution.formats.offsets import Offsets, Unit
from propcite.retrieval.text import Hit, Span

if TYPE_CHECKING:  # a search loads no judges
    from propcite.attribution.citing.alternatives import Alternative


class HitJson(TypedDict):
    """A passage, sentence or proposition with its score; `spans` lie in its passage, `link` opens them, if any does.

    `words` is the part of the score that exact words add, null where vectors rank alone.  `copies` are other places of
    the same words; it is there where there are any.
    """

    granularity: Literal["passage", "sentence", "proposition"]
    text: str
    spans: list[tuple[int, int]]
    score: float
    passage_score: float
    words: float | None
    passage_id: str
    document_id: str
    title: str
    pages: list[int]
    places: list[str]
    link: NotRequired[str]
    copies: NotRequired[list[CopyJson]]


class AlternativeJson(HitJson):
    """A unit near a fact, with its verdict; `citation` is its marker, null if the fact does not cite it."""

    verdict: VerdictJson | None
    citation: int | None


def hit_json(hit: Hit, unit: Unit = Unit.CODE_POINTS) -> HitJson:
    passage = hit.passage
    offsets = Offsets(passage.text, unit)
    data: HitJson = {
        "granularity": hit.granularity.value,
        "text": hit.text,
        "spans": [offsets.pair(span) for span in hit.spans],
        "score": round(hit.score, 6),
        "passage_score": round(hit.passage_score, 6),
        "words": None if hit.words is None else round(hit.words, 6),
        "passage_id": passage.id,
        "document_id": passage.document_id,
        "title": passage.title,
        "pages": list(passage.pages_of(hit.spans[0])),
        "places": list(passage.places_of(hit.spans[0])),
    }
    if link := link_of(passage, Span(hit.spans[0].start, hit.spans[-1].end)):
        data["link"] = link
    if hit.copies:
        data["copies"] = [_copy(copy, unit) for copy in hit.copies]
    return data


def _copy(copy: Hit, unit: Unit) -> CopyJson:
    data = copy_json(copy.passage, Span(copy.spans[0].start, copy.spans[-1].end))
    data["start"], data["end"] = Offsets(copy.passage.text, unit).pair(Span(data["start"], data["end"]))
    return data


def alternative_json(alternative: Alternative, unit: Unit = Unit.CODE_POINTS) -> AlternativeJson:
    verdict, number = verdict_json(alternative.verdict), alternative.number or None
    return {**hit_json(alternative.hit, unit), "verdict": verdict, "citation": number}
