"""Which word of one text is which of another: forms, families, and the assignment by neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from propcite.attribution.propositions.matching import akin, form, match, nearness


def test_forms_and_families_of_words() -> None:
    assert form("written") == form("wrote")
    assert form("women") == form("woman")
    assert form("n't") == form("not")
    for one, other in [("marriage", "married"), ("Chinese", "China"), ("produced", "production")]:
        assert akin(one, other)
    for one, other in [("Austria", "Australia"), ("internal", "internet")]:
        assert not akin(one, other)


forms = st.lists(st.sampled_from("abcd"), max_size=8)


@given(forms, forms)
def test_matching_group_by_group_is_the_whole_assignment(wanted: list[str], offered: list[str]) -> None:
    pairs = match(wanted, offered)
    scores = np.array(
        [
            [(w == o) * (1 + nearness(wanted, offered, i, j)) for j, o in enumerate(offered)]
            for i, w in enumerate(wanted)
        ]
    )
    best = scores[linear_sum_assignment(scores, maximize=True)].sum() if wanted and offered else 0.0
    assert sum(scores[i, j] for i, j in pairs.items()) == pytest.approx(best)
    assert len(set(pairs.values())) == len(pairs)
