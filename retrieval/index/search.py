"""A search through the parts of an index: candidates by the regime, then one ranking for all."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

import numpy as np

from propcite.retrieval.encoding.base import Floats, Ints
from propcite.retrieval.index import IndexHit
from propcite.retrieval.index.centroids import Centroids
from propcite.retrieval.index.coarse_codes import nearest_lists
from propcite.retrieval.index.codec import Asked, Codec, int_products
from propcite.retrieval.index.hits import Hits, Imputed, cut, listed_tokens, nearest_tokens, xtr_candidates
from propcite.retrieval.index.parts import Part
from propcite.retrieval.index.ranking import Block, Mask, Ranked, Wanted, best_hits, blocks_of, blocks_picked, rank

Regime = Literal["auto", "exact", "tokens", "faiss"]

REGIMES: tuple[Regime, ...] = get_args(Regime)
EXACT_UP_TO = 100_000  # tokens that are read whole: below, looking for candidates costs more than it saves
FEW = 30_000  # tokens that a filter may leave for them to be read whole in any regime
REFINED = 400  # candidates that are read whole, a row
REFINED_PER_HIT = 8  # and as many for each hit that is wanted
RETRIEVED = 1_000  # tokens retrieved for each query token, where XTR's scores are asked for
LOOKED = 4  # times as many are compared with it, in the lists of the nearest centroids


def known_regime(regime: Regime) -> Regime:
    if regime not in REGIMES:
        raise ValueError(f"wanted a regime of {', '.join(REGIMES)}, got {regime!r}")
    return regime


@dataclass(frozen=True)
class Plan:
    """What a search is made with."""

    parts: Sequence[Part]
    codec: Codec
    centroids: Centroids | None
    asked_for: Regime
    exact_up_to: int

    @property
    def num_tokens(self) -> int:
        return sum(part.segment.num_tokens for part in self.parts)

    @cached_property
    def regime(self) -> Regime:
        """What the setting and the size come to: without its files a regime falls back to the next."""
        if self.asked_for == "faiss" and any(part.tokens for part in self.parts):
            return "faiss"
        small = self.asked_for == "auto" and self.num_tokens <= self.exact_up_to
        if self.asked_for == "exact" or small or not any(part.coded for part in self.parts):
            return "exact"
        return "tokens"


@dataclass(frozen=True)
class Search:
    """One query over the parts' passages of the masks.  `refine` candidates are read whole, None for as many as k asks
    for; 0 ranks by XTR's scores, as the alignment `xtr` does.  `missing` stands for a similarity that was not
    retrieved, None for the floor.  `asking` is the share of the query's tokens that look for candidates, by `worths`
    or weight."""

    plan: Plan
    masks: Mapping[Part, Mask]
    query: Floats
    wanted: Wanted
    refine: int | None = None
    retrieved: int = RETRIEVED
    missing: float | None = None
    asking: float = 1.0
    worths: Floats | None = None
    filtered: bool = False
    timings: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        query, wanted = self.query, self.wanted
        if query.ndim != 2 or query.shape[1] != self.plan.codec.dimension:
            raise ValueError(f"wanted query vectors of {self.plan.codec.dimension} dimensions, got shape {query.shape}")
        if not np.isfinite(query).all():
            raise ValueError("wanted query vectors of numbers, got one that is none")
        if wanted.units.ndim != 2 or wanted.units.shape[1] != len(query):
            raise ValueError(f"wanted a weight for each of {len(query)} query vectors, got shape {wanted.units.shape}")
        if wanted.passages.shape != wanted.units.shape:
            raise ValueError(f"wanted {wanted.units.shape} weights for passages too, got shape {wanted.passages.shape}")
        if self.refine is not None and self.refine < 0:
            raise ValueError(f"wanted 0 or more candidates to refine, got {self.refine}")
        if self.worths is not None and self.worths.shape != (len(query),):
            raise ValueError(f"wanted what each of {len(query)} query vectors is worth, got shape {self.worths.shape}")
        if not 0 < self.asking <= 1:
            raise ValueError(f"wanted a share of query tokens above 0 and up to 1, got {self.asking}")
        if self.retrieved < 1:
            raise ValueError(f"wanted 1 or more tokens to be retrieved, got {self.retrieved}")

    def hits(self, k: int) -> list[list[IndexHit]]:
        """The k best units of each row, best first."""
        with one_thread():
            ranked, further = self._ranked(k)
            with self._timed("choose"):
                return [best_hits(ranked, row, k, further) for row in range(len(self.wanted.units))]

    @cached_property
    def asked(self) -> Asked:
        return self.plan.codec.ask(self.query)

    @cached_property
    def _seeking(self) -> tuple[Asked, Wanted]:
        """The query's tokens that look for candidates, and what they count."""
        if self.asking == 1:
            return self.asked, self.wanted
        columns = self.wanted.foremost(self.asking, self.worths)
        return self.asked.only(columns), self.wanted.only(columns)

    @property
    def _retrieved(self) -> int:
        """Tokens that each of them retrieves."""
        return self.wanted.alignment.k if self.wanted.alignment.kind == "xtr" else self.retrieved

    @cached_property
    def _parts(self) -> list[tuple[Part, Mask]]:
        return [(part, mask) for part, mask in self.masks.items() if mask.any()]

    def _ranked(self, k: int) -> tuple[list[Ranked], list[dict[str, Floats]]]:
        number = max(REFINED, REFINED_PER_HIT * k) if self.refine is None else self.refine
        if self.wanted.alignment.kind == "xtr":
            number = 0
        regime = self.plan.regime
        if number and (regime == "exact" or self._few):
            with self._timed("rank"):
                blocks = [(part, b) for part, mask in self._parts for b in blocks_of(part.segment, mask)]
                return [rank(b, self.asked, self.wanted, self.masks[part]) for part, b in blocks], []
        if number and regime == "tokens":
            with self._timed("candidates"):
                chosen = self._coarsely(number)
            return self._read_whole(chosen), []
        return self._by_xtr(number)

    @cached_property
    def _few(self) -> bool:
        """Whether a filter leaves so little that reading it is cheaper than looking for candidates."""
        return self.filtered and sum(part.segment.tokens_within(mask) for part, mask in self._parts) <= FEW

    def _coarsely(self, number: int) -> list[Ints]:
        """Candidates; a part without codes is read whole."""
        from propcite.retrieval.index.coarse import CentroidTable, candidates

        assert self.plan.centroids is not None
        table = CentroidTable.of(self.plan.centroids, *self._seeking)
        coded = [(part.coded, mask) for part, mask in self._parts if part.coded]
        found = iter(candidates(table, coded, number))
        return [next(found) if part.coded else np.flatnonzero(mask) for part, mask in self._parts]

    def _read_whole(self, chosen: Sequence[Ints]) -> list[Ranked]:
        with self._timed("rank"):
            return [
                rank(block, self.asked, self.wanted, mask, compiled=True)
                for (part, mask), passages in zip(self._parts, chosen, strict=True)
                for block in blocks_picked(part.segment, passages)
            ]

    def _by_xtr(self, number: int) -> tuple[list[Ranked], list[dict[str, Floats]]]:
        asked, wanted = self._seeking
        with self._timed("retrieve"):
            found, floors = cut([self._retrieve(*one) for one in self._parts], len(asked.rows), self._retrieved)
            parts = [Imputed(part.segment, hits, floors) for (part, _), hits in zip(self._parts, found, strict=True)]
            bounding = parts
            if self.missing is not None:
                parts = [part.missing(self.missing) for part in parts]
        with self._timed("candidates"):
            chosen = xtr_candidates(parts, wanted, number) if number else [part.passages for part in parts]
        read = self._read_whole(chosen) if number else None
        with self._timed("impute"):
            by_xtr = self._imputed(parts, chosen)
            bounds = by_xtr if bounding is parts else self._imputed(bounding, chosen)
            lengths = [len(ranked.scores) for ranked in read or by_xtr]
            most = self.wanted.most() - wanted.most()  # that the tokens which did not look can add
            further = [
                {"xtr": x, "bound": b + most}
                for x, b in zip(*(_cut(r, lengths) for r in (by_xtr, bounds)), strict=True)
            ]
        return read or by_xtr, further

    def _imputed(self, parts: Sequence[Imputed], chosen: Sequence[Ints]) -> list[Ranked]:
        """XTR's scores of the chosen passages, one block a part: no vector is read."""
        return [
            part.scored(Block(part.segment, passages, together=False), self._seeking[1], mask)
            for part, passages, (_, mask) in zip(parts, chosen, self._parts, strict=True)
            if len(passages)
        ]

    def _retrieve(self, part: Part, mask: Mask) -> Hits:
        asked, number = self._seeking[0], self._retrieved
        if self._few:
            return nearest_tokens(part.segment, mask, asked, number)
        if self.plan.regime == "faiss" and part.tokens:
            return part.tokens.nearest(asked.vectors, mask, number)
        if self.plan.regime == "tokens" and part.coded and self.plan.centroids:
            return listed_tokens(part.coded, mask, self._near, asked)
        return nearest_tokens(part.segment, mask, asked, number)

    @cached_property
    def _near(self) -> list[Ints]:
        """For each query token the centroids in whose lists its nearest tokens are looked for."""
        assert self.plan.centroids is not None
        coded = [(part.coded, mask) for part, mask in self._parts if part.coded]
        products = int_products(self._seeking[0].rows, self.plan.centroids.rows)
        return nearest_lists(products, coded, LOOKED * self._retrieved)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.timings[stage] = self.timings.get(stage, 0.0) + 1000 * (time.perf_counter() - start)


def _cut(ranked: Sequence[Ranked], lengths: Sequence[int]) -> list[Floats]:
    """The scores of all, in runs of these lengths."""
    scores = np.concatenate([r.scores for r in ranked]) if ranked else np.zeros((0, 1), np.float32)
    return np.split(scores, np.cumsum(lengths)[:-1]) if lengths else []


def one_thread() -> AbstractContextManager[Any]:
    """No parallel region within a query: queries run beside each other, and waiting threads would only burn time."""
    limited: AbstractContextManager[Any] = _openmp().limit(limits=1)
    return limited


@lru_cache(maxsize=1)
def _openmp() -> Any:
    import torch  # noqa: F401 - its libraries must be there to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="openmp")
