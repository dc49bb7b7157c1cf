"""Near duplicates are found by their signatures, and other documents are not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.app.ingest.near_duplicates import MIN_SHARE, MIN_WORDS, SHINGLE_WORDS, SignatureIndex, signature

WORDS = [f"word{n}" for n in range(3000)]


def text(seed: int, length: int = 600) -> list[str]:
    return random.Random(seed).choices(WORDS, k=length)


def exact_share(one: list[str], other: list[str]) -> float:
    """Return the exact share of shingles that both have."""
    first, second = (
        {tuple(words[i : i + SHINGLE_WORDS]) for i in range(len(words) - SHINGLE_WORDS + 1)} for words in (one, other)
    )
    return len(first & second) / len(first | second)


@pytest.mark.parametrize("changed", [0, 3, 10, 30])
def test_the_estimated_share_is_near_the_exact_one(changed: int) -> None:
    errors = []
    for seed in range(8):
        one, chance = text(seed), random.Random(seed)
        other = list(one)
        for place in chance.sample(range(len(one)), changed):
            other[place] = "another"
        index = SignatureIndex()
        index.put("one", signature(" ".join(one)))
        similar = index.similar("other", signature(" ".join(other)))
        exact = exact_share(one, other)
        assert bool(similar) or exact < MIN_SHARE + 0.12
        errors += [abs(similar[0].share - exact)] if similar else []
    assert not errors or sum(errors) / len(errors) < 0.05


def test_case_and_punctuation_do_not_matter() -> None:
    words = text(1)
    assert signature(" ".join(words)) == signature(", ".join(words).upper() + ".")


@given(st.lists(st.sampled_from(WORDS[:5]), max_size=MIN_WORDS - 1))
def test_a_text_of_few_words_is_similar_to_none(words: list[str]) -> None:
    empty = signature(" ".join(words))
    assert empty == b""
    index = SignatureIndex()
    index.put("one", empty)
    assert index.similar("other", empty) == ()


def test_the_most_similar_come_first_and_none_is_similar_to_itself() -> None:
    one = text(1)
    index = SignatureIndex()
    assert index.similar("one", signature(" ".join(one))) == ()
    for name, cut in (("far", 560), ("near", 590), ("same", 600)):
        index.put(name, signature(" ".join(one[:cut])))
    for number in range(40):  # the index has to grow
        index.put(f"other {number}", signature(" ".join(text(100 + number))))
    own = signature(" ".join(one))
    index.put("one", own)
    assert [alike.source for alike in index.similar("one", own)] == ["same", "near", "far"]
    assert index.similar("one", own)[0].share == 1.0
    index.move("same", "moved")
    for number in range(80):  # short texts are not in the index
        index.move(f"short {number}", f"elsewhere {number}")
    index.put("near", signature(" ".join(text(99))))
    assert [alike.source for alike in index.similar("one", own)] == ["moved", "far"]


def test_a_long_text_has_the_same_signature_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(f"Word{n}, İstanbul-{n % 7}" for n in range(500)) + "\n" + "x" * 300 + " the end"
    whole = signature(text)
    for size in (1, 7, 100):
        monkeypatch.setattr("propcite.app.ingest.near_duplicates.PIECE", size)
        assert signature(text) == whole
