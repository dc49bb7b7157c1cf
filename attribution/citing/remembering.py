"""An encoder with a memory: while one answer is cited, no text is read twice."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar, cast

from propcite.attribution.citing.memory import MOST_TOKENS, Memory
from propcite.attribution.propcite import PropCite
from propcite.retrieval.encoding.encoder import Encoder, TokenVectors
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Passage

Given = TypeVar("Given")


class RememberingEncoder:
    """Stands in for an encoder: what it read last it knows, and only what is new is encoded, together."""

    def __init__(self, encoder: Encoder, most_tokens: int = MOST_TOKENS) -> None:
        self.stands_for = encoder
        self._queries, self._passages = Memory(most_tokens), Memory(most_tokens)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stands_for, name)

    def encode_queries(
        self, texts: Sequence[str], granularity: Granularity = Granularity.PASSAGE
    ) -> list[TokenVectors]:
        keys = [(text, granularity) for text in texts]
        return self._queries.recall(keys, texts, lambda new: self.stands_for.encode_queries(new, granularity))

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        keys = [(p.text, p.title, tuple(s.span.start for s in p.sentences)) for p in passages]
        return self._passages.recall(keys, passages, self.stands_for.encode_passages)


def asking_with(propcite: PropCite, source: Given) -> Given:
    """A collection asked with PropCite's memory, where this stands for the encoder it has; anything else as it is."""
    memory: Any = propcite.encoder
    if isinstance(source, Retriever) and isinstance(memory, RememberingEncoder) and memory.stands_for is source.encoder:
        return cast(Given, replace(source, encoder=propcite.encoder))
    return source


def remembering(propcite: PropCite, most_tokens: int = MOST_TOKENS) -> PropCite:
    """The same parts with a memory of their own, for one answer or one batch."""
    if isinstance(propcite.encoder, RememberingEncoder):
        return propcite
    encoder = cast(Encoder, RememberingEncoder(propcite.encoder, most_tokens))
    judge: Any = propcite.judge
    if getattr(judge, "encoder", None) is propcite.encoder:
        judge = copy(judge)
        judge.encoder = encoder
    other = copy(propcite)
    other.encoder, other.judge = encoder, judge
    other.decider = replace(propcite.decider, judge=judge)
    return other
