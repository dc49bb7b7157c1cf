"""All regimes return the same hits if all candidates are refined, in any number of segments."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from index_samples import Samples
from small_passages import DIMENSION, EIGHTHS, EncodedPassage, encoded_passages

from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.index import IndexHit
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity

REGIMES = ("exact", "tokens", "faiss") if find_spec("faiss") else ("exact", "tokens")
ALL = 10_000  # more than any of these indexes contains
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0])


@dataclass(frozen=True)
class SearchCase:
    """Passages, the starts of segments, deleted ids; a query with its options."""

    samples: list[EncodedPassage]
    cuts: list[int]
    deleted: set[str]
    query: Floats
    weights: Floats
    options: dict[str, Any]

    @property
    def rest(self) -> list[EncodedPassage]:
        return [one for one in self.samples if one.passage.id not in self.deleted]


@st.composite
def search_cases(draw: st.DrawFn) -> SearchCase:
    count = draw(st.integers(1, 12))
    samples = [draw(encoded_passages(f"p{number}")) for number in range(count)]
    ids = st.sampled_from([one.passage.id for one in samples])
    rows = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    options: dict[str, Any] = {"allow": draw(st.none() | st.sets(ids))}
    if draw(st.booleans()):
        options |= {"granularity": Granularity.SENTENCE, "passage_share": draw(st.sampled_from([0.0, 0.25, 1.0]))}
        if draw(st.booleans()):
            options["passage_weights"] = draw(arrays(np.float32, rows, elements=WEIGHTS))
    query = draw(arrays(np.float32, (rows[1], DIMENSION), elements=EIGHTHS))
    query[~query.any(axis=1), 0] = 1  # all tokens are equally near to a vector of zeros, and FAISS returns none
    return SearchCase(
        samples,
        sorted({0, count, *draw(st.lists(st.integers(0, count), max_size=3))}),
        draw(st.sets(ids, max_size=count - 1)),
        query,
        draw(arrays(np.float32, rows, elements=WEIGHTS)),
        options,
    )


def saved_index(case: SearchCase, bits: int, folder: str, cuts: Sequence[int] | None = None) -> TokenIndex:
    """Save an index with the files of all regimes; one segment from each cut to the next."""
    index = TokenIndex(DIMENSION, "made-up", bits=bits, regime=REGIMES[-1])
    for start, end in pairwise(cuts or case.cuts):
        index.add([o.passage for o in case.samples[start:end]], [o.tokens for o in case.samples[start:end]])
    index.delete(case.deleted)
    index.save(Path(folder))
    return index


def scores(hits: list[IndexHit]) -> dict[tuple[str, int | None], tuple[float, float]]:
    """Return scores by unit, since units of equal scores may come in any order."""
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return {(hit.passage_id, hit.sentence): (hit.score, hit.passage_score) for hit in hits}


def assert_same(some: list[list[IndexHit]], others: list[list[IndexHit]]) -> None:
    for one, other in zip(some, others, strict=True):
        left, right = scores(one), scores(other)
        assert set(left) == set(right)
        for unit, values in left.items():
            assert values == pytest.approx(right[unit], abs=1e-6)


@given(search_cases(), st.sampled_from([16, 8, 4, 2, 1]))
@settings(max_examples=80)
def test_all_regimes_return_the_same_if_all_passages_are_refined(case: SearchCase, bits: int) -> None:
    with TemporaryDirectory() as folder:
        index = saved_index(case, bits, folder)
        exact = index.search(case.query, case.weights, k=ALL, regime="exact", **case.options)
        for regime in REGIMES[1:]:
            options = {"k": ALL, "refine": len(case.rest), "num_retrieved": ALL, "regime": regime}
            assert_same(index.search(case.query, case.weights, **options, **case.options), exact)


@given(search_cases(), st.sampled_from([16, 8, 4, 2, 1]), st.sampled_from([0, ALL]))
@settings(max_examples=40)
def test_several_segments_return_the_same_as_one(case: SearchCase, bits: int, refine: int) -> None:
    with TemporaryDirectory() as several, TemporaryDirectory() as one:
        indexes = [saved_index(case, bits, several), saved_index(case, bits, one, [0, len(case.samples)])]
        for regime in REGIMES if refine else ["exact"]:
            number = ALL if refine else 3
            options = {"k": ALL, "refine": refine, "num_retrieved": number, "regime": regime} | case.options
            assert_same(*(index.search(case.query, case.weights, **options) for index in indexes))


# XTR


def reference_xtr(
    case: SearchCase, row: int, retrieved: int, missing: float | None
) -> list[tuple[str, int | None, float]]:
    """Score all units by the nearest tokens of each query token."""
    allow = case.options.get("allow")
    rest = [one for one in case.rest if allow is None or one.passage.id in allow]
    if not rest:
        return []
    products = [one.tokens.vectors @ case.query.T for one in rest]
    ordered = -np.sort(-np.concatenate(products), axis=0)
    floors = ordered[min(retrieved, len(ordered)) - 1]
    units = []
    for one, product in zip(rest, products, strict=True):
        if not (product >= floors).any():
            continue
        retrieved_only = np.where(product >= floors, product, -np.inf)
        imputed = floors if missing is None else np.full_like(floors, missing)

        def score(tokens: np.ndarray, weights: Floats, retrieved_only=retrieved_only, imputed=imputed) -> float:
            return float(weights @ np.maximum(retrieved_only[tokens].max(axis=0), imputed))

        units += [(one.passage.id, n, s) for n, s in _units(one, case.options, case.weights[row], row, score)]
    return sorted(units, key=lambda unit: -unit[2])


def _units(one: EncodedPassage, options: dict, weights: Floats, row: int, score) -> list[tuple[int | None, float]]:
    starts, all_tokens = one.tokens.offsets[:, 0], np.ones(len(one.tokens), bool)
    if "granularity" not in options:
        return [(None, score(all_tokens, weights))]
    share, of_passages = options["passage_share"], options.get("passage_weights")
    whole = score(all_tokens, weights if of_passages is None else of_passages[row])
    spans = [(n, s.span) for n, s in enumerate(one.passage.sentences) if not s.is_heading]
    masks = [(n, (starts >= span.start) & (starts < span.end)) for n, span in spans]
    return [(n, (1 - share) * score(mask, weights) + share * whole) for n, mask in masks if mask.any()]


@given(search_cases(), st.integers(1, 12), st.sampled_from([None, 0.2, 0.0, -1.0]))
def test_scores_without_refinement_equal_a_plain_loop_of_xtr(case: SearchCase, retrieved: int, missing) -> None:
    """In the exact regime the retrieved tokens are the true nearest ones."""
    with TemporaryDirectory() as folder:
        options = {"k": ALL, "refine": 0, "num_retrieved": retrieved, "missing_similarity": missing, "regime": "exact"}
        rows = saved_index(case, 16, folder).search(case.query, case.weights, **options, **case.options)
    for row, hits in enumerate(rows):
        expected = reference_xtr(case, row, retrieved, missing)
        assert [(h.passage_id, h.sentence) for h in hits] == [unit[:2] for unit in expected]
        assert [h.score for h in hits] == pytest.approx([unit[2] for unit in expected], abs=1e-6)
        assert all(h.xtr == h.score for h in hits)


@given(search_cases(), st.integers(1, 12), st.sampled_from([None, 0.2, -1.0]), st.sampled_from([16, 8, 2]))
@settings(max_examples=40)
def test_the_bound_is_never_below_the_exact_score(case, retrieved: int, missing, bits: int) -> None:
    with TemporaryDirectory() as folder:
        index = saved_index(case, bits, folder)
        options = {"k": ALL, "refine": 0, "num_retrieved": retrieved, "missing_similarity": missing, "regime": "exact"}
        rows = index.search(case.query, case.weights, **options, **case.options)
        exact = index.search(case.query, case.weights, k=ALL, regime="exact", **case.options)
    for hits, true in zip(rows, exact, strict=True):
        full_scores = scores(true)
        for hit in hits:
            assert hit.bound >= full_scores[hit.passage_id, hit.sentence][0] - 1e-6


# Many queries


@pytest.mark.parametrize("threads", [0, 1, 3])
@pytest.mark.parametrize("regime", REGIMES)
def test_search_many_returns_the_same_as_single_searches(index_and_queries, regime: str, threads: int) -> None:
    index, queries = index_and_queries
    options = {"k": 5, "regime": regime, "refine": 20}
    alone = [index.search(query, weights, **options) for query, weights in queries]
    assert index.search_many(queries, threads=threads, **options) == alone
    assert index.search_many([], threads=threads, **options) == []


@pytest.fixture(scope="module")
def index_and_queries(tmp_path_factory: pytest.TempPathFactory) -> tuple[TokenIndex, Collection[tuple[Floats, Floats]]]:
    samples = Samples(dimension=16, tokens=10)
    vectors = samples.vectors(300)
    index = TokenIndex(16, "made-up", regime=REGIMES[-1])
    samples.add(index, vectors[:200])
    samples.add(index, vectors[200:], 200)
    index.save(tmp_path_factory.mktemp("many"))
    rows = np.random.default_rng(1).random((40, 2, 8)).astype(np.float32)
    return index, list(zip(samples.queries(vectors, 40), rows, strict=True))
