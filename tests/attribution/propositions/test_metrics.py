"""PropSegmEnt's metrics, each with a result that can be checked by hand."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.propositions.metrics import (
    Agreement,
    agreement,
    align,
    jaccard,
    macro_average,
    num_matches,
    token_coverage,
    tokens_within,
    word_spans,
)
from propcite.retrieval.text import Span

token_sets = st.lists(st.sets(st.integers(0, 6), min_size=1), max_size=4)


def test_jaccard_counts_shared_tokens() -> None:
    assert jaccard({1, 2, 3, 4}, {1, 2, 3, 4, 5}) == 0.8
    assert jaccard(set(), set()) == 0.0


def test_the_best_assignment_is_found_where_a_greedy_search_fails() -> None:
    # The first prediction matches both gold sets, the second only the first: greedy by order finds one pair.
    predicted = [{1, 2, 3, 4, 5}, {1, 2, 3, 4, 6, 5}]
    gold = [{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5}]
    assert num_matches(predicted, gold) == 2
    assert num_matches(predicted, gold, threshold=1.0) == 2
    assert num_matches(predicted[:1], gold, threshold=1.0) == 1


@given(token_sets, token_sets)
def test_assignment_equals_the_slow_search(predicted: list[set[int]], gold: list[set[int]]) -> None:
    few, many = sorted((predicted, gold), key=len)
    slow = max(
        sum(jaccard(a, b) >= 0.8 for a, b in zip(few, order, strict=False)) for order in permutations(many, len(few))
    )
    assert num_matches(predicted, gold) == slow


@given(token_sets)
def test_gold_agrees_with_itself(gold: list[set[int]]) -> None:
    assert num_matches(gold, gold, threshold=1.0) == len(gold)
    assert token_coverage(gold, gold) == 1.0


def test_precision_and_recall_of_one_sentence() -> None:
    result = agreement([{1, 2, 3, 4, 5}, {8}], [{1, 2, 3, 4}, {5, 6}, {7}])
    assert result == Agreement(precision=1 / 2, recall=1 / 3)
    assert result.f1 == pytest.approx(0.4)


def test_empty_lists_are_valid() -> None:
    assert agreement([], [{1}]) == Agreement(0.0, 0.0)
    assert agreement([{1}], []) == Agreement(0.0, 0.0)
    assert Agreement(0.0, 0.0).f1 == 0.0
    assert macro_average([]) == Agreement(0.0, 0.0)


def test_a_corpus_counts_each_sentence_once() -> None:
    total = macro_average([Agreement(1.0, 0.5), Agreement(0.5, 0.5), Agreement(0.0, 0.2)])
    assert total.precision == pytest.approx(0.5)
    assert total.recall == pytest.approx(0.4)
    assert total.f1 == pytest.approx(4 / 9)


def test_coverage_is_of_gold_tokens() -> None:
    assert token_coverage([{1, 2, 9}], [{1, 2}, {2, 3, 4}]) == 0.5
    assert token_coverage([], []) == 1.0


def test_tokens_overlap_spans_wholly_or_in_part() -> None:
    tokens = word_spans("Ada, 36, wrote it.")
    assert tokens_within(tokens, [Span(0, 3), Span(9, 11)]) == {0, 2}


def aligned_words(proposition: str, sentence: str) -> list[str]:
    words = word_spans(sentence)
    return [words[i].of(sentence) for i in sorted(align(proposition, sentence))]


def test_other_forms_of_a_word_align() -> None:
    assert aligned_words("She marries a painter.", "She married two painters.") == ["She", "married", "painters"]


def test_equal_words_align_by_their_neighbours() -> None:
    sentence = "The cat of the baker saw the dog of the miller."
    assert sorted(align("The dog of the miller.", sentence)) == [6, 7, 8, 9, 10]
    assert sorted(align("the baker", sentence)) == [3, 4]


def test_each_word_is_used_once() -> None:
    assert aligned_words("the the the", "the cat and the dog") == ["the", "the"]


def test_missing_words_are_not_aligned() -> None:
    assert align("Zebra", "A cat sat.") == set()
    assert align("", "A cat sat.") == set()
    assert align("?!", "...") == set()


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_two_texts_align(proposition: str, sentence: str) -> None:
    assert align(proposition, sentence) <= set(range(len(word_spans(sentence))))


@given(st.text(max_size=60))
def test_a_sentence_aligns_with_itself(sentence: str) -> None:
    assert align(sentence, sentence) == set(range(len(word_spans(sentence))))
