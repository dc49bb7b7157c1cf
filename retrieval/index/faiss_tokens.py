"""Nearest tokens by FAISS: an inverted file of product-quantised tokens, one a segment, trained together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.encoder import Floats
from retrieval.errors import IndexFormatError, RetrievalError
from retrieval.granularity import Ints
from retrieval.index.container import REPAIR, Container, write_arrays
from retrieval.index.hits import Hits
from retrieval.index.ranking import Mask
from retrieval.index.segment import Segment

MOST_LISTS = 1 << 15
LEAST = 16  # tokens, without which no product quantiser of four bits can be trained
SAMPLED = 40  # tokens a list is trained on
PROBED = 0.032  # lists for each retrieved token
LEAST_PROBED, MOST_PROBED = 8, 64
ADDED_AT_ONCE = 1 << 16


def load_faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise RetrievalError("the index regime faiss needs FAISS: pip install 'propcite[faiss]'") from error
    return faiss


def floats_of(segment: Segment, tokens: slice | Ints) -> Floats:
    """Tokens as FAISS takes them."""
    return segment.codec.decode(segment.payload[tokens], segment.scales[tokens])


def factory(dimension: int, num_tokens: int) -> str:
    """Lists as many as grow with the square root, four bits for every four numbers (every two of a short vector)."""
    lists = int(min(MOST_LISTS, 1 << max(2, round(np.log2(4 * np.sqrt(max(num_tokens, 16)))))))
    wanted = 4 if dimension >= 256 else 2
    together = next(size for size in (wanted, 2, 1) if dimension % size == 0)
    return f"IVF{lists},PQ{dimension // together}x4fs"


def num_sampled(dimension: int, num_tokens: int) -> int:
    """How many tokens it is trained on."""
    return SAMPLED * int(factory(dimension, num_tokens).split(",")[0].removeprefix("IVF"))


def train(sample: Floats, num_tokens: int, path: Path) -> None:
    """A trained and empty index on disk.  sample (n, d)"""
    faiss = load_faiss()
    index = faiss.index_factory(sample.shape[1], factory(sample.shape[1], num_tokens), faiss.METRIC_INNER_PRODUCT)
    for clustering in (index.cp, index.pq.cp):
        clustering.min_points_per_centroid = 1  # a small collection is no reason to warn
    index.train(np.ascontiguousarray(sample, dtype=np.float32))
    write(index, path)


def fill(trained: Path, segment: Segment, path: Path, told: Callable[[int], None]) -> None:
    """The trained index with a segment's tokens, numbered as they lie; telling how many are done."""
    index = read(trained)
    for first in range(0, segment.num_tokens, ADDED_AT_ONCE):
        index.add(np.ascontiguousarray(floats_of(segment, slice(first, first + ADDED_AT_ONCE))))
        told(index.ntotal)
    write(index, path)


def write(index: Any, path: Path) -> None:
    write_arrays(path, {"faiss": load_faiss().serialize_index(index)})


def read(path: Path) -> Any:
    try:
        return load_faiss().deserialize_index(Container(path).checked("faiss"))
    except RuntimeError as error:  # what FAISS raises for bytes that are none of its own
        raise IndexFormatError(f"the index part {path} cannot be read by FAISS: {REPAIR}") from error


@dataclass(frozen=True)
class FaissTokens:
    """One segment's tokens in FAISS."""

    index: Any
    segment: Segment

    @classmethod
    def load(cls, path: Path, segment: Segment) -> FaissTokens:
        index = read(path)
        if index.ntotal != segment.num_tokens:
            raise IndexFormatError(f"the index part {path} does not fit together: {REPAIR}")
        return cls(index, segment)

    def nearest(self, query: Floats, mask: Mask, number: int) -> Hits:
        """Each query token's nearest tokens of the passages of the mask, as the product quantiser sees them."""
        faiss = load_faiss()
        kept = None
        if not mask.all():
            tokens = np.repeat(mask, np.diff(self.segment.passage_starts))
            kept = faiss.IDSelectorBitmap(np.packbits(tokens, bitorder="little"))
        probes = max(LEAST_PROBED, min(MOST_PROBED, int(PROBED * number)))
        found = faiss.IVFSearchParameters(nprobe=probes, sel=kept)
        similarities, places = self.index.search(np.ascontiguousarray(query), number, params=found)
        real = places >= 0
        columns = np.broadcast_to(np.arange(len(query))[:, None], places.shape)
        return Hits.of(self.segment, places[real], columns[real], similarities[real])
