"""FAISS with a CUDA device and without: what a device would make is searched here too, and where none is it is told."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from index_samples import Samples, recall

from propcite.retrieval.index import faiss_device, faiss_tokens
from propcite.retrieval.index.codec import Codec
from propcite.retrieval.index.container import Container
from propcite.retrieval.index.faiss_device import CODE_LENGTHS, code_length, device
from propcite.retrieval.index.faiss_tokens import FaissTokens
from propcite.retrieval.index.token_index import TokenIndex

faiss = pytest.importorskip("faiss")
ON_DEVICE = device(faiss) is not None


@pytest.mark.parametrize("dimension", [1, 7, 8, 30, 32, 100, 128, 384, 768, 1000, 1024])
def test_codes_have_a_length_that_a_device_reads(dimension: int) -> None:
    length = code_length(dimension)
    assert length in CODE_LENGTHS
    assert dimension % length == 0
    assert faiss_tokens.factory(dimension, 10**6, on_device=True) == f"IVF4096,PQ{length}"


def test_without_a_device_the_cpu_has_its_own_kind(tmp_path: Path) -> None:
    sample = np.random.default_rng(0).standard_normal((300, 16)).astype(np.float32)
    faiss_tokens.train(sample, 300, tmp_path / "trained")
    assert isinstance(faiss_tokens.read(Container(tmp_path / "trained")), faiss.IndexIVFPQFastScan)


def test_what_a_device_made_is_searched_without_one(tmp_path: Path) -> None:
    """Deleted and filtered passages stay out of it."""
    samples = Samples()
    vectors = samples.vectors(120)
    index = TokenIndex(32, "made-up", regime="faiss")
    samples.add(index, vectors)
    index.save(tmp_path)
    segment = index._held.parts[0].segment
    floats = faiss_tokens.floats_of(segment, slice(None))
    other = faiss.index_factory(32, faiss_tokens.factory(32, len(floats), on_device=True), faiss.METRIC_INNER_PRODUCT)
    other.do_polysemous_training = False  # a device does without
    other.train(floats)
    faiss_tokens.write(other, tmp_path / "trained")
    searched = segment.searched(1, "coverage")
    faiss_tokens.fill(tmp_path / "trained", segment, searched, tmp_path / "filled", lambda _: None)
    assert isinstance(faiss_tokens.read(Container(tmp_path / "filled")), faiss.IndexIVFPQ)
    index._held.parts[0].tokens = FaissTokens.load(tmp_path / "filled", segment)
    queries, weights = samples.queries(vectors, 20), np.ones((1, 8), np.float32)
    allow = {f"p{number}" for number in range(120) if number % 3}
    index.delete(["p1", "p2"])
    found, wanted = (
        [index.search(query, weights, k=10, regime=regime, allow=allow, refine=100)[0] for query in queries]
        for regime in ("faiss", "exact")
    )
    assert {hit.passage_id for hits in found for hit in hits} <= allow - {"p1", "p2"}
    assert recall(found, wanted) > 0.9


def test_a_build_for_devices_that_finds_none_says_so_once_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    """What the package for devices has and the CPU's has not is its name for their memory."""

    class WithoutDevice:
        StandardGpuResources = object

        @staticmethod
        def get_num_gpus() -> int:
            return 0

    found = WithoutDevice()
    with caplog.at_level(logging.WARNING):
        assert [device(found), device(found)] == [None, None]
    assert [one.getMessage() for one in caplog.records] == [
        "faiss-gpu finds no CUDA device: the index is searched on the CPU"
    ]
    faiss_device._device.cache_clear()


@pytest.mark.skipif(not ON_DEVICE, reason="no CUDA device, or faiss-cpu")
def test_a_device_finds_what_the_cpu_finds(tmp_path: Path) -> None:
    samples = Samples()
    vectors = samples.vectors(4_000)
    index = TokenIndex(32, "made-up", regime="faiss")
    samples.add(index, vectors)
    index.save(tmp_path)
    part = index._held.parts[0]
    assert part.tokens is not None
    assert part.tokens.on_device is not None
    queries, weights = samples.queries(vectors, 20), np.ones((1, 8), np.float32)
    index.delete(["p1", "p2"])
    on_device = [index.search(query, weights, k=10)[0] for query in queries]
    part.tokens = FaissTokens(part.tokens.index, part.segment, part.tokens.searched)
    assert recall(on_device, [index.search(query, weights, k=10)[0] for query in queries]) > 0.99
    assert Codec(32, 8) == part.segment.codec
