"""Shards return what one index returns: the same hits in the same order with the same digits."""

from __future__ import annotations

import multiprocessing
import shutil
from collections.abc import Iterator, Sequence
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_samples import Samples

from propcite.retrieval.alignment import alignment_of
from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.index import IndexHit
from propcite.retrieval.index import search as index_search
from propcite.retrieval.index.exchange import Result, step
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.sharding.folder import open_index
from propcite.retrieval.sharding.layout import shard_folders
from propcite.retrieval.sharding.resharding import reshard
from propcite.retrieval.sharding.sharded_index import ShardedIndex, merged_hits
from propcite.retrieval.text import Granularity, Passage, Sentence, Span
from propcite.retrieval.words.query import WordQuery

PASSAGES, LENGTH, ROWS = 900, 30, 3
PIECES = np.arange(1000, 1400)
DIVISIONS = (2, 3, 8)


def passages_of(samples: Samples, first: int, vectors: Floats) -> tuple[list[Passage], list[TokenVectors]]:
    """Return passages of two sentences, six per document, with the pieces of made-up words."""
    half, starts = LENGTH // 2, np.arange(LENGTH, dtype=np.int32)
    sentences = (Sentence(Span(0, half)), Sentence(Span(half, LENGTH)))
    numbers = range(first, first + len(vectors))
    passages = [Passage(f"d{n // 6}:{n % 6}", "x" * LENGTH, sentences=sentences) for n in numbers]
    offsets = np.stack([starts, starts + 1], axis=1)
    common = samples.random.zipf(1.3, size=(len(vectors), LENGTH)) % len(PIECES)
    return passages, [TokenVectors(v, offsets, ids=PIECES[own]) for v, own in zip(vectors, common, strict=True)]


class Divided:
    """One index and the same passages in several shards, all on disk."""

    def __init__(self, folder: Path, regime: str, bits: int = 8) -> None:
        samples = Samples()
        self.samples, self.vectors = samples, samples.vectors(PASSAGES)
        self.options: dict[str, Any] = {"regime": regime, "bits": bits}
        whole = TokenIndex(samples.dimension, "made-up", **self.options)
        for start, end in pairwise([0, 300, 500, PASSAGES]):
            whole.add(*passages_of(samples, start, self.vectors[start:end]))
        whole.delete([f"d{n}:1" for n in range(0, 40, 3)])
        whole.save(folder / "whole")
        TokenIndex.load(folder / "whole", **self.options).compact(folder / "whole")
        self.indexes: dict[int, TokenIndex | ShardedIndex] = {1: open_index(folder / "whole", **self.options)}
        for number in DIVISIONS:
            shutil.copytree(folder / "whole", folder / str(number))
            reshard(folder / str(number), number, **self.options)
            self.indexes[number] = open_index(folder / str(number), **self.options)
        self.folder = folder
        self.queries = samples.queries(self.vectors, 12)
        self.weights = np.abs(samples.random.standard_normal((ROWS, 8))).astype(np.float32)

    def words(self, query: int, *, alone: bool = False, phrase: bool = False) -> WordQuery:
        tokens = np.random.default_rng(query).integers(0, 60, 8)
        offsets = np.stack([np.arange(8), np.arange(8) + 1], axis=1).astype(np.int32)
        of = TokenVectors(self.queries[query % 12], offsets, ids=PIECES[tokens])
        phrases = [Span(0, 1)] if phrase else []
        words = WordQuery.of("abcdefgh", of, self.weights, 0.15, phrases, alone)
        assert words
        return words

    def search(self, number: int, query: int, **options: Any) -> list[list[IndexHit]]:
        return self.indexes[number].search(self.queries[query % 12], self.weights, **({"k": 10} | options))


