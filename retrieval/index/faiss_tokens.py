"""Nearest tokens by FAISS: an inverted file of product-quantised tokens, one a segment, trained together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from propcite.retrieval.encoding.base import Floats, Ints
from propcite.retrieval.errors import IndexFormatError, RetrievalError
from propcite.retrieval.index.container import REPAIR, Container, write_anew
from propcite.retrieval.index.faiss_device import MOST_FOUND, WORTH_IT, code_length, device
from propcite.retrieval.index.hits import Hits
from propcite.retrieval.index.pruning import Searched
from propcite.retrieval.index.ranking import Mask
from propcite.retrieval.index.segment import Segment

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


def factory(dimension: int, num_tokens: int, *, on_device: bool = False) -> str:
    """Lists as many as grow with the square root, four bits for every four numbers (every two of a short vector); on a
    device eight bits."""
    lists = int(min(MOST_LISTS, 1 << max(2, round(np.log2(4 * np.sqrt(max(num_tokens, 16)))))))
    if on_device:
        return f"IVF{lists},PQ{code_length(dimension)}"
    wanted = 4 if dimension >= 256 else 2
    together = next(size for size in (wanted, 2, 1) if dimension % size == 0)
    return f"IVF{lists},PQ{dimension // together}x4fs"


def num_sampled(dimension: int, num_tokens: int) -> int:
    """How many tokens it is trained on."""
    return SAMPLED * int(factory(dimension, num_tokens).split(",")[0].removeprefix("IVF"))


def train(sample: Floats, num_tokens: int, path: Path) -> None:
    """A trained and empty index on disk.  sample (n, d)"""
    faiss, dimension = load_faiss(), sample.shape[1]
    on_device = len(sample) >= WORTH_IT and device(faiss) is not None
    kind = factory(dimension, num_tokens, on_device=on_device)
    with moved(faiss.index_factory(dimension, kind, faiss.METRIC_INNER_PRODUCT), path) as index:
        for clustering in (index.cp, index.pq.cp):
            clustering.min_points_per_centroid = 1  # a small collection is no reason to warn
        index.train(np.ascontiguousarray(sample, dtype=np.float32))


def fill(trained: Path, segment: Segment, searched: Searched, path: Path, told: Callable[[int], None]) -> None:
    """The trained index with a segment's searched tokens, numbered as they lie; telling how many of all are done."""
    with moved(read(Container(trained)), path, searched) as index:
        for places, tokens in searched.pieces(ADDED_AT_ONCE):
            index.add(np.ascontiguousarray(floats_of(segment, tokens)))
            told(segment.num_tokens * places.stop // len(searched))


@contextmanager
def moved(index: Any, path: Path, searched: Searched | None = None) -> Iterator[Any]:
    """The index to change, on a device where there is one for its kind; written when the block ends."""
    there = device(load_faiss())
    copy = there.copy(index) if there else None
    yield index if copy is None else copy
    write(there.back(copy) if there and copy is not None else index, path, searched)


def write(index: Any, path: Path, searched: Searched | None = None) -> None:
    write_anew(path, {"faiss": load_faiss().serialize_index(index)} | (searched.arrays if searched else {}))


def read(file: Container) -> Any:
    try:
        return load_faiss().deserialize_index(file.checked("faiss"))
    except RuntimeError as error:  # what FAISS raises for bytes that are none of its own
        raise IndexFormatError(f"the index part {file.path} cannot be read by FAISS: {REPAIR}") from error


@dataclass(frozen=True)
class FaissTokens:
    """One segment's tokens in FAISS."""

    index: Any
    segment: Segment
    searched: Searched
    on_device: Any = None

    @classmethod
    def load(cls, path: Path, segment: Segment) -> FaissTokens:
        file = Container(path)
        index, searched = read(file), Searched.read(file, segment.num_tokens)
        if index.ntotal != len(searched):
            raise IndexFormatError(f"the index part {path} does not fit together: {REPAIR}")
        there = device(load_faiss())
        return cls(index, segment, searched, there.copy(index) if there else None)

    def nearest(self, query: Floats, mask: Mask, number: int) -> Hits:
        """Each query token's nearest tokens of the passages of the mask, as the product quantiser sees them."""
        probes = max(LEAST_PROBED, min(MOST_PROBED, int(PROBED * number)))
        similarities, places = self._on_device(query, mask, number, probes) or self._selected(
            query, mask, number, probes
        )
        real = places >= 0
        columns = np.broadcast_to(np.arange(len(query))[:, None], places.shape)
        hits = Hits.of(self.segment, self.searched.of(places[real]), columns[real], similarities[real])
        return hits.only(mask[hits.passages])

    def _selected(self, query: Floats, mask: Mask, number: int, probes: int) -> tuple[Floats, Ints]:
        faiss = load_faiss()
        kept = None
        if not mask.all():
            tokens = np.repeat(mask, np.diff(self.searched.before(self.segment.passage_starts)))
            kept = faiss.IDSelectorBitmap(np.packbits(tokens, bitorder="little"))
        options = faiss.IVFSearchParameters(nprobe=probes, sel=kept)
        found: tuple[Floats, Ints] = self.index.search(np.ascontiguousarray(query), number, params=options)
        return found

    def _on_device(self, query: Floats, mask: Mask, number: int, probes: int) -> tuple[Floats, Ints] | None:
        """More than are wanted where some are to be dropped; None where that is too many for a device."""
        there, share = device(load_faiss()), self.segment.tokens_within(mask) / max(1, self.segment.num_tokens)
        if there is None or self.on_device is None or number > share * MOST_FOUND:
            return None
        return there.search(self.on_device, query, int(np.ceil(number / share)), probes)
