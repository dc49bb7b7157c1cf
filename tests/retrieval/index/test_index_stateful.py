"""However passages come and go, are saved and loaded again, the index holds what a plain dict would hold."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from small_passages import Item, slow_search, unit_item

from propcite.retrieval.index.disk import MOST_DELETED, MOST_SEGMENTS
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity

NAMES = st.integers(0, 30).map(lambda number: f"p{number}")
MEAN = np.full((1, 5), 0.2, np.float32)


class IndexBesideDict(RuleBasedStateMachine):
    """The index, and the dict that says what it must hold; `saved` is the dict as it was last saved."""

    @initialize(bits=st.sampled_from([16, 8]), exact_up_to=st.sampled_from([0, 60, 10_000]))
    def start(self, bits: int, exact_up_to: int) -> None:
        """Candidates are all that the index holds, so every regime finds what a slow loop finds."""
        self.folder = Path(tempfile.mkdtemp())
        self.options = {"bits": bits, "exact_up_to": exact_up_to}
        self.near = {16: 2e-3, 8: 1.5e-2}[bits]
        self.index = TokenIndex(8, "made-up", **self.options)
        self.held: dict[str, Item] = {}
        self.saved: dict[str, Item] | None = None
        self.seed = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @rule(names=st.sets(NAMES, min_size=1, max_size=4))
    def add(self, names: set[str]) -> None:
        """New vectors each time: a passage that comes back under its old id is another one."""
        batch = []
        for name in sorted(names - set(self.held)):
            self.seed += 1
            batch.append(unit_item(name, self.seed))
        self.index.add([one.passage for one in batch], [one.tokens for one in batch])
        self.held |= {one.passage.id: one for one in batch}

    @rule(names=st.sets(NAMES, min_size=1, max_size=8))
    def delete(self, names: set[str]) -> None:
        assert self.index.delete(names) == len(names & set(self.held))
        self.held = {name: one for name, one in self.held.items() if name not in names}

    @rule(names=st.sets(NAMES, min_size=1, max_size=3))
    def update(self, names: set[str]) -> None:
        batch = []
        for name in sorted(names):
            self.seed += 1
            batch.append(unit_item(name, self.seed))
        self.index.update([one.passage for one in batch], [one.tokens for one in batch])
        self.held |= {one.passage.id: one for one in batch}

    @precondition(lambda self: self.held)
    @rule()
    def compact(self) -> None:
        self.index.compact(self.folder)
        self.saved = dict(self.held)
        assert (self.index.stats().segments, self.index.stats().deleted) == (1, 0)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def add_again_is_refused(self, data: st.DataObject) -> None:
        one = self.held[data.draw(st.sampled_from(sorted(self.held)))]
        with pytest.raises(ValueError, match="delete it first"):
            self.index.add([one.passage], [one.tokens])

    @rule()
    def save(self) -> None:
        self.index.save(self.folder)
        self.saved = dict(self.held)
        stats = self.index.stats()
        assert stats.segments <= MOST_SEGMENTS
        assert stats.deleted <= MOST_DELETED * (stats.deleted + stats.passages)

    @precondition(lambda self: self.saved is not None)
    @rule()
    def load(self) -> None:
        self.index = TokenIndex.load(self.folder, "made-up", **self.options)
        self.held = dict(self.saved or {})

    @invariant()
    def holds_what_the_dict_holds(self) -> None:
        assert self.index.ids() == set(self.held)
        assert len(self.index) == len(self.held)
        for name, one in self.held.items():
            tokens = self.index.vectors(name)
            assert tokens.offsets.tolist() == one.tokens.offsets.tolist()
            assert np.abs(tokens.vectors - one.tokens.vectors).max() < self.near

    @invariant()
    def finds_each_passage_by_its_own_vectors(self) -> None:
        for name, one in self.held.items():
            best = self.index.search(one.tokens.vectors, MEAN, k=2)[0]
            assert best[0].passage_id == name
            assert best[0].score == pytest.approx(1.0, abs=self.near)
            assert all(hit.score < 0.99 for hit in best[1:])

    @invariant()
    def ranks_sentences_as_a_slow_loop_does(self) -> None:
        query = np.eye(5, 8, dtype=np.float32)
        hits = self.index.search(query, MEAN, k=100, granularity=Granularity.SENTENCE, passage_share=0.3)[0]
        slow = slow_search(list(self.held.values()), query, MEAN[0], 100, sentences=True, share=0.3)
        scores = {(hit.passage_id, hit.sentence): hit.score for hit in slow}
        assert {(hit.passage_id, hit.sentence) for hit in hits} == set(scores)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        for hit in hits:
            assert hit.score == pytest.approx(scores[hit.passage_id, hit.sentence], abs=self.near)


TestIndexBesideDict = IndexBesideDict.TestCase
TestIndexBesideDict.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)
