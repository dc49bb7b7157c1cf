"""Matching words of two texts: forms, related words, and the assignment by neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from propcite.attribution.propositions.matching import are_related, form, match, nearness


def test_forms_and_related_words() -> None:
    assert form("written") == form("wrote")
    assert form("women") == form("woman")
    assert form("n't") == form("not")
    for one, other in [("marriage", "married"), ("Chinese", "China"), ("produced", "production")]:
        assert are_related(one, other)
    for one, other in [("Austria", "Australia"), ("internal", "internet")]:
        assert not are_related(one, other)


forms = st.lists(st.sampled_from("abcd"), max_size=8)


@given(forms, forms)
def test_matching_by_groups_equals_the_full_assignment(query: list[str], target: list[str]) -> None:
    pairs = match(query, target)
    scores = np.array(
        [[(q == t) * (1 + nearness(query, target, i, j)) for j, t in enumerate(target)] for i, q in enumerate(query)]
    )
    best = scores[linear_sum_assignment(scores, maximize=True)].sum() if query and target else 0.0
    assert sum(scores[i, j] for i, j in pairs.items()) == pytest.approx(best)
    assert len(set(pairs.values())) == len(pairs)
