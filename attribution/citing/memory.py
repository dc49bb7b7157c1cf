"""Texts as an encoder read them, remembered: what is asked for again is not read again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence, Sized
from threading import Lock
from typing import Generic

from typing_extensions import TypeVar

from propcite.retrieval.encoding.encoder import TokenVectors

MOST_TOKENS = 32_768  # 50 MB of vectors of 384 dimensions: some thousand sentences

Text = TypeVar("Text")
Vectors = TypeVar("Vectors", bound=Sized, default=TokenVectors)  # as long as a text has tokens that count


class Memory(Generic[Vectors]):
    """What was asked for last, as many tokens as it may hold.  Safe to share among threads."""

    def __init__(self, most_tokens: int = MOST_TOKENS) -> None:
        self._most_tokens = most_tokens
        self._kept: OrderedDict[Hashable, Vectors] = OrderedDict()
        self._num_tokens = 0
        self._lock = Lock()

    def recall(
        self, keys: Sequence[Hashable], texts: Sequence[Text], encode: Callable[[list[Text]], list[Vectors]]
    ) -> list[Vectors]:
        """The vectors of every text, by its key; those that are not known are encoded, together."""
        with self._lock:
            found = {key: self._kept[key] for key in keys if key in self._kept}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if new:
            found.update(zip(new, encode(list(new.values())), strict=True))
        with self._lock:
            for key in keys:
                self._keep(key, found[key])
            while self._num_tokens > self._most_tokens:
                self._num_tokens -= len(self._kept.popitem(last=False)[1])
        return [found[key] for key in keys]

    def _keep(self, key: Hashable, tokens: Vectors) -> None:
        if key not in self._kept:
            self._kept[key] = tokens
            self._num_tokens += len(tokens)
        self._kept.move_to_end(key)
