"""Keep the vectors of the texts that were encoded last, so that no text is encoded twice."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence, Sized
from threading import Lock
from typing import Generic

from typing_extensions import TypeVar

from propcite.retrieval.encoding.base import Floats, TextEncoder, TokenVectors
from propcite.retrieval.text import Granularity, Passage

MAX_TOKENS = 32_768  # 50 MB of vectors of 384 dimensions: some thousand sentences

Text = TypeVar("Text")
Vectors = TypeVar("Vectors", bound=Sized, default=TokenVectors)  # its length counts against the limit


class VectorCache(Generic[Vectors]):
    """The vectors of the texts that were requested last, up to a number of tokens.  Threads may share it."""

    def __init__(self, max_tokens: int = MAX_TOKENS) -> None:
        self._max_tokens = max_tokens
        self._vectors: OrderedDict[Hashable, Vectors] = OrderedDict()
        self._num_tokens = 0
        self._lock = Lock()

    def recall(
        self, keys: Sequence[Hashable], texts: Sequence[Text], encode: Callable[[list[Text]], list[Vectors]]
    ) -> list[Vectors]:
        """Return the vectors of every text by its key; texts that are not in the cache are encoded in one batch."""
        with self._lock:
            vectors = {key: self._vectors[key] for key in keys if key in self._vectors}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if missing:
            vectors.update(zip(missing, encode(list(missing.values())), strict=True))
        with self._lock:
            for key in keys:
                self._put(key, vectors[key])
            while self._num_tokens > self._max_tokens:
                self._num_tokens -= len(self._vectors.popitem(last=False)[1])
        return [vectors[key] for key in keys]

    def _put(self, key: Hashable, vectors: Vectors) -> None:
        if key not in self._vectors:
            self._vectors[key] = vectors
            self._num_tokens += len(vectors)
        self._vectors.move_to_end(key)


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
