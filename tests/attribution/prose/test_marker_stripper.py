"""A language model's own markers are removed from a text as it arrives, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing import assert_grows_with_its_size

from propcite.attribution.prose.marker_stripper import MarkerStripper, remove_markers

NUMBERS = st.lists(st.integers(1, 999), min_size=1, max_size=4).map(lambda n: ", ".join(map(str, n)))
MARKERS = st.one_of(
    NUMBERS.map("[{}]".format),
    NUMBERS.map("[[{}]](https://a.b/c)".format),
    NUMBERS.map("[Sources: {}]".format),
    NUMBERS.map("(Source: {})".format),
    st.integers(1, 99).map("[^{}]".format),
    st.integers(1, 99).map("<sup>[{}]</sup>".format),
    NUMBERS.map(lambda n: f"<sup>[{n}] [1], [2]</sup>"),
    st.integers(0, 99).map("【{}†source】".format),
    st.integers(0, 99).map("【4:{}†a report.pdf】".format),
    st.integers(0, 99).map("<|file-{}|>".format),
    st.integers(0, 99).map("\ue200cite\ue202turn0file{}\ue201".format),
)
WORDS = st.lists(st.sampled_from("It rained on the town (sources say so) a < b [0, 1] [2024] .".split()), max_size=6)
SIGNS = st.sampled_from(
    [
        *"[](){}<>|,-^†:`\n\t #a19【】 ",
        "[1]",
        "[2, 3",
        "source ",
        "(Source: 2)",
        "```\n",
        "<|fi",
        "and",
        "<sup>",
        "</sup>",
    ]
)


def in_pieces(text: str, places: Sequence[int]) -> str:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    stripper = MarkerStripper()
    pieces = [stripper.feed(text[a:b]) for a, b in pairwise(edges)]
    return "".join(pieces) + stripper.finish()


@given(st.lists(SIGNS, max_size=40).map("".join), st.lists(st.integers(0, 1000), max_size=20))
def test_the_result_does_not_depend_on_how_the_text_is_split_into_pieces(text: str, places: list[int]) -> None:
    assert in_pieces(text, places) == remove_markers(text)
    assert in_pieces(text, range(len(text))) == remove_markers(text)


@given(st.lists(st.tuples(WORDS.map(" ".join), MARKERS), max_size=5))
def test_no_part_of_a_marker_is_ever_passed_on(parts: list[tuple[str, str]]) -> None:
    text = "".join(f"{words} {marker}" for words, marker in parts)
    stripper, shown = MarkerStripper(), ""
    left = " ".join("".join(f"{words} " for words, _ in parts).split())
    for character in text:
        shown += stripper.feed(character)
        assert left.replace(" ", "").startswith(shown.replace(" ", ""))
    assert (shown + stripper.finish()).replace(" ", "") == left.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("It rained [1].", "It rained."),
        ("[1] It rained. [2] It stopped.", "It rained. It stopped."),
        ("It rained [1][2] and [3-5] stopped (refs 6 and 7).", "It rained and stopped."),
        ("In [0, 1], in 2024 [2024], [a], [1.5] and (1).", "In [0, 1], in 2024 [2024], [a], [1.5] and (1)."),
        ("See [the report](x) and [1](http://x.y/z).", "See [the report](x) and."),
        ("Use `a[1]` or\n```\nb[2]\n```\nIt works [3].", "Use `a[1]` or\n```\nb[2]\n```\nIt works."),
        ("An open `code [1]\nends with its line [2].", "An open `code [1]\nends with its line."),
        ("It rained [1", "It rained [1"),
        ("It rained<sup>[1], [2]</sup>.<SUP></SUP> Then it stopped <sup>[3] </sup>.", "It rained. Then it stopped."),
        ("5 m<sup>2</sup> of rain<sup>[1]", "5 m<sup>2</sup> of rain<sup>"),
        ("", ""),
    ],
)
def test_markers_are_removed(text: str, left: str) -> None:
    assert remove_markers(text) == left


@given(st.text(st.characters(exclude_characters="[(【<\ue200"), max_size=60), st.lists(st.integers(0, 99), max_size=9))
def test_a_text_without_brackets_is_unchanged(text: str, places: list[int]) -> None:
    assert in_pieces(text, places) == text


def test_a_text_without_markers_is_held_back_by_two_characters_at_most() -> None:
    stripper, text = MarkerStripper(), "It rained (a lot) on [the] town. 5 < 6 | 7"
    passed = 0
    for number, character in enumerate(text, start=1):
        passed += len(stripper.feed(character))
        assert number - passed <= 2


@pytest.mark.parametrize(
    "unit", ["[", "[1", " ", "(source ", "`", "<|file", "【1†", "a [1] ", "\ue200", "[1](", "```\n"]
)
def test_time_is_linear_in_the_text(unit: str) -> None:
    def work(size: int) -> None:
        text = unit * (size // len(unit))
        in_pieces(text, range(0, len(text), 4))

    assert_grows_with_its_size(work, 8_000, 32_000)


def test_every_number_from_1_to_199_is_a_marker() -> None:
    assert not re.search(r"\d", remove_markers("".join(f"It rained [{n}]. " for n in range(1, 200))))
