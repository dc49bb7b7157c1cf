"""Convert a comparison of two texts to plain values and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from propcite.attribution.citations import Evidence
from propcite.attribution.citing.comparing import Relation
from propcite.attribution.errors import AttributionError
from propcite.attribution.formats.json.comparisons import RelationName
from propcite.attribution.formats.json.native import native_evidence, passages_json
from propcite.attribution.formats.json.reading import read_evidence, read_passage
from propcite.attribution.formats.json.schema import EvidenceJson, PassageJson
from propcite.attribution.formats.offsets import Offsets, Unit
from propcite.attribution.versions.records import SentencePair, TextComparison
from propcite.retrieval.text import Passage, Span


class ComparedSentenceJson(TypedDict):
    """A sentence of a side; `changed` are the places in its passage whose words the other side's sentence lacks."""

    evidence: EvidenceJson
    changed: list[tuple[int, int]]


class SentencePairJson(TypedDict):
    """A sentence of each side, or of one.

    `copy` says that both have the same words, `moved` that they stand at another place among their neighbours.
    """

    relation: RelationName
    copy: bool
    moved: bool
    left: ComparedSentenceJson | None
    right: ComparedSentenceJson | None


class TextComparisonJson(TypedDict):
    """Two texts sentence by sentence, in the order of the left one."""

    pairs: list[SentencePairJson]
    left_passages: list[PassageJson]
    right_passages: list[PassageJson]


def text_comparison_dict(comparison: TextComparison, unit: Unit = Unit.CODE_POINTS) -> TextComparisonJson:
    """Return a comparison as plain values, with offsets in a unit."""
    return {
        "pairs": [_pair(pair, unit) for pair in comparison.pairs],
        "left_passages": passages_json((pair.left.passage for pair in comparison.pairs if pair.left), unit),
        "right_passages": passages_json((pair.right.passage for pair in comparison.pairs if pair.right), unit),
    }


def read_text_comparison(text: str | bytes) -> TextComparison:
    """Read a comparison with offsets in code points; raise AttributionError if the text is none."""
    try:
        data = TypeAdapter(TextComparisonJson).validate_python(json.loads(text))
        left, right = (
            {passage["id"]: read_passage(passage) for passage in own}
            for own in (data["left_passages"], data["right_passages"])
        )
        pairs = [
            SentencePair(
                _read(pair["left"], left), _read(pair["right"], right), Relation(pair["relation"]), pair["moved"]
            )
            for pair in data["pairs"]
        ]
    except (ValueError, KeyError) as error:
        reason = error.errors(include_url=False)[0]["msg"] if isinstance(error, ValidationError) else error
        raise AttributionError(f"this is not a comparison of texts: {reason}") from error
    return TextComparison(tuple(pairs))


def _pair(pair: SentencePair, unit: Unit) -> SentencePairJson:
    left, right = (
        _sentence(sentence, spans, unit) if sentence else None
        for sentence, spans in zip((pair.left, pair.right), pair.changed, strict=True)
    )
    return {
        "relation": pair.relation.value,
        "copy": pair.is_copy,
        "moved": pair.moved,
        "left": left,
        "right": right,
    }


def _sentence(sentence: Evidence, changed: Sequence[Span], unit: Unit) -> ComparedSentenceJson:
    offsets = Offsets(sentence.passage.text, unit)
    spans = [offsets.pair(span.shifted(sentence.span.start)) for span in changed]
    return {"evidence": native_evidence(sentence, unit), "changed": spans}


def _read(data: ComparedSentenceJson | None, passages: Mapping[str, Passage]) -> Evidence | None:
    return read_evidence(data["evidence"], passages) if data else None
