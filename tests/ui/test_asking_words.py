"""What the page says of a conversation: the meter, the steps, and HTML that shows what people wrote as text."""

from __future__ import annotations

import pytest

from propcite.app.answering.steps import Step
from propcite.app.library.store import AnswerInfo, Turn
from propcite.app.library.store.tables import now
from propcite.attribution.citations import (
    Citation,
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Evidence,
    Label,
    Proposition,
    Verdict,
)
from propcite.retrieval.text import Passage, Span
from propcite.ui.asking.meter import meter_html
from propcite.ui.asking.turns import link_to
from propcite.ui.asking.words import covered_line, history_help, history_label, percent, shares, step_lines, turn_line

TEXT = "It is tall. It is red, it is old. Is it? So."
PASSAGE = Passage("p", "It is tall.")


def claim(start: int, end: int, label: Label | None, *, cited: bool = False) -> CitedProposition:
    verdict = Verdict(label, 0.9) if label else None
    citations = (Citation(1, Evidence(PASSAGE, Span(0, 11), 0.9, 0.9), verdict),) if cited and verdict else ()
    return CitedProposition(Proposition((Span(start, end),), TEXT[start:end], label is not None), verdict, citations)


def answer(*claims: CitedProposition) -> CitedAnswer:
    return CitedAnswer(TEXT, (CitedSentence(Span(0, len(TEXT)), claims),))


def test_the_meter_counts_the_words_that_need_support() -> None:
    held = shares(
        answer(
            claim(0, 10, Label.SUPPORTED, cited=True),
            claim(12, 21, Label.CONTRADICTED),
            claim(23, 32, Label.PARTLY),
            claim(34, 40, None),
        )
    )
    assert held == pytest.approx({Label.SUPPORTED: 10 / 28, Label.CONTRADICTED: 9 / 28, Label.PARTLY: 9 / 28})
    assert covered_line(held) == "36% of it is supported, 32% contradicted, 32% partly supported"


def test_words_of_two_facts_count_once_and_support_counts_first() -> None:
    held = shares(answer(claim(0, 10, Label.UNSUPPORTED), claim(0, 10, Label.SUPPORTED, cited=True)))
    assert held == {Label.SUPPORTED: 1.0}


def test_what_is_called_supported_without_a_citation_is_not() -> None:
    assert shares(answer(claim(0, 10, Label.SUPPORTED))) == {Label.UNSUPPORTED: 1.0}


def test_an_answer_without_facts_needs_no_support() -> None:
    assert shares(CitedAnswer("Hello.")) == {}
    assert covered_line({}) == "Nothing in it needs support"
    assert 'class="bar"' not in meter_html({})


def test_the_bar_has_a_part_for_each_state_and_says_it_in_words() -> None:
    html = meter_html({Label.SUPPORTED: 0.75, Label.UNSUPPORTED: 0.25})
    assert html.count("<i ") == 2
    assert 'class="supported" style="flex-grow:0.7500"' in html
    assert "75% of it is supported, 25% without support" in html


@pytest.mark.parametrize(("share", "said"), [(0.0001, "1%"), (0.9999, "99%"), (0.5, "50%")])
def test_a_share_is_never_rounded_to_all_or_nothing(share: float, said: str) -> None:
    assert percent(share) == said


def test_steps_to_come_are_named_too() -> None:
    begun = [Step("understand", 1.0), Step("retrieve", 61.0), Step("write", 0.0, done=False)]
    assert step_lines(begun, follows=True) == [
        "✓ Understood the question · 1 ms",
        "✓ Found passages · 61 ms",
        "▸ Writing…",
        "○ Splitting it into single statements",
        "○ Finding the words for each statement",
        "○ Checking that they support it",
    ]
    assert len(step_lines([], follows=False)) == 5


def test_turns_and_answers_are_told_in_short() -> None:
    assert turn_line(Turn("a", "Q", "Q", "word " * 100)).endswith("word …")
    info = AnswerInfo("a", "And?", "town", now(), 3, 2, after="b")
    assert history_label(info) == "↳ And?"
    assert "town · 2 of 3 statements supported" in history_help(info)


def test_a_link_is_to_the_answer_alone() -> None:
    assert link_to("https://cite.example/x/?answer=old&fact=2", "new") == "https://cite.example/x/?answer=new"
