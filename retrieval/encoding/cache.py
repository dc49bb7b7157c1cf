"""Keep the vectors of the texts that were encoded last, so that no text is encoded twice."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Sized

from typing_extensions import TypeVar

from propcite.retrieval.encoding.base import Floats, TextEncoder, TokenVectors
from propcite.retrieval.recent import RecentValues
from propcite.retrieval.text import Granularity, Passage

MAX_TOKENS = 32_768  # 50 MB of vectors of 384 dimensions: some thousand sentences

Vectors = TypeVar("Vectors", bound=Sized, default=TokenVectors)  # its length counts against the limit


class VectorCache(RecentValues[Hashable, Vectors]):
    """The vectors of the texts that were requested last, up to a number of tokens."""

    def __init__(self, max_tokens: int = MAX_TOKENS) -> None:
        super().__init__(max_tokens, lambda _, vectors: len(vectors))


class CachedEncoder:
    """An encoder that encodes only the texts it has not encoded lately."""

    def __init__(self, encoder: TextEncoder, max_tokens: int = MAX_TOKENS) -> None:
        self.encoder = encoder
        self._queries, self._passages = VectorCache(max_tokens), VectorCache(max_tokens)

    @property
    def name(self) -> str:
        return self.encoder.name

    @property
    def query_name(self) -> str:
        return self.encoder.query_name

    @property
    def dimension(self) -> int:
        return self.encoder.dimension

    def encode_queries(
        self, texts: Sequence[str], granularity: Granularity = Granularity.PASSAGE
    ) -> list[TokenVectors]:
        keys = [(text, granularity) for text in texts]
        return self._queries.recall(keys, texts, lambda missing: self.encoder.encode_queries(missing, granularity))

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        keys = [(p.text, p.title, tuple(s.span.start for s in p.sentences)) for p in passages]
        return self._passages.recall(keys, passages, self.encoder.encode_passages)

    def knows(self, granularity: Granularity) -> bool:
        return self.encoder.knows(granularity)

    def worths(self, query: TokenVectors) -> Floats | None:
        return self.encoder.worths(query)
