"""After any changes, saves and loads the index equals a dict."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from small_passages import EncodedPassage, random_passage, reference_search

from propcite.retrieval.index.storage import MAX_DELETED_SHARE, MAX_SEGMENTS
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity

NAMES = st.integers(0, 30).map(lambda number: f"p{number}")
MEAN = np.full((1, 5), 0.2, np.float32)


class IndexBesideDict(RuleBasedStateMachine):
    """An index and a dict of its expected contents; `saved` is the dict at the last save."""

    @initialize(bits=st.sampled_from([16, 8]), exact_up_to=st.sampled_from([0, 60, 10_000]))
    def start(self, bits: int, exact_up_to: int) -> None:
        """Start an empty index; it stays so small that all passages are candidates, so every regime is exact."""
        self.folder = Path(tempfile.mkdtemp())
        self.options = {"bits": bits, "exact_up_to": exact_up_to}
        self.near = {16: 2e-3, 8: 1.5e-2}[bits]
        self.index = TokenIndex(8, "made-up", **self.options)
        self.expected: dict[str, EncodedPassage] = {}
        self.saved: dict[str, EncodedPassage] | None = None
        self.seed = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @rule(names=st.sets(NAMES, min_size=1, max_size=4))
    def add(self, names: set[str]) -> None:
        """Add passages with new vectors each time, so that a replaced passage differs from the old one."""
        batch = []
        for name in sorted(names - set(self.expected)):
            self.seed += 1
            batch.append(random_passage(name, self.seed))
        self.index.add([sample.passage for sample in batch], [sample.tokens for sample in batch])
        self.expected |= {sample.passage.id: sample for sample in batch}

    @rule(names=st.sets(NAMES, min_size=1, max_size=8))
    def delete(self, names: set[str]) -> None:
        assert self.index.delete(names) == len(names & set(self.expected))
        self.expected = {name: sample for name, sample in self.expected.items() if name not in names}

    @rule(names=st.sets(NAMES, min_size=1, max_size=3))
    def update(self, names: set[str]) -> None:
        batch = []
        for name in sorted(names):
            self.seed += 1
            batch.append(random_passage(name, self.seed))
        self.index.update([sample.passage for sample in batch], [sample.tokens for sample in batch])
        self.expected |= {sample.passage.id: sample for sample in batch}

    @precondition(lambda self: self.expected)
    @rule()
    def compact(self) -> None:
        self.index.compact(self.folder)
        self.saved = dict(self.expected)
        assert (self.index.stats().segments, self.index.stats().deleted) == (1, 0)

    @precondition(lambda self: self.expected)
    @rule(data=st.data())
    def adding_again_is_rejected(self, data: st.DataObject) -> None:
        sample = self.expected[data.draw(st.sampled_from(sorted(self.expected)))]
        with pytest.raises(ValueError, match="delete it first"):
            self.index.add([sample.passage], [sample.tokens])

    @rule()
    def save(self) -> None:
        self.index.save(self.folder)
        self.saved = dict(self.expected)
        stats = self.index.stats()
        assert stats.segments <= MAX_SEGMENTS
        assert stats.deleted <= MAX_DELETED_SHARE * (stats.deleted + stats.passages)

    @precondition(lambda self: self.saved is not None)
    @rule()
    def load(self) -> None:
        self.index = TokenIndex.load(self.folder, "made-up", **self.options)
        self.expected = dict(self.saved or {})

    @invariant()
    def contents_equal_the_dict(self) -> None:
        assert self.index.ids() == set(self.expected)
        assert len(self.index) == len(self.expected)
        for name, sample in self.expected.items():
            tokens = self.index.vectors(name)
            assert tokens.offsets.tolist() == sample.tokens.offsets.tolist()
            assert np.abs(tokens.vectors - sample.tokens.vectors).max() < self.near

    @invariant()
    def finds_each_passage_by_its_own_vectors(self) -> None:
        for name, sample in self.expected.items():
            best = self.index.search(sample.tokens.vectors, MEAN, k=2)[0]
            assert best[0].passage_id == name
            assert best[0].score == pytest.approx(1.0, abs=self.near)
            assert all(hit.score < 0.99 for hit in best[1:])

    @invariant()
    def ranks_sentences_like_a_plain_loop(self) -> None:
        query = np.eye(5, 8, dtype=np.float32)
        hits = self.index.search(query, MEAN, k=100, granularity=Granularity.SENTENCE, passage_share=0.3)[0]
        expected = reference_search(list(self.expected.values()), query, MEAN[0], 100, sentences=True, share=0.3)
        scores = {(hit.passage_id, hit.sentence): hit.score for hit in expected}
        assert {(hit.passage_id, hit.sentence) for hit in hits} == set(scores)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        for hit in hits:
            assert hit.score == pytest.approx(scores[hit.passage_id, hit.sentence], abs=self.near)


TestIndexBesideDict = IndexBesideDict.TestCase
TestIndexBesideDict.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)
