"""An encoder without a model: each word's vector depends only on the word, so a search finds equal words."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import cache

import numpy as np

from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.encoding.windows import NO_CHARACTER
from propcite.retrieval.text import Granularity, Passage

DIMENSION = 24


class WordEncoder:
    name = query_name = "words@1"
    dimension = DIMENSION

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        return [_tokens(passage.text) for passage in passages]

    def encode_queries(
        self,
        texts: Sequence[str],
        granularity: Granularity = Granularity.PASSAGE,  # noqa: ARG002 - it has no markers
    ) -> list[TokenVectors]:
        return [_tokens(text) for text in texts]

    def worths(self, query: TokenVectors) -> Floats | None:
        return query.salience

    def knows(self, granularity: Granularity) -> bool:
        return granularity == Granularity.PASSAGE

    def missing_marker_note(self, granularity: Granularity) -> str:
        return "" if self.knows(granularity) else f"{self.name} has no marker for {granularity}s"


def _tokens(text: str) -> TokenVectors:
    """Encode the words of a text after one [CLS] token, so that a text without words has a token too."""
    words = list(re.finditer(r"\w+", text))
    vectors = [_vector("[CLS]"), *(_vector(word.group().lower()) for word in words)]
    offsets = [(NO_CHARACTER, NO_CHARACTER), *(word.span() for word in words)]
    return TokenVectors(np.stack(vectors), np.asarray(offsets, dtype=np.int32))


@cache
def _vector(word: str) -> Floats:
    vector = np.random.default_rng(zlib.crc32(word.encode())).normal(size=DIMENSION)
    return (vector / np.linalg.norm(vector)).astype(np.float32)
