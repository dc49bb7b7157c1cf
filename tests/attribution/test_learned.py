"""The learned splitter: its grouping by hand, its network on real sentences, and a training that ends in a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.errors import AttributionError
from attribution.propositions.clusters import agreement, claims, smoothed
from attribution.propositions.learned import LearnedSplitter
from attribution.words import FUNCTION_WORDS, WORD

SENTENCES = (
    "Ada Lorne was born in Bergen in 1951 and moved to Oslo in 1970.",
    "The bridge, which was built by a Danish firm, is 96 metres long and carries 4,000 cyclists a day.",
    "Marta Sund is a Norwegian painter and sculptor.",
    "Water freezes at 0 °C.",
)


@pytest.fixture(scope="module")
def splitter() -> LearnedSplitter:
    return LearnedSplitter()


def test_words_whose_rows_agree_are_one_claim() -> None:
    # "Ada sings and paints": word 0 is shared, 1 and 3 are two claims' own, 2 is in none
    pairs = np.array([[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 1]], dtype=np.float32)
    own = np.array([0.1, 0.9, 0.0, 0.9], dtype=np.float32)
    assert claims(pairs, own, [True, True, False, True]) == [[0, 1], [0, 3]]
    assert agreement(pairs, [1, 3])[0, 1] == pytest.approx(0.5 * 1 / 3)


def test_one_own_word_or_none_leaves_the_sentence_whole() -> None:
    pairs = np.ones((3, 3), dtype=np.float32)
    assert claims(pairs, np.zeros(3, dtype=np.float32), [True] * 3) == []
    assert claims(pairs, np.array([0, 1, 0], dtype=np.float32), [True] * 3) == []


@given(
    st.integers(2, 9).flatmap(
        lambda n: st.lists(st.lists(st.floats(0, 1), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_no_content_word_is_lost(rows: list[list[float]]) -> None:
    pairs = np.asarray(rows, dtype=np.float32)
    found = claims(pairs, np.ones(len(rows), dtype=np.float32), [True] * len(rows))
    assert not found or {word for claim in found for word in claim} == set(range(len(rows)))


def test_short_gaps_are_filled_and_stray_function_words_fall_away() -> None:
    content = [True, False, True, True, True, False, True]
    assert smoothed([0, 2], content) == [0, 1, 2]
    assert smoothed([0, 4], content) == [0, 4]
    assert smoothed([2, 5], content) == [2]


def test_facts_of_a_sentence_are_told_apart(splitter: LearnedSplitter) -> None:
    said = [[" ".join(s.of(SENTENCES[0]) for s in p.spans) for p in splitter.split(SENTENCES[0])]][0]
    assert any("Bergen" in claim and "Oslo" not in claim for claim in said)
    assert any("Oslo" in claim and "Bergen" not in claim for claim in said)
    assert len(splitter.split(SENTENCES[3])) == 1


def test_many_at_once_are_as_one_by_one(splitter: LearnedSplitter) -> None:
    together = splitter.split_many(SENTENCES, [()] * len(SENTENCES))
    assert together == [splitter.split(sentence) for sentence in SENTENCES]


HARD = [
    "",
    " ",
    "...",
    "Really?",
    "Das Haus wurde 1951 gebaut und 1970 verkauft.",
    "x = f(y)",
    "a, b and " * 1500,
    "ק" * 50,
]


@pytest.mark.parametrize("sentence", HARD)
def test_what_is_no_sentence_to_split_stays_whole(splitter: LearnedSplitter, sentence: str) -> None:
    assert len(splitter.split(sentence)) == int(any(c.isalpha() for c in sentence))


@settings(max_examples=40)
@given(st.lists(st.sampled_from([*" ".join(SENTENCES).split(), "[1]", "—", "(", "😀"]), min_size=1, max_size=25))
def test_spans_are_sorted_disjoint_and_lose_nothing(splitter: LearnedSplitter, words: list[str]) -> None:
    sentence = " ".join(words)
    propositions = splitter.split(sentence)
    held = set()
    for p in propositions:
        assert all(a.end <= b.start for a, b in zip(p.spans, p.spans[1:], strict=False))
        assert p.spans[-1].end <= len(sentence)
        held |= {i for s in p.spans for i in range(s.start, s.end)}
    if len(propositions) > 1:
        content = [
            m for m in WORD.finditer(sentence) if m.group().lower() not in FUNCTION_WORDS and not m.group().isdigit()
        ]
        assert all(m.start() in held for m in content if m.group() not in {"1"})


def test_training_ends_in_weights_that_split(tmp_path: Path) -> None:
    from attribution.propositions.training import read_examples, train

    rows = [{"sentence": s, "propositions": [s.split(" and ")[0], s.split(" and ")[-1]]} for s in SENTENCES[:3]]
    marked = {"sentence": "Ada sings.", "tokens": ["Ada", "sings", "."], "token_indices": [[0, 1]]}
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in [*rows, marked]), "utf-8")
    examples = read_examples(data)
    assert [e.style for e in examples] == ["atomic"] * 3 + ["span"]
    assert examples[3].propositions == (frozenset({0, 1}),)
    steps = []
    weights = train(examples, tmp_path / "own.safetensors", epochs=1, report=lambda *state: steps.append(state))
    assert steps
    assert weights.stat().st_size < 4_000_000
    assert LearnedSplitter(weights).split(SENTENCES[3])


def test_a_bad_row_or_file_is_named(tmp_path: Path) -> None:
    from attribution.propositions.training import read_examples

    data = tmp_path / "rows.jsonl"
    data.write_text('{"sentence": "Ada sings.", "propositions": ["Ada sings."]}\n{"sentence": 1}\n', "utf-8")
    with pytest.raises(AttributionError, match=r"rows\.jsonl, line 2"):
        read_examples(data)
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"no weights")
    with pytest.raises(AttributionError, match="cannot be read"):
        LearnedSplitter(broken)
