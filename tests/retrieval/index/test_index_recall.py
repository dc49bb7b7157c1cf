"""Recall of the fast regimes against exact search, on clustered vectors."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from index_samples import Samples, names, recall

from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.index import IndexHit
from propcite.retrieval.index.allowed import allowed_of
from propcite.retrieval.index.centroid_candidates import CentroidSearch, find_candidates
from propcite.retrieval.index.exchange import together
from propcite.retrieval.index.ranking import QueryWeights
from propcite.retrieval.index.search import FEW_TOKENS
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity

PASSAGES = 3_000
WEIGHTS = np.ones((1, 8), np.float32)
GRANULARITIES = [Granularity.PASSAGE, Granularity.SENTENCE]


@dataclass(frozen=True)
class Sample:
    """An index with the files of all regimes, and queries near its passages."""

    index: TokenIndex
    vectors: Floats
    queries: list[Floats]
    folder: Path

    def search(self, index: TokenIndex | None = None, **options: Any) -> list[list[IndexHit]]:
        searched = index or self.index
        return [searched.search(query, WEIGHTS, **({"k": 10} | options))[0] for query in self.queries]


def build(folder: Path, *, topical: bool, regime: str) -> Sample:
    """Build an index of several segments, with passages in random order or sorted by topic."""
    samples = Samples()
    vectors = samples.vectors(PASSAGES)
    if topical:
        vectors = vectors[np.argsort((vectors.mean(axis=1) @ samples.centres.T).argmax(axis=1), kind="stable")]
    index = TokenIndex(samples.dimension, "made-up", regime=regime)
    for start, end in pairwise([0, 300, 600, 1500, 1700, PASSAGES]):
        samples.add(index, vectors[start:end], start)
    index.save(folder)
    return Sample(index, vectors, samples.queries(vectors, 40), folder)


@pytest.fixture(scope="module")
def scattered(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    pytest.importorskip("faiss")
    return build(tmp_path_factory.mktemp("scattered"), topical=False, regime="faiss")


@pytest.fixture(scope="module")
def topical(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return build(tmp_path_factory.mktemp("topical"), topical=True, regime="tokens")


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize(
    ("regime", "refine", "min_recall"),
    [("tokens", None, 0.99), ("tokens", 50, 0.95), ("faiss", None, 0.98), ("faiss", 50, 0.85)],
)
def test_the_ten_best_are_among_the_hits(
    scattered: Sample, granularity: str, regime: str, refine: int | None, min_recall: float
) -> None:
    expected = scattered.search(regime="exact", granularity=granularity, passage_share=0.3)
    hits = scattered.search(regime=regime, refine=refine, granularity=granularity, passage_share=0.3)
    assert recall(hits, expected) >= min_recall


@pytest.mark.parametrize(("bits", "min_recall"), [(8, 0.97), (4, 0.9), (2, 0.65), (1, 0.4)])
def test_fewer_bits_return_most_hits_of_sixteen_bits(scattered: Sample, bits: int, min_recall: float) -> None:
    by_bits = {}
    for number in (16, bits):
        index = TokenIndex(scattered.index.dimension, "made-up", bits=number)
        Samples().add(index, scattered.vectors)
        by_bits[number] = scattered.search(index)
    assert recall(by_bits[bits], by_bits[16]) >= min_recall


@pytest.mark.parametrize("regime", ["tokens", "faiss"])
@pytest.mark.parametrize("every", [2, 5, 60])
def test_a_filter_does_not_lower_recall(scattered: Sample, regime: str, every: int) -> None:
    """The filters leave more tokens than are all read, and fewer."""
    assert PASSAGES * 30 / 2 > FEW_TOKENS > PASSAGES * 30 / 5
    allow = {f"p{number}" for number in range(0, PASSAGES, every)}
    expected = scattered.search(regime="exact", allow=allow)
    hits = scattered.search(regime=regime, allow=allow, refine=50)
    assert {hit.passage_id for row in hits for hit in row} <= allow
    assert recall(hits, expected) >= 0.9


@pytest.mark.parametrize(("every", "min_recall"), [(1, 0.85), (2, 0.85), (5, 0.99)])
def test_tokens_retrieved_by_lists_are_mostly_the_nearest(scattered: Sample, every: int, min_recall: float) -> None:
    """Without refinement the retrieved tokens alone decide the rank."""
    options = {"refine": 0, "allow": {f"p{number}" for number in range(0, PASSAGES, every)}}
    hits = scattered.search(regime="tokens", **options)
    assert recall(hits, scattered.search(regime="exact", **options)) >= min_recall


# Candidates from the lists of centroids


def candidate_ids(
    index: TokenIndex,
    query: Floats,
    number: int,
    allow: Collection[str] | None = None,
    lists_from: int = 0,
    **options: Any,
) -> set[str]:
    """Return the ids of candidates, found like in a large index."""
    plan, weights = index._plan("tokens"), np.ones((1, len(query)), np.float32)
    masks = index._contents.masks(None if allow is None else allowed_of(allow))
    assert plan.centroids
    coded = [(live.centroid_codes, mask) for live, mask in masks.items() if live.centroid_codes]
    search = CentroidSearch.of(
        plan.centroids,
        plan.codec.encode_query(query),
        QueryWeights(weights, weights, **({"passage_share": None} | options)),
        coded,
    )
    num_tokens = sum(one.segment.num_tokens_in(mask) for one, mask in coded)
    steps = find_candidates(search, number, num_tokens, few_left_out=allow is None, lists_from=lists_from)
    [chosen] = together([steps])
    return {one.segment.ids[i] for (one, _), some in zip(coded, chosen, strict=True) for i in some}


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("number", [50, 400])
@pytest.mark.parametrize("every", [1, 3])
def test_lists_contain_the_ten_best(topical: Sample, granularity: str, number: int, every: int) -> None:
    allow = {f"p{number}" for number in range(0, PASSAGES, every)}
    share = {"passage_share": 0.3} if granularity == "sentence" else {}
    expected = topical.search(regime="exact", granularity=granularity, passage_share=0.3, allow=allow)
    shares = []
    for query, hits in zip(topical.queries, expected, strict=True):
        best, chosen = {i for i, _ in names(hits)}, candidate_ids(topical.index, query, number, allow, **share)
        assert chosen <= allow
        shares.append(len(best & chosen) / len(best))
    assert np.mean(shares) >= 0.95


def test_lists_of_several_segments_give_the_same_candidates_as_one(topical: Sample) -> None:
    """Merging changes neither tokens nor centroids."""
    several = [candidate_ids(topical.index, query, 20) for query in topical.queries]
    one = TokenIndex.load(topical.folder, regime="tokens")
    one.compact(topical.folder)
    assert one.stats().segments == 1
    assert [candidate_ids(one, query, 20) for query in topical.queries] == several


def test_lists_distinguish_rare_tokens_that_share_a_centroid(tmp_path: Path) -> None:
    """Each passage has one rare token of its own besides common ones, and the query contains it."""
    samples, random = Samples(), np.random.default_rng(1)
    vectors = samples.vectors(2_000)
    own = random.standard_normal((len(vectors), samples.dimension)).astype(np.float32)
    vectors[:, 7] = own / np.linalg.norm(own, axis=1, keepdims=True)
    index = TokenIndex(samples.dimension, "made-up", regime="tokens")
    samples.add(index, vectors)
    index.save(tmp_path)
    num_found = {
        lists_from: sum(
            f"p{number}"
            in candidate_ids(index, np.concatenate([vectors[number, 7:8], samples.centres[:2]]), 20, None, lists_from)
            for number in range(0, 2_000, 40)
        )
        for lists_from in (0, 1_000_000)
    }
    assert num_found[0] == 50 > 1.1 * num_found[1_000_000]
