"""A model's reasoning is removed from its text, in whatever pieces the text arrives."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing import assert_grows_with_its_size

from propcite.attribution.llm.reasoning import END_TAGS, START_TAGS, ReasoningFilter

PARTS = (*START_TAGS, *END_TAGS, "<", "</th", "ink>", " ", "\n", "It cost 5.")


def in_pieces(text: str, places: Sequence[int] = ()) -> tuple[str, ReasoningFilter]:
    """Feed a text that is split at `places`; return what is passed on, and the filter."""
    reasoning, passed, last = ReasoningFilter(), "", 0
    for place in [*sorted(place for place in places if place < len(text)), len(text)]:
        passed += reasoning.feed(text[last:place])
        last = place
    return passed + reasoning.finish(), reasoning


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>5 or 6?</think>\n\nIt cost 5.", "It cost 5."),
        ("\n <thinking>Hm.</thinking>It cost 5.", "It cost 5."),
        ("[THINK]Hm.[/THINK] It cost 5.", "It cost 5."),
        ("It cost 5. <think> is a tag.", "It cost 5. <think> is a tag."),
        ("<thin", "<thin"),
        ("<b>It</b> cost 5 </", "<b>It</b> cost 5 </"),
        ("<think>It never ends", ""),
        ("<think></think>", ""),
        ("<think>a</think>b</think>c", "b</think>c"),
        ("<think>a</think> <think>b</think>c", "c"),
    ],
)
def test_reasoning_is_removed(text: str, answer: str) -> None:
    assert in_pieces(text)[0] == answer


@given(
    st.lists(st.sampled_from([*START_TAGS, *END_TAGS, "<", "</th", "ink>", " ", "\n", "It cost 5."]), max_size=6).map(
        "".join
    ),
    st.lists(st.integers(0, 60), max_size=12),
)
def test_result_does_not_depend_on_how_a_text_that_starts_with_reasoning_is_split(text: str, places: list[int]) -> None:
    if text.lstrip().startswith(START_TAGS):  # else text before an end tag may already be passed on
        assert in_pieces(text, places)[0] == in_pieces(text, range(len(text)))[0]


def test_reasoning_without_a_start_tag_is_recognised_by_its_end_tag() -> None:
    passed, reasoning = in_pieces("5 or 6?</think>It cost 5.", [4])
    assert reasoning.missed_start
    assert passed.endswith("It cost 5.")
    assert not in_pieces("<think>5 or 6?</think>It cost 5.")[1].missed_start


@given(st.text(st.characters(exclude_characters="<["), max_size=60), st.lists(st.integers(0, 60), max_size=9))
def test_text_without_tags_is_unchanged(text: str, places: list[int]) -> None:
    assert in_pieces(text, places)[0] == text.lstrip()


@pytest.mark.parametrize("unit", ["<", " ", "<think>", "</thin", "a"])
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    def work(size: int) -> None:
        text = "<think>" + unit * (size // len(unit))
        in_pieces(text, range(0, len(text), 4))

    assert_grows_with_its_size(work, 8_000, 32_000)
