"""Nearest tokens by FAISS: one inverted file of product-quantised tokens per segment, with a common training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from propcite.retrieval.encoding.base import Floats, Ints, Mask
from propcite.retrieval.errors import IndexFormatError, RetrievalError
from propcite.retrieval.extras import install_command
from propcite.retrieval.index.container import REPAIR, Container, replace_arrays
from propcite.retrieval.index.faiss_device import MAX_RETRIEVED, MIN_SAMPLE, code_length, cuda_device
from propcite.retrieval.index.pruning import SearchedTokens
from propcite.retrieval.index.segment import Segment
from propcite.retrieval.index.xtr import TokenMatches

MAX_LISTS = 1 << 15
MIN_TOKENS = 16  # fewer cannot train a 4-bit product quantiser
TOKENS_PER_LIST = 40  # in the training sample
PROBES_PER_TOKEN = 0.032  # lists probed per token to retrieve
MIN_PROBES, MAX_PROBES = 8, 64
BATCH_TOKENS = 1 << 16  # tokens added at once
MAX_READ = 1 << 16  # tokens read exactly where FAISS returns too few


def load_faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise RetrievalError(f"the index regime faiss needs FAISS: {install_command('faiss')}") from error
    return faiss


def decoded_tokens(segment: Segment, tokens: slice | Ints) -> Floats:
    return segment.codec.decode(segment.payload[tokens], segment.scales[tokens])


def index_factory(dimension: int, num_tokens: int, *, on_device: bool = False) -> str:
    """Return FAISS's description of an index.

    The number of lists grows with the square root of the tokens.  A code has 4 bits per four dimensions, or per two
    dimensions of a short vector; on a device 8 bits.
    """
    lists = int(min(MAX_LISTS, 1 << max(2, round(np.log2(4 * np.sqrt(max(num_tokens, 16)))))))
    if on_device:
        return f"IVF{lists},PQ{code_length(dimension)}"
    preferred = 4 if dimension >= 256 else 2
    together = next(size for size in (preferred, 2, 1) if dimension % size == 0)
    return f"IVF{lists},PQ{dimension // together}x4fs"


def sample_size(dimension: int, num_tokens: int) -> int:
    """Return the number of tokens to train on."""
    return TOKENS_PER_LIST * int(index_factory(dimension, num_tokens).split(",")[0].removeprefix("IVF"))


def train(sample: Floats, num_tokens: int, path: Path) -> None:
    """Write a trained index without tokens.  sample (n, d)"""
    faiss, dimension = load_faiss(), sample.shape[1]
    on_device = len(sample) >= MIN_SAMPLE and cuda_device(faiss) is not None
    kind = index_factory(dimension, num_tokens, on_device=on_device)
    with changing(faiss.index_factory(dimension, kind, faiss.METRIC_INNER_PRODUCT), path) as index:
        for clustering in (index.cp, index.pq.cp):
            clustering.min_points_per_centroid = 1  # no warning for a small collection
        index.train(np.ascontiguousarray(sample, dtype=np.float32))


def fill(
    trained: Path, segment: Segment, searched: SearchedTokens, path: Path, progress: Callable[[int], None]
) -> None:
    """Write a copy of the trained index with a segment's searched tokens in order; report tokens of the segment."""
    with changing(read(Container(trained)), path, searched) as index:
        for positions, tokens in searched.batches(BATCH_TOKENS):
            index.add(np.ascontiguousarray(decoded_tokens(segment, tokens)))
            progress(segment.num_tokens * positions.stop // len(searched))


@contextmanager
def changing(index: Any, path: Path, searched: SearchedTokens | None = None) -> Iterator[Any]:
    """Yield the index, or its copy on a device that supports it, and write the result at the end of the block."""
    device = cuda_device(load_faiss())
    copy = device.copy(index) if device else None
    yield index if copy is None else copy
    write(device.copy_back(copy) if device and copy is not None else index, path, searched)


def write(index: Any, path: Path, searched: SearchedTokens | None = None) -> None:
    replace_arrays(path, {"faiss": load_faiss().serialize_index(index)} | (searched.arrays if searched else {}))


def read(file: Container) -> Any:
    try:
        return load_faiss().deserialize_index(file.read("faiss"))
    except RuntimeError as error:  # what FAISS raises for foreign bytes
        raise IndexFormatError(f"FAISS cannot read the index file {file.path}: {REPAIR}") from error


@dataclass(frozen=True)
class FaissTokens:
    """The tokens of one segment in FAISS."""

    index: Any
    segment: Segment
    searched: SearchedTokens
    on_device: Any = None

    @classmethod
    def load(cls, path: Path, segment: Segment) -> FaissTokens:
        file = Container(path)
        index, searched = read(file), SearchedTokens.read(file, segment.num_tokens)
        if index.ntotal != len(searched):
            raise IndexFormatError(f"the index file {path} is inconsistent: {REPAIR}")
        device = cuda_device(load_faiss())
        return cls(index, segment, searched, device.copy(index) if device else None)

    def nearest(self, query: Floats, mask: Mask, number: int) -> TokenMatches:
        """Return the nearest tokens of each query token in the mask's passages, by their quantised similarity.

        Its 4-bit tables may leave out tokens whose similarities are equal: if FAISS returns too few of a small
        number of tokens, these are read exactly.
        """
        probes = max(MIN_PROBES, min(MAX_PROBES, int(PROBES_PER_TOKEN * number)))
        allowed = self._allowed(mask)
        num_allowed = len(self.searched) if allowed is None else int(allowed.sum())
        wanted = min(number, num_allowed)
        found = self._search_device(query, mask, number, probes) or self._search_cpu(query, allowed, number, probes)
        if num_allowed <= MAX_READ and ((found[1] >= 0).sum(axis=1) < wanted).any():
            found = self._read(query, allowed, wanted)
        similarities, positions = found
        valid = positions >= 0
        columns = np.broadcast_to(np.arange(len(query))[:, None], positions.shape)
        tokens = self.searched.tokens(positions[valid])
        matches = TokenMatches.of(self.segment, tokens, columns[valid], similarities[valid])
        return matches.only(mask[matches.passages])

    def _allowed(self, mask: Mask) -> Mask | None:
        """Return which searched tokens are of the mask's passages; None if all are."""
        if mask.all():
            return None
        return np.repeat(mask, np.diff(self.searched.num_before(self.segment.passage_starts)))

    def _search_cpu(self, query: Floats, allowed: Mask | None, number: int, probes: int) -> tuple[Floats, Ints]:
        faiss = load_faiss()
        selector = None if allowed is None else faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
        options = faiss.IVFSearchParameters(nprobe=probes, sel=selector)
        result: tuple[Floats, Ints] = self.index.search(np.ascontiguousarray(query), number, params=options)
        return result

    def _read(self, query: Floats, allowed: Mask | None, number: int) -> tuple[Floats, Ints]:
        """Return the `number` nearest of the allowed tokens by reading all of them."""
        positions = np.arange(len(self.searched)) if allowed is None else np.flatnonzero(allowed)
        similarities = query @ decoded_tokens(self.segment, self.searched.tokens(positions)).T
        order = np.argsort(-similarities, axis=1, kind="stable")[:, :number]
        return np.take_along_axis(similarities, order, 1), positions[order]

    def _search_device(self, query: Floats, mask: Mask, number: int, probes: int) -> tuple[Floats, Ints] | None:
        """Search on the device for more tokens, since some will be dropped; None if it cannot return so many."""
        device = cuda_device(load_faiss())
        share = self.segment.num_tokens_in(mask) / max(1, self.segment.num_tokens)
        if device is None or self.on_device is None or number > share * MAX_RETRIEVED:
            return None
        return device.search(self.on_device, query, int(np.ceil(number / share)), probes)
