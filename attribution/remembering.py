"""An encoder with a memory: while one answer is cited, no text is read twice."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar, cast

from attribution.propcite import PropCite
from retrieval.encoder import Encoder, TokenVectors
from retrieval.retriever import Retriever
from retrieval.text import Granularity, Passage

MOST_KEPT = 512  # texts of a kind: the sentences of 50 passages, or the claims of a few pages

Text = TypeVar("Text")
Given = TypeVar("Given")


class RememberingEncoder:
    """Stands in for an encoder: what it read last it knows, and only what is new is encoded, together."""

    def __init__(self, encoder: Encoder, most_kept: int = MOST_KEPT) -> None:
        self.stands_for = encoder
        self._most_kept = most_kept
        self._queries: OrderedDict[Hashable, TokenVectors] = OrderedDict()
        self._passages: OrderedDict[Hashable, TokenVectors] = OrderedDict()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stands_for, name)

    def encode_queries(
        self, texts: Sequence[str], granularity: Granularity = Granularity.PASSAGE
    ) -> list[TokenVectors]:
        keys = [(text, granularity) for text in texts]
        return self._known(self._queries, keys, texts, lambda new: self.stands_for.encode_queries(new, granularity))

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        keys = [(p.text, p.title, tuple(s.span.start for s in p.sentences)) for p in passages]
        return self._known(self._passages, keys, passages, self.stands_for.encode_passages)

    def _known(
        self,
        kept: OrderedDict[Hashable, TokenVectors],
        keys: Sequence[Hashable],
        texts: Sequence[Text],
        encode: Callable[[list[Text]], list[TokenVectors]],
    ) -> list[TokenVectors]:
        """What was asked for is kept as long as it is among the last."""
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in kept}
        read = dict(zip(new, encode(list(new.values())) if new else [], strict=True))
        found = [read[key] if key in read else kept[key] for key in keys]
        for key, tokens in zip(keys, found, strict=True):
            kept[key] = tokens
            kept.move_to_end(key)
        while len(kept) > self._most_kept:
            kept.popitem(last=False)
        return found


def asking_with(propcite: PropCite, source: Given) -> Given:
    """A collection asked with PropCite's memory, where this stands for the encoder it has; anything else as it is."""
    memory: Any = propcite.encoder
    if isinstance(source, Retriever) and isinstance(memory, RememberingEncoder) and memory.stands_for is source.encoder:
        return cast(Given, replace(source, encoder=propcite.encoder))
    return source


def remembering(propcite: PropCite, most_kept: int = MOST_KEPT) -> PropCite:
    """The same parts with a memory of their own, for one answer or one batch; one thread may use it at a time."""
    if isinstance(propcite.encoder, RememberingEncoder):
        return propcite
    encoder = cast(Encoder, RememberingEncoder(propcite.encoder, most_kept))
    judge: Any = propcite.judge
    if getattr(judge, "encoder", None) is propcite.encoder:
        judge = copy(judge)
        judge.encoder = encoder
    other = copy(propcite)
    other.encoder, other.judge = encoder, judge
    other.decider = replace(propcite.decider, judge=judge)
    return other
