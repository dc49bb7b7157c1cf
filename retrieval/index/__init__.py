"""The token index: what it keeps and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.encoding.base import Floats, Ints, TokenVectors
from propcite.retrieval.text import Granularity, Passage

Told = Callable[[str, float], None]  # what is being made, and the share of it that is done


def nobody(what: str, share: float) -> None:
    """Is told and says nothing."""


def tell_share(told: Callable[[float], None], total: int, before: int, done: int) -> None:
    """What was done before and since, as a share of all."""
    told((before + done) / total)


@dataclass(frozen=True, slots=True)
class IndexHit:
    """A passage, or a sentence of it by number, with its score and its passage's.

    `score` is what ranked it: its MaxSim, or XTR's score where passages are not read whole.  Where query tokens
    retrieved tokens, `xtr` is XTR's score, and `bound` what MaxSim cannot exceed if they retrieved the nearest.
    """

    passage_id: str
    sentence: int | None
    score: float
    passage_score: float
    xtr: float | None = None
    bound: float | None = None


@dataclass(frozen=True, slots=True)
class IndexStats:
    """How large an index is, counted and not estimated."""

    regime: str
    encoder: str
    dimension: int
    bits: tuple[int, ...]
    passages: int
    tokens: int
    deleted: int
    segments: int
    centroids: int
    bytes: int
    searched_share: float = 1.0  # of each passage's tokens, by which candidates are looked for

    @property
    def bytes_per_token(self) -> float:
        return self.bytes / self.tokens if self.tokens else 0.0


class Index(Protocol):
    """Keeps token vectors of passages by id and ranks passages and their sentences.

    A query is a matrix of token vectors and one row of token weights for each thing to be ranked alone: the whole
    text, or a proposition of it.  All rows are answered in one pass over the vectors.  `passage_weights` are the rows
    for a passage's part of a sentence's score, where that part is asked by other tokens of the matrix.  `alignment`
    says which pairs of tokens count; `asking` is the share of the query's tokens that look for candidates, by
    their `worths` or weights.
    """

    def add(self, passages: Sequence[Passage], vectors: Sequence[TokenVectors]) -> None: ...

    def delete(self, ids: Collection[str]) -> int: ...

    def search(
        self,
        query: Floats,
        weights: Floats,
        *,
        k: int,
        granularity: Granularity = Granularity.PASSAGE,
        passage_share: float = 0.0,
        passage_weights: Floats | None = None,
        allow: Collection[str] | None = None,
        asking: float = 1.0,
        worths: Floats | None = None,
        alignment: Alignment = NEAREST,
        words: Ints | None = None,
        timings: dict[str, float] | None = None,
    ) -> list[list[IndexHit]]: ...

    def vectors(self, passage_id: str) -> TokenVectors: ...

    def ids(self) -> set[str]: ...

    def __len__(self) -> int:
        """How many passages it holds."""
        ...

    @property
    def version(self) -> str:
        """Names the passages and the encoder that read them: the same for the same, whenever they came."""
        ...

    def save(self, folder: Path) -> None: ...

    def stats(self) -> IndexStats: ...