@pytest.fixture(scope="module", params=["exact", "tokens"])
def divided(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Divided:
    return Divided(tmp_path_factory.mktemp(f"divided-{request.param}"), request.param)


OPTIONS = st.fixed_dictionaries(
    {
        "k": st.sampled_from([1, 10, 60]),
        "granularity": st.sampled_from([Granularity.PASSAGE, Granularity.SENTENCE]),
        "passage_share": st.sampled_from([0.0, 0.3, 1.0]),
        "asking_share": st.sampled_from([1.0, 0.5]),
        "refine": st.sampled_from([None, None, 0, 20]),
        "num_retrieved": st.sampled_from([20, 1000]),
    }
)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_shards_return_what_one_index_returns(divided: Divided, data: st.DataObject) -> None:
    options: dict[str, Any] = data.draw(OPTIONS)
    number, query = data.draw(st.sampled_from(DIVISIONS)), data.draw(st.integers(0, 11))
    way = data.draw(st.sampled_from(["vectors", "both", "words", "phrase"]))
    if way != "vectors":
        options["word_query"] = divided.words(query, alone=way == "words", phrase=way == "phrase")
    if data.draw(st.booleans()):
        every = data.draw(st.sampled_from([1, 2, 7]))
        options["allow"] = {f"d{n // 6}:{n % 6}" for n in range(0, PASSAGES, every)}
    assert divided.search(number, query, **options) == divided.search(1, query, **options)


def test_the_lists_of_centroids_are_cut_over_all_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an index of millions of tokens, whose candidates come from the lists nearest to each query token."""
    from propcite.retrieval.index import centroid_candidates

    divided = Divided(tmp_path, "tokens")
    monkeypatch.setattr(centroid_candidates.find_candidates, "__kwdefaults__", {"lists_from": 0})
    monkeypatch.setattr(index_search, "FEW_TOKENS", 0)
    for query in range(12):
        for options in ({}, {"allow": {f"d{n}:{n % 6}" for n in range(150)}}, {"refine": 30}):
            expected = divided.search(1, query, **options)
            assert any(expected)
            for number in DIVISIONS:
                assert divided.search(number, query, **options) == expected


def test_faiss_finds_nearly_the_same(tmp_path: Path) -> None:
    """It estimates similarities within each segment and reads small ones exactly, so candidates may differ."""
    pytest.importorskip("faiss")
    divided, shared = Divided(tmp_path, "faiss"), []
    for query in range(12):
        of_rows = zip(divided.search(1, query, refine=40), divided.search(3, query, refine=40), strict=True)
        shared += [len({hit.passage_id for hit in a} & {hit.passage_id for hit in b}) / len(a) for a, b in of_rows]
    assert np.mean(shared) > 0.9


def scores(hits: Sequence[Sequence[IndexHit]]) -> list[list[float]]:
    return [[hit.score for hit in row] for row in hits]


@pytest.mark.parametrize("bits", [16, 4])
def test_other_encodings_of_vectors_divide_too(tmp_path: Path, bits: int) -> None:
    """16 bits are multiplied as floats, whose last digits depend on the size of a block."""
    divided = Divided(tmp_path, "tokens", bits)
    for query in range(12):
        expected = divided.search(1, query)
        for number in DIVISIONS:
            hits = divided.search(number, query)
            if bits < 16:
                assert hits == expected
            assert np.allclose(
                [[hit.score for hit in row] for row in hits],
                [[hit.score for hit in row] for row in expected],
                atol=1e-5,
            )


def test_alignments_are_scored_alike(divided: Divided) -> None:
    """Alignments other than the default are scored in padded batches, so the last digits may differ."""
    for name in ("top-k=2", "xtr:k=100"):
        expected = divided.search(1, 3, alignment=alignment_of(name))
        hits = divided.search(3, 3, alignment=alignment_of(name))
        assert [[hit.passage_id for hit in row] for row in hits] == [
            [hit.passage_id for hit in row] for row in expected
        ]


# Over processes


def serve(folder: Path, options: dict[str, Any], pipe: Connection) -> None:
    """Hold one shard and take the steps of the searches that arrive, until an empty message."""
    index = TokenIndex.load(folder, **options)
    while (question := pipe.recv()) is not None:
        query, weights, asked = question
        steps, of_all = index.search_steps(query, weights, **asked), None
        while not isinstance(reached := step(steps, of_all), Result):
            pipe.send(reached)
            of_all = pipe.recv()
        pipe.send(reached)


@pytest.fixture
def processes(divided: Divided) -> Iterator[list[Connection]]:
    context, pipes, started = multiprocessing.get_context("spawn"), [], []
    for folder in shard_folders(divided.folder / "2"):
        ours, theirs = context.Pipe()
        started.append(context.Process(target=serve, args=(folder, divided.options, theirs), daemon=True))
        started[-1].start()
        pipes.append(ours)
    yield pipes
    for pipe, process in zip(pipes, started, strict=True):
        pipe.send(None)
        process.join(30)


def ask(pipes: Sequence[Connection], message: Any) -> list[list[list[IndexHit]]]:
    for pipe in pipes:
        pipe.send(message)
    reached = [pipe.recv() for pipe in pipes]
    while not all(isinstance(one, Result) for one in reached):
        of_all = type(reached[0]).merged(reached)
        for pipe in pipes:
            pipe.send(of_all)
        reached = [pipe.recv() for pipe in pipes]
    return [one.value for one in reached]


def test_shards_in_processes_of_their_own_return_the_same(divided: Divided, processes: list[Connection]) -> None:
    for query in range(4):
        for options in ({}, {"refine": 0}, {"word_query": divided.words(query), "granularity": Granularity.SENTENCE}):
            asked: dict[str, Any] = {"k": 10, **options}
            parts = ask(processes, (divided.queries[query], divided.weights, asked))
            merged = [merged_hits(rows, 10) for rows in zip(*parts, strict=True)]
            assert merged == divided.search(1, query, **asked)
