"""Documents that say nearly the same are told by few numbers, and others are not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.app.ingest.likeness import FEWEST, NEARLY, RUN, Likenesses, signature

WORDS = [f"word{n}" for n in range(3000)]


def text(seed: int, length: int = 600) -> list[str]:
    return random.Random(seed).choices(WORDS, k=length)


def shared(one: list[str], other: list[str]) -> float:
    """The share of runs of words that both have, counted."""
    runs = [{tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)} for words in (one, other)]
    return len(runs[0] & runs[1]) / len(runs[0] | runs[1])


@pytest.mark.parametrize("changed", [0, 3, 10, 30])
def test_a_share_is_told_as_counting_every_run_of_words_would(changed: int) -> None:
    errors = []
    for seed in range(8):
        one, chance = text(seed), random.Random(seed)
        other = list(one)
        for place in chance.sample(range(len(one)), changed):
            other[place] = "another"
        known = Likenesses()
        known.put("one", signature(" ".join(one)))
        found = known.like("other", signature(" ".join(other)))
        exact = shared(one, other)
        assert bool(found) or exact < NEARLY + 0.12
        errors += [abs(found[0].share - exact)] if found else []
    assert not errors or sum(errors) / len(errors) < 0.05


def test_letters_of_another_size_and_signs_do_not_tell_documents_apart() -> None:
    words = text(1)
    assert signature(" ".join(words)) == signature(", ".join(words).upper() + ".")


@given(st.lists(st.sampled_from(WORDS[:5]), max_size=FEWEST - 1))
def test_a_text_of_few_words_is_like_nothing(words: list[str]) -> None:
    told = signature(" ".join(words))
    assert told == b""
    known = Likenesses()
    known.put("one", told)
    assert known.like("other", told) == ()


def test_the_nearest_come_first_and_none_is_like_itself() -> None:
    one = text(1)
    known = Likenesses()
    assert known.like("one", signature(" ".join(one))) == ()
    for name, cut in (("far", 560), ("near", 590), ("same", 600)):
        known.put(name, signature(" ".join(one[:cut])))
    for number in range(40):  # more than there is room for at first
        known.put(f"other {number}", signature(" ".join(text(100 + number))))
    told = signature(" ".join(one))
    known.put("one", told)
    assert [alike.source for alike in known.like("one", told)] == ["same", "near", "far"]
    assert known.like("one", told)[0].share == 1.0
    known.move("same", "moved")
    for number in range(80):  # short ones have no place among them
        known.move(f"short {number}", f"elsewhere {number}")
    known.put("near", signature(" ".join(text(99))))
    assert [alike.source for alike in known.like("one", told)] == ["moved", "far"]
