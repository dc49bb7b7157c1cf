"""How much of what reading everything finds the faster ways find, on clustered vectors."""

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
from propcite.retrieval.index.coarse import CentroidTable, candidates
from propcite.retrieval.index.ranking import Wanted
from propcite.retrieval.index.search import FEW
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity

PASSAGES = 3_000
WEIGHTS = np.ones((1, 8), np.float32)
GRANULARITIES = [Granularity.PASSAGE, Granularity.SENTENCE]


@dataclass(frozen=True)
class Made:
    """An index with all that any regime needs, and queries near its passages."""

    index: TokenIndex
    vectors: Floats
    queries: list[Floats]
    folder: Path

    def found(self, index: TokenIndex | None = None, **options: Any) -> list[list[IndexHit]]:
        asked = index or self.index
        return [asked.search(query, WEIGHTS, **({"k": 10} | options))[0] for query in self.queries]


def made(folder: Path, *, topical: bool, regime: str) -> Made:
    """In several segments, of passages as they come, or of those near each other together."""
    samples = Samples()
    vectors = samples.vectors(PASSAGES)
    if topical:
        vectors = vectors[np.argsort((vectors.mean(axis=1) @ samples.centres.T).argmax(axis=1), kind="stable")]
    index = TokenIndex(samples.dimension, "made-up", regime=regime)
    for start, end in pairwise([0, 300, 600, 1500, 1700, PASSAGES]):
        samples.add(index, vectors[start:end], start)
    index.save(folder)
    return Made(index, vectors, samples.queries(vectors, 40), folder)


@pytest.fixture(scope="module")
def scattered(tmp_path_factory: pytest.TempPathFactory) -> Made:
    pytest.importorskip("faiss")
    return made(tmp_path_factory.mktemp("scattered"), topical=False, regime="faiss")


@pytest.fixture(scope="module")
def topical(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(tmp_path_factory.mktemp("topical"), topical=True, regime="tokens")


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize(
    ("regime", "refine", "least"),
    [("tokens", None, 0.99), ("tokens", 50, 0.95), ("faiss", None, 0.98), ("faiss", 50, 0.85)],
)
def test_the_best_ten_are_found(
    scattered: Made, granularity: str, regime: str, refine: int | None, least: float
) -> None:
    exact = scattered.found(regime="exact", granularity=granularity, passage_share=0.3)
    found = scattered.found(regime=regime, refine=refine, granularity=granularity, passage_share=0.3)
    assert recall(found, exact) >= least


@pytest.mark.parametrize(("bits", "least"), [(8, 0.97), (4, 0.9), (2, 0.65), (1, 0.4)])
def test_fewer_bits_find_most_of_what_sixteen_find(scattered: Made, bits: int, least: float) -> None:
    found = {}
    for number in (16, bits):
        index = TokenIndex(scattered.index.dimension, "made-up", bits=number)
        Samples().add(index, scattered.vectors)
        found[number] = scattered.found(index)
    assert recall(found[bits], found[16]) >= least


@pytest.mark.parametrize("regime", ["tokens", "faiss"])
@pytest.mark.parametrize("every", [2, 5, 60])
def test_a_filter_leaves_recall_as_it_is(scattered: Made, regime: str, every: int) -> None:
    """More is left than is read whole, and less."""
    assert PASSAGES * 30 / 2 > FEW > PASSAGES * 30 / 5
    allow = {f"p{number}" for number in range(0, PASSAGES, every)}
    exact = scattered.found(regime="exact", allow=allow)
    found = scattered.found(regime=regime, allow=allow, refine=50)
    assert {i for hits in found for i, _ in names(hits)} <= allow
    assert recall(found, exact) >= 0.9


@pytest.mark.parametrize(("every", "least"), [(1, 0.85), (2, 0.85), (5, 0.99)])
def test_tokens_retrieved_by_lists_are_mostly_the_nearest_with_a_filter_too(
    scattered: Made, every: int, least: float
) -> None:
    """Ranked by XTR's scores, which retrieved tokens alone decide."""
    options = {"refine": 0, "allow": {f"p{number}" for number in range(0, PASSAGES, every)}}
    found = scattered.found(regime="tokens", **options)
    assert recall(found, scattered.found(regime="exact", **options)) >= least


# Where lists name the passages to score


def listed(
    index: TokenIndex,
    query: Floats,
    number: int,
    allow: Collection[str] | None = None,
    lists_from: int = 0,
    **wanted: Any,
) -> set[str]:
    """Candidates as a large index finds them."""
    plan, masks, weights = index._plan("tokens"), index._held.masks(allow), np.ones((1, len(query)), np.float32)
    assert plan.centroids
    table = CentroidTable.of(
        plan.centroids, plan.codec.ask(query), Wanted(weights, weights, **({"share": None} | wanted))
    )
    coded = [(part.coded, mask) for part, mask in masks.items() if part.coded]
    chosen = candidates(table, coded, number, lists_from)
    return {one.segment.ids[i] for (one, _), some in zip(coded, chosen, strict=True) for i in some}


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("number", [50, 400])
@pytest.mark.parametrize("every", [1, 3])
def test_lists_name_the_best_ten(topical: Made, granularity: str, number: int, every: int) -> None:
    allow = {f"p{number}" for number in range(0, PASSAGES, every)}
    share = {"share": 0.3} if granularity == "sentence" else {}
    exact = topical.found(regime="exact", granularity=granularity, passage_share=0.3, allow=allow)
    shares = []
    for query, hits in zip(topical.queries, exact, strict=True):
        wanted, named = {i for i, _ in names(hits)}, listed(topical.index, query, number, allow, **share)
        assert named <= allow
        shares.append(len(wanted & named) / len(wanted))
    assert np.mean(shares) >= 0.95


def test_lists_of_several_segments_name_what_those_of_one_name(topical: Made) -> None:
    """Joining changes neither tokens nor centroids."""
    several = [listed(topical.index, query, 20) for query in topical.queries]
    one = TokenIndex.load(topical.folder, regime="tokens")
    one.compact(topical.folder)
    assert one.stats().segments == 1
    assert [listed(one, query, 20) for query in topical.queries] == several


def test_lists_tell_names_apart_that_share_a_centroid(tmp_path: Path) -> None:
    """Each passage has one token of its own, as a rare word is, among tokens that all have; the query names it."""
    samples, random = Samples(), np.random.default_rng(1)
    vectors = samples.vectors(2_000)
    own = random.standard_normal((len(vectors), samples.dimension)).astype(np.float32)
    vectors[:, 7] = own / np.linalg.norm(own, axis=1, keepdims=True)
    index = TokenIndex(samples.dimension, "made-up", regime="tokens")
    samples.add(index, vectors)
    index.save(tmp_path)
    found = {
        lists_from: sum(
            f"p{number}"
            in listed(index, np.concatenate([vectors[number, 7:8], samples.centres[:2]]), 20, None, lists_from)
            for number in range(0, 2_000, 40)
        )
        for lists_from in (0, 1_000_000)
    }
    assert found[0] == 50 > 1.1 * found[1_000_000]
