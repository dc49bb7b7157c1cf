"""Any part of a query against any part of a passage, each read once and whole, so in its context."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.encoding.base import Floats, TextEncoder
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.granularity import score_units, span_weights
from propcite.retrieval.text import Granularity, Passage, Span

Pieces = Sequence[Sequence[Span]]  # each one or more places in one text


def score_spans(
    encoder: TextEncoder,
    query: str,
    pieces: Pieces,
    passage: Passage,
    units: Pieces,
    granularity: Granularity = Granularity.PROPOSITION,
    alignment: Alignment = NEAREST,
) -> Floats:
    """Each piece of the query with its own words' vectors against each unit of the passage.  -> (pieces, units)

    What holds no word scores -inf.
    """
    _check(pieces, query, "query")
    _check(units, passage.text, "passage")
    asked = encoder.encode_queries([query], granularity)[0]
    tokens = encoder.encode_passages([passage])[0]
    scores = np.full((len(pieces), len(units)), -np.inf, dtype=np.float32)
    for number, (spans, weights) in enumerate(zip(pieces, span_weights(asked, pieces), strict=True)):
        if asked.within(spans).any():
            scores[number] = score_units(asked.vectors, weights, tokens, units, alignment, asked.ids)
    return scores


def _check(pieces: Pieces, text: str, where: str) -> None:
    for span in (span for spans in pieces for span in spans):
        if not 0 <= span.start < span.end <= len(text):
            raise RetrievalError(f"the {where} has no characters {span.start} to {span.end}: it has {len(text)}")
