"""A model's thoughts are left out of its text, however it comes in pieces."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing import assert_grows_with_its_size

from propcite.attribution.llm.thoughts import CLOSES, OPENS, Thoughts


def in_pieces(text: str, places: Sequence[int] = ()) -> tuple[str, Thoughts]:
    thoughts, passed, last = Thoughts(), "", 0
    for place in [*sorted(place for place in places if place < len(text)), len(text)]:
        passed += thoughts.feed(text[last:place])
        last = place
    return passed + thoughts.finish(), thoughts


@pytest.mark.parametrize(
    ("text", "left"),
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
def test_what_is_left(text: str, left: str) -> None:
    assert in_pieces(text)[0] == left


@given(
    st.lists(st.sampled_from([*OPENS, *CLOSES, "<", "</th", "ink>", " ", "\n", "It cost 5."]), max_size=6).map("".join),
    st.lists(st.integers(0, 60), max_size=12),
)
def test_where_it_is_cut_does_not_matter_once_it_has_begun(text: str, places: list[int]) -> None:
    if text.lstrip().startswith(OPENS):  # else what came before a closing sign is told or not, as it was there or not
        assert in_pieces(text, places)[0] == in_pieces(text, range(len(text)))[0]


def test_thoughts_whose_beginning_nobody_saw_are_known_by_their_end() -> None:
    passed, thoughts = in_pieces("5 or 6?</think>It cost 5.", [4])
    assert thoughts.late
    assert passed.endswith("It cost 5.")
    assert not in_pieces("<think>5 or 6?</think>It cost 5.")[1].late


@given(st.text(st.characters(exclude_characters="<["), max_size=60), st.lists(st.integers(0, 60), max_size=9))
def test_a_text_without_signs_stays_as_it_is(text: str, places: list[int]) -> None:
    assert in_pieces(text, places)[0] == text.lstrip()


@pytest.mark.parametrize("unit", ["<", " ", "<think>", "</thin", "a"])
def test_time_grows_with_the_text_and_not_faster(unit: str) -> None:
    def work(size: int) -> None:
        text = "<think>" + unit * (size // len(unit))
        in_pieces(text, range(0, len(text), 4))

    assert_grows_with_its_size(work, 8_000, 32_000)
