"""FAISS with and without a CUDA device: an index built on a device can be searched on the CPU."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from index_samples import Samples, recall

from propcite.retrieval.index import faiss_device, faiss_tokens
from propcite.retrieval.index.codec import Codec
from propcite.retrieval.index.container import Container
from propcite.retrieval.index.faiss_device import CODE_LENGTHS, code_length, cuda_device
from propcite.retrieval.index.faiss_tokens import FaissTokens
from propcite.retrieval.index.token_index import TokenIndex

faiss = pytest.importorskip("faiss")
ON_DEVICE = cuda_device(faiss) is not None


@pytest.mark.parametrize("dimension", [1, 7, 8, 30, 32, 100, 128, 384, 768, 1000, 1024])
def test_codes_have_a_length_that_a_device_supports(dimension: int) -> None:
    length = code_length(dimension)
    assert length in CODE_LENGTHS
    assert dimension % length == 0
    assert faiss_tokens.index_factory(dimension, 10**6, on_device=True) == f"IVF4096,PQ{length}"


def test_the_cpu_has_its_own_kind_of_index(tmp_path: Path) -> None:
    sample = np.random.default_rng(0).standard_normal((300, 16)).astype(np.float32)
    faiss_tokens.train(sample, 300, tmp_path / "trained")
    assert isinstance(faiss_tokens.read(Container(tmp_path / "trained")), faiss.IndexIVFPQFastScan)


def test_an_index_built_on_a_device_is_searched_without_one(tmp_path: Path) -> None:
    """Deleted and filtered passages are no hits."""
    samples = Samples()
    vectors = samples.vectors(120)
    index = TokenIndex(32, "made-up", regime="faiss")
    samples.add(index, vectors)
    index.save(tmp_path)
    segment = index._contents.segments[0].segment
    floats = faiss_tokens.decoded_tokens(segment, slice(None))
    other = faiss.index_factory(
        32, faiss_tokens.index_factory(32, len(floats), on_device=True), faiss.METRIC_INNER_PRODUCT
    )
    other.do_polysemous_training = False  # as a device trains
    other.train(floats)
    faiss_tokens.write(other, tmp_path / "trained")
    searched = segment.searched_tokens(1, "coverage")
    faiss_tokens.fill(tmp_path / "trained", segment, searched, tmp_path / "filled", lambda _: None)
    assert isinstance(faiss_tokens.read(Container(tmp_path / "filled")), faiss.IndexIVFPQ)
    index._contents.segments[0].faiss_tokens = FaissTokens.load(tmp_path / "filled", segment)
    queries, weights = samples.queries(vectors, 20), np.ones((1, 8), np.float32)
    allow = {f"p{number}" for number in range(120) if number % 3}
    index.delete(["p1", "p2"])
    hits, expected = (
        [index.search(query, weights, k=10, regime=regime, allow=allow, refine=100)[0] for query in queries]
        for regime in ("faiss", "exact")
    )
    assert {hit.passage_id for hits in hits for hit in hits} <= allow - {"p1", "p2"}
    assert recall(hits, expected) > 0.9


def test_a_missing_device_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """faiss-gpu has StandardGpuResources, faiss-cpu does not."""

    class WithoutDevice:
        StandardGpuResources = object

        @staticmethod
        def get_num_gpus() -> int:
            return 0

    fake = WithoutDevice()
    with caplog.at_level(logging.WARNING):
        assert [cuda_device(fake), cuda_device(fake)] == [None, None]
    assert [one.getMessage() for one in caplog.records] == [
        "faiss-gpu finds no CUDA device: the index is searched on the CPU"
    ]
    faiss_device._cuda_device.cache_clear()


@pytest.mark.skipif(not ON_DEVICE, reason="no CUDA device, or faiss-cpu")
def test_a_device_returns_the_same_hits_as_the_cpu(tmp_path: Path) -> None:
    samples = Samples()
    vectors = samples.vectors(4_000)
    index = TokenIndex(32, "made-up", regime="faiss")
    samples.add(index, vectors)
    index.save(tmp_path)
    live = index._contents.segments[0]
    assert live.faiss_tokens is not None
    assert live.faiss_tokens.on_device is not None
    queries, weights = samples.queries(vectors, 20), np.ones((1, 8), np.float32)
    index.delete(["p1", "p2"])
    on_device = [index.search(query, weights, k=10)[0] for query in queries]
    live.faiss_tokens = FaissTokens(live.faiss_tokens.index, live.segment, live.faiss_tokens.searched)
    assert recall(on_device, [index.search(query, weights, k=10)[0] for query in queries]) > 0.99
    assert Codec(32, 8) == live.segment.codec
