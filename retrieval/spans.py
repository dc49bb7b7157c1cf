"""Score parts of a query against parts of a passage, each encoded once in its whole context."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.encoding.base import Floats, TextEncoder
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.granularity import score_units, span_weights
from propcite.retrieval.text import Granularity, Passage, Span

Pieces = Sequence[Sequence[Span]]  # parts of one text, each of one or more spans


def score_spans(
    encoder: TextEncoder,
    query: str,
    pieces: Pieces,
    passage: Passage,
    units: Pieces,
    granularity: Granularity = Granularity.PROPOSITION,
    alignment: Alignment = NEAREST,
) -> Floats:
    """Score each piece of the query, by its own words' vectors, against each unit of the passage.  -> (pieces, units)

    A piece or unit without a word scores -inf.
    """
    _check(pieces, query, "query")
    _check(units, passage.text, "passage")
    query_tokens = encoder.encode_queries([query], granularity)[0]
    tokens = encoder.encode_passages([passage])[0]
    scores = np.full((len(pieces), len(units)), -np.inf, dtype=np.float32)
    for number, (spans, weights) in enumerate(zip(pieces, span_weights(query_tokens, pieces), strict=True)):
        if query_tokens.within(spans).any():
            scores[number] = score_units(query_tokens.vectors, weights, tokens, units, alignment, query_tokens.ids)
    return scores


def _check(pieces: Pieces, text: str, name: str) -> None:
    for span in (span for spans in pieces for span in spans):
        if not 0 <= span.start < span.end <= len(text):
            raise RetrievalError(f"the {name} has no characters {span.start} to {span.end}: it has {len(text)}")
