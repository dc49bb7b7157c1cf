"""Compare alignments: a query's candidates are retrieved once and ranked by each alignment."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from propcite.retrieval.alignment import NEAREST, Alignment, alignment_of
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.index import Index
from propcite.retrieval.index.search import DEFAULT_REFINED

# The strategies of ALIGNER's adaptation, its smooth one, and those of earlier models.
NAMES = (
    *("top-k=1", "top-k=2", "top-k=4", "top-k=6", "top-k=8"),
    *("top-p=0.5%", "top-p=1%", "top-p=1.5%", "top-p=2%"),
    *("da:k=2,eps=0.02", "exact", "first", "first-k=8"),
)
CANDIDATES = DEFAULT_REFINED  # passages that every strategy ranks: as many as a search for ten compares in full
DEPTH = 10


def strategies_of(names: Iterable[str]) -> list[Alignment]:
    """Return the alignments with these names without duplicates; the first is the default, the baseline.

    >>> [str(one) for one in strategies_of(["top-k=2", "colbert", "max"])]
    ['top-k=1', 'top-k=2']
    """
    return list(dict.fromkeys([NEAREST, *map(alignment_of, names)]))


def candidates_of(
    index: Index, encoder: Encoder, query: TokenVectors, asking_share: float = 1.0, number: int = CANDIDATES
) -> list[str]:
    """Return the ids of the passages that every strategy ranks."""
    worths = encoder.worths(query)
    hits = index.search(query.vectors, query.weights()[None], k=number, asking_share=asking_share, worths=worths)[0]
    return [hit.passage_id for hit in hits]


def rank(index: Index, query: TokenVectors, alignment: Alignment, candidates: Collection[str], k: int) -> list[str]:
    """Return the k best candidates; `xtr` searches all passages instead, because it retrieves in its own way."""
    searches = alignment.kind == "xtr"
    hits = index.search(
        query.vectors,
        query.weights()[None],
        k=k,
        allow=None if searches else candidates,
        regime="auto" if searches else "exact",
        alignment=alignment,
        words=query.ids,
    )[0]
    return [hit.passage_id for hit in hits]


def ndcg(ranking: Sequence[str], right: Collection[str], depth: int = DEPTH) -> float:
    """Return the nDCG of a ranking with binary relevance.

    >>> ndcg(["a", "b", "c"], {"b"}), ndcg(["b", "a"], {"a", "b"}), ndcg(["a"], {"z"})
    (0.6309297535714575, 1.0, 0.0)
    """
    best = sum(1 / math.log2(place + 2) for place in range(min(len(right), depth)))
    return sum(1 / math.log2(place + 2) for place, name in enumerate(ranking[:depth]) if name in right) / best
