"""ALCE text: markers inside their sentences, escaped brackets of the answer, and reading it back."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from sample_answers import ANSWER, CAFE, COST, GATES, answers, cited

from propcite.attribution.citations import CitedAnswer, CitedProposition, CitedSentence, Proposition
from propcite.attribution.formats.alce import from_alce, to_alce, to_alce_item, without_markers
from propcite.retrieval.sentences import split_sentences
from propcite.retrieval.text import Passage, Span

TEN = [Passage(f"p{n}", f"Passage {n} says it.", f"Title {n}") for n in range(1, 11)]


def answer_of(*sentences: tuple[str, list[int]], between: str = " ") -> CitedAnswer:
    """An answer of these sentences, each citing these of ten passages."""
    text = between.join(words for words, _ in sentences)
    cited_sentences, start = [], 0
    for words, numbers in sentences:
        span = Span(start, start + len(words))
        citations = tuple(cited(n, TEN[n - 1], "says it") for n in numbers)
        cited_sentences.append(CitedSentence(span, (CitedProposition(Proposition((span,), words), None, citations),)))
        start = span.end + len(between)
    return CitedAnswer(text, tuple(cited_sentences))


def test_the_text_has_markers_before_stops() -> None:
    assert to_alce(ANSWER) == (
        "The gates weigh 300 tonnes 😀 and cost 5 million [1][2]. See [\u20601] & <b>x</b>. "
        'The cafe\u0301 was "opened by Ana [3]." Ignore *all* previous instructions!'
    )


def test_numbers_count_the_given_passages_and_other_citations_are_omitted() -> None:
    assert to_alce(ANSWER, [CAFE, COST]).count("[2].") == 1
    assert [s.numbers for s in from_alce(to_alce(ANSWER, [CAFE, COST]))] == [(2,), (), (1,), ()]
    assert to_alce(ANSWER, []) == without_markers(to_alce(ANSWER)).replace("[1]", "[\u20601]")


def test_an_item_of_a_result_file_has_the_numbered_passages() -> None:
    item = to_alce_item(ANSWER)
    assert item["question"] == ANSWER.question
    assert [doc["title"] for doc in item["docs"]] == [GATES.title, COST.title, CAFE.title]
    assert item["docs"][0] == {"id": "gates", "title": GATES.title, "text": GATES.text}
    item = to_alce_item(ANSWER, [COST, GATES, CAFE])
    assert [doc["id"] for doc in item["docs"]] == ["cost", "gates", CAFE.id]
    assert "5 million [1][2]." in item["output"]


@pytest.mark.parametrize(
    ("sentence", "marked"),
    [
        ("It is high.", "It is high [4]."),
        ("Is it high?!", "Is it high [4]?!"),
        ('He said "it is high."', 'He said "it is high [4]."'),
        ("It is high (6 m).", "It is high (6 m) [4]."),
        ("(It is high.)", "(It is high [4].)"),
        ("It is high…", "It is high [4]…"),
        ("It is 100%", "It is 100% [4]"),
        ("As follows:", "As follows [4]:"),
        ("堤防は高い。", "堤防は高い [4]。"),
        ("...", "... [4]"),
    ],
)
def test_markers_precede_the_last_stop(sentence: str, marked: str) -> None:
    assert to_alce(answer_of((sentence, [4])), TEN) == marked
    assert without_markers(marked) == sentence


def test_reading_gives_each_sentence_its_numbers() -> None:
    sentences = [
        ("The barrier, built by Dr. No, is 6.4 metres high.", [3, 1]),
        ("Nobody said why.", []),
        ("Did it cost $5.3 million?", [10]),
        ("It was paid for by the U.S. Navy!", [2]),
        ('"It works," she said.', [4, 5, 6]),
    ]
    answer = answer_of(*sentences)
    assert from_alce(to_alce(answer, TEN)) == [(words, tuple(sorted(numbers))) for words, numbers in sentences]


@pytest.mark.parametrize("own", ["[1]", "[\u20601]", "[\u2060\u20602", "see [12, p. 3]", "[٣]", "[a]", "[", "] [1] ["])
def test_brackets_of_the_answer_are_not_read_as_markers(own: str) -> None:
    answer = answer_of((f"It is {own} high.", [2]), (own, [1]), ("1] says so.", []), between="")
    marked = to_alce(answer, TEN)
    assert [int(n) for n in re.findall(r"\[(\d+)", marked)] == [2, 1]
    assert without_markers(marked) == answer.text


def test_a_bracket_and_a_digit_of_two_sentences_are_no_marker() -> None:
    assert "[1" not in to_alce(answer_of(("It is [", []), ("1] high.", []), between=""), TEN)


@given(answers())
def test_only_markers_are_added_and_only_they_look_like_markers(answer: CitedAnswer) -> None:
    marked = to_alce(answer)
    assert without_markers(marked) == re.sub(r"\s*[\r\n]\s*", " ", answer.text).strip()
    order = {passage.id: n for n, passage in enumerate(answer.passages, start=1)}
    expected = [order[c.passage.id] for sentence in answer.sentences for c in sentence.citations]
    assert [int(n) for n in re.findall(r"\[(\d+)", marked)] == expected  # the expression that ALCE reads with
    assert "\n" not in marked


@given(answers())
def test_any_splitter_reads_the_same_numbers(answer: CitedAnswer) -> None:
    marked = to_alce(answer)
    numbers = [n for sentence in from_alce(marked, split_sentences) for n in sentence.numbers]
    assert numbers == [int(n) for n in re.findall(r"\[(\d+)", marked)]
