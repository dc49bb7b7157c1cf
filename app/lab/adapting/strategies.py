"""Alignments beside each other: a query's candidates are found once, and ranked by each."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from propcite.retrieval.alignment import NEAREST, Alignment, alignment_of
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.index.search import REFINED
from propcite.retrieval.index.token_index import TokenIndex

NAMES = (
    *("top-k=1", "top-k=2", "top-k=4", "top-k=6", "top-k=8"),
    *("top-p=0.5%", "top-p=1%", "top-p=1.5%", "top-p=2%"),
    *("da:k=2,eps=0.02", "exact", "first", "first-k=8"),
)  # those of ALIGNER's adaptation, its smooth one, and earlier models'
CANDIDATES = REFINED  # passages that every strategy ranks: as many as a search for ten reads whole
DEPTH = 10


def strategies_of(names: Iterable[str]) -> list[Alignment]:
    """The alignments of these names, none twice; the first is what the others are compared with.

    >>> [str(one) for one in strategies_of(["top-k=2", "colbert", "max"])]
    ['top-k=1', 'top-k=2']
    """
    return list(dict.fromkeys([NEAREST, *map(alignment_of, names)]))


def candidates_of(
    index: TokenIndex, encoder: Encoder, query: TokenVectors, asking: float = 1.0, number: int = CANDIDATES
) -> list[str]:
    """The passages that every strategy ranks, by their ids."""
    worths = encoder.worths(query)
    hits = index.search(query.vectors, query.weights()[None], k=number, asking=asking, worths=worths)[0]
    return [hit.passage_id for hit in hits]


def ranked(
    index: TokenIndex, query: TokenVectors, alignment: Alignment, candidates: Collection[str], k: int
) -> list[str]:
    """The k best of the candidates; `xtr` is itself a way of finding them, so it looks at all passages."""
    finds = alignment.kind == "xtr"
    hits = index.search(
        query.vectors,
        query.weights()[None],
        k=k,
        allow=None if finds else candidates,
        regime="auto" if finds else "exact",
        alignment=alignment,
        words=query.ids,
    )[0]
    return [hit.passage_id for hit in hits]


def ndcg(ranking: Sequence[str], right: Collection[str], depth: int = DEPTH) -> float:
    """nDCG of a ranking, where each of the right ones counts alike.

    >>> ndcg(["a", "b", "c"], {"b"}), ndcg(["b", "a"], {"a", "b"}), ndcg(["a"], {"z"})
    (0.6309297535714575, 1.0, 0.0)
    """
    best = sum(1 / math.log2(place + 2) for place in range(min(len(right), depth)))
    return sum(1 / math.log2(place + 2) for place, name in enumerate(ranking[:depth]) if name in right) / best
