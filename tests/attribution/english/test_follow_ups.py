"""Follow-up questions are completed from the question before; complete questions stay unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.english import Exchange, standalone_question
from propcite.attribution.english.questions.topics import topics

BARRIER = "How high is the new flood barrier, when was it finished and what did it cost?"
SPENT = "How much did the programme spend in 2023?"
BRIDGE = "When does Heron Bridge open to the public?"
PUMPS = "How much water can the pumps at Alder Sluice lift together, and who maintains them?"
FLOW = "What was the highest flow of the Venn at Mill Weir in 2020?"
BATH = "How warm was the water of the harbour bath in July 2024?"
BASIN = "How much did the draft budget set aside for the public works in the Old Basin?"
SITES = "How many apprentices worked on the sites in 2022?"

FOLLOW_UPS = [
    # pronouns
    (BARRIER, "Why did it cost more than planned?", "Why did the new flood barrier cost more than planned?"),
    (BARRIER, "How wide are its gates?", "How wide are the new flood barrier's gates?"),
    (BRIDGE, "How long is it?", "How long is Heron Bridge?"),
    (BRIDGE, "Who is its architect?", "Who is Heron Bridge's architect?"),
    (PUMPS, "What must each of them deliver?", "What must each of the pumps at Alder Sluice deliver?"),
    (SITES, "How old are they?", "How old are the apprentices?"),
    (BRIDGE, "It is how long?", "Heron Bridge is how long?"),
    ("Why did the new flood barrier cost more?", "How wide is it?", "How wide is the new flood barrier?"),
    ("How long did the old bakery stay closed?", "Who owned it?", "Who owned the old bakery?"),
    ("How wide are the new flood barrier's gates?", "And who designed it?", "And who designed the new flood barrier?"),
    ("How wide are the barrier's gates?", "Who painted them?", "Who painted the barrier's gates?"),
    # places and times
    (FLOW, "What is measured there?", "What is measured at Mill Weir?"),
    (BATH, "What does it cost an adult to swim there?", "What does it cost an adult to swim at the harbour bath?"),
    (SPENT, "How many apprentices were there then?", "How many apprentices were there in 2023?"),
    (SPENT, "How many homes were built in that year?", "How many homes were built in 2023?"),
    # fragments of questions
    (SPENT, "And in 2022?", "How much did the programme spend in 2022?"),
    (SPENT, "2022?", "How much did the programme spend in 2022?"),
    (SITES, "what about 2023", "How many apprentices worked on the sites in 2023?"),
    (BATH, "And in August?", "How warm was the water of the harbour bath in August 2024?"),
    (FLOW, "and in 2019?", "What was the highest flow of the Venn at Mill Weir in 2019?"),
    ("How long does the barrier take to close?", "And the ferry?", "How long does the ferry take to close?"),
    (BRIDGE, "And Alder Sluice?", "When does Alder Sluice open to the public?"),
    (BARRIER, "And its length?", "What is the length of the new flood barrier?"),
    ("How large is the meadow?", "And in 2019?", "How large is the meadow in 2019?"),
    # questions of one or two words
    ("How much did it cost?", "Why?", "How much did it cost, and why?"),
    ("Was Debian 1.0 ever released?", "Why not?", "Was Debian 1.0 ever released, and why not?"),
]
BASIN_FINAL = "How much did the final budget set aside for the public works in the Old Basin?"


@pytest.mark.parametrize(
    ("before", "question", "complete"), [*FOLLOW_UPS, (BASIN, "And the final budget?", BASIN_FINAL)]
)
def test_a_follow_up_is_completed(before: str, question: str, complete: str) -> None:
    assert standalone_question(question, [Exchange(before, "")]) == complete


@pytest.mark.parametrize(
    "question",
    [
        "Who won the football championship in 2022?",
        "How large is the eelgrass meadow in the outer harbour?",
        "When did Alder Sluice open, and who paid for it?",
        "Does the council meet when it is asked to?",
        "What is the length?",
        "When was that decided?",
        "Wie lange dauert es?",
        "Combien ça coûte ?",
        "thanks",
        "Tell me more",
        "…",
    ],
)
def test_a_complete_question_is_unchanged(question: str) -> None:
    assert standalone_question(question, [Exchange(BARRIER, "")]) == question


def test_a_chain_of_questions_keeps_its_topic() -> None:
    second = Exchange("How much did the programme spend in 2022?", "€71.3 million.")
    assert (
        standalone_question("And in 2021?", [Exchange(SPENT, ""), second])
        == "How much did the programme spend in 2021?"
    )


def test_persons_are_found_in_the_answer() -> None:
    before = Exchange("Who designed the barrier?", "Stellan Rook Engineers designed the barrier.")
    assert standalone_question("What else did they design?", [before]) == "What else did Stellan Rook Engineers design?"


def test_a_question_without_a_conversation_is_unchanged() -> None:
    assert standalone_question("And in 2022?", []) == "And in 2022?"
    assert standalone_question("And in 2022?", [Exchange("", "")]) == "And in 2022?"
    assert standalone_question("Why is it?", [Exchange("Why?", "")]) == "Why is it?"


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_accepted(question: str, before: str, answer: str) -> None:
    complete = standalone_question(question, [Exchange(before, answer)])
    assert complete.strip() or not question.strip()
    assert all(before[topic.start : topic.end] == topic.text for topic in topics(before))


@given(
    st.lists(
        st.sampled_from("and it the its they in 2022 Venn gate there that of at how why cost is ? , …".split()),
        max_size=9,
    )
)
def test_any_words_are_accepted(words: list[str]) -> None:
    question = " ".join(words)
    assert (
        standalone_question(question, [Exchange(question, ""), Exchange(BARRIER, "")]).strip() or not question.strip()
    )
