"""Parses: heads without circles, other tokenizers, and the corrections of the rules' tags."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from propcite.attribution.propositions.parses import Parse, parse_of_tokens, tree_of


@given(st.integers(0, 9).flatmap(lambda n: arrays.arrays(np.float32, (n, n), elements=st.floats(-5, 5, width=32))))
def test_every_token_reaches_a_root(scores: np.ndarray) -> None:
    heads = tree_of(scores)
    assert len(heads) == len(scores)
    for start in range(len(heads)):
        at = start
        for _ in heads:
            at = heads[at]
        assert heads[at] == at


def test_a_circle_is_broken_where_it_costs_least() -> None:
    scores = np.array([[9, 0, 0], [0, 0, 5], [4, 5, 0]], dtype=np.float32)
    assert tree_of(scores) == [0, 2, 0]


def test_a_token_of_several_others_takes_the_head_outside_of_it() -> None:
    parsed = [(0, 4, "JJ", 2, "amod"), (4, 5, "HYPH", 2, "punct"), (5, 9, "VBN", 3, "amod"), (10, 14, "NN", 3, "ROOT")]
    parse = parse_of_tokens([(0, 9), (10, 14)], parsed)
    assert (parse.heads, parse.relations[1]) == ((1, 1), "ROOT")
    assert parse.relations[0] == "amod"


def test_a_subtree_leaves_out_what_is_below_some_words() -> None:
    parse = Parse(("NN",) * 4, (1, 1, 1, 2), ("nsubj", "ROOT", "dobj", "amod"))
    assert parse.subtree(1) == [0, 1, 2, 3]
    assert parse.subtree(1, frozenset({2})) == [0, 1]


@pytest.mark.parametrize("seed", range(20))
def test_no_scores_leave_a_circle_of_heads(seed: int) -> None:
    generator = np.random.default_rng(seed)
    for n in range(1, 30):
        heads = tree_of(generator.normal(size=(n, n)).astype(np.float32))
        for at in range(n):
            for _ in range(n):
                at = heads[at]
            assert heads[at] == at
