"""The filter that ranks: sentences of a passage, or any places in a text for any places in a query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict

from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.granularity import score_units
from propcite.retrieval.spans import score_spans
from propcite.retrieval.splitter import passage_from_sentences, passage_from_text
from propcite.retrieval.text import Granularity, Span

NO_SCORE = -1.0  # of a sentence without a word

Places = list[list[tuple[int, int]]]  # pieces of a text, each one or more places


Answer = dict[str, Any]


class RankLine(TypedDict):
    """Sentences to be ranked; or a text with places in it, for places in the query."""

    query: str
    sentences: NotRequired[list[str]]
    title: NotRequired[str]
    text: NotRequired[str]
    spans: NotRequired[Places]
    query_spans: NotRequired[Places]


def rank(encoder: Encoder, lines: Sequence[RankLine], alignment: Alignment = NEAREST) -> list[Answer]:
    """The sentences of one passage, each scored for the query from one encoding of the passage; or places in a text."""
    whole = [i for i, line in enumerate(lines) if "spans" not in line]
    told = dict(zip(whole, _rank_sentences(encoder, [lines[i] for i in whole], alignment), strict=True))
    return [told[i] if i in told else _rank_places(encoder, line, alignment) for i, line in enumerate(lines)]


def _rank_sentences(encoder: Encoder, lines: Sequence[RankLine], alignment: Alignment) -> list[Answer]:
    if any("sentences" not in line for line in lines):
        raise ValueError("sentences or spans: Field required")
    passages = [passage_from_sentences(str(i), r["sentences"], r.get("title", "")) for i, r in enumerate(lines)]
    queries = encoder.encode_queries([r["query"] for r in lines], Granularity.SENTENCE)
    answers = []
    for query, passage, tokens in zip(queries, passages, encoder.encode_passages(passages), strict=True):
        places = [(s.span,) for s in passage.sentences]
        scores = score_units(query.vectors, query.weights(), tokens, places, alignment, query.ids)
        answers.append({"scores": _finite(scores)})
    return answers


def _rank_places(encoder: Encoder, line: RankLine, alignment: Alignment) -> Answer:
    """A list of scores for each piece of the query, which is one piece where none is named."""
    query, text = line["query"], line.get("text", "")
    pieces = line.get("query_spans", [[(0, len(query))]])
    scores = score_spans(
        encoder, query, _spans(pieces), passage_from_text("", text, line.get("title", "")), _spans(line["spans"]),
        alignment=alignment,
    )  # fmt: skip
    return {"scores": [_finite(row) for row in scores]}


def _spans(places: Places) -> list[list[Span]]:
    return [[Span(start, end) for start, end in piece] for piece in places]


def _finite(scores: Iterable[float]) -> list[float]:
    return [round(float(s), 6) if math.isfinite(s) else NO_SCORE for s in scores]
