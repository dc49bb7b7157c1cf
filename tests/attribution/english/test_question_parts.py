"""A question that asks several things is split into questions that stand alone; others stay as they are."""

from __future__ import annotations

import pytest

from propcite.attribution.english import question_parts


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "How much water can the pumps at Alder Sluice lift together, and who maintains them?",
            ["How much water can the pumps at Alder Sluice lift together?", "Who maintains the pumps at Alder Sluice?"],
        ),
        ("When and where was Ada Ree born?", ["When was Ada Ree born?", "Where was Ada Ree born?"]),
        ("Which licence applies? And who holds the copyright?", ["Which licence applies?", "Who holds the copyright?"]),
        (
            "Why were the piles lengthened; what did the longer piles cost?",
            ["Why were the piles lengthened?", "What did the longer piles cost?"],
        ),
    ],
)
def test_each_thing_is_asked_alone(question: str, parts: list[str]) -> None:
    assert question_parts(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "Who built the bridge, which was opened in 1990?",
        "What is the capital of France and Germany?",
        "How do I install the package and configure it?",
        "Who wrote the report and when?",
        "who won the cup in the year when the war that nobody wanted was over",
        "x",
        "¿Quién construyó el puente, y cuándo?",
    ],
)
def test_a_question_that_asks_one_thing_is_left_as_it_is(question: str) -> None:
    assert question_parts(question) == [question]


def test_nothing_is_asked_by_a_blank_question_and_a_text_is_one_question() -> None:
    assert question_parts(" \n") == []
    long = "Who is it and what is it? " * 100
    assert question_parts(long) == [long]
