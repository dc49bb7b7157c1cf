"""Sentences of an answer: the same however its text arrives, and final as early as possible."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from timing import assert_grows_with_its_size

from propcite.attribution.prose.sentences import SentenceStream, prose_spans, sentences_of

WORDS = (
    "It rained. |The sun came out! |Dr. No left at 5 p.m. |It is 6.4 m high |e.g. |J. R. R. Tolkien |and so on|the|IT"
)
MARKS = "\n|\n\n|\r\n|\r|\u2028|- |* |1. |2) |> |[ ] |# |### |**|__|: |; |, |. |? |… |...|```\n|```|~~~\n|`|    |—|_|*"
TAGS = "<p>|</p>|<br>|<BR />|<li class='a. b'>|</li|<b>|<|>|`<p>`"
SIGNS = "[1]|[2, 3] |【1†s】|(|)|“|”| | a | b\t|c |他说。|真的吗？|ไทย|é|\u0301|😀|\ud83d|the|The|\x0b|\x85"
PIECES = [
    *(piece for pieces in (WORDS, MARKS, SIGNS, TAGS) for piece in pieces.split("|")),
    "A long line of words that goes on and on until it is as wide as a page of text is",
    "word " * 60,
    "x" * 300,
]
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.text(max_size=120))


def words(text: str) -> list[str]:
    return [span.of(text) for span in sentences_of(text)]


def split_pieces(pieces: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return the sentences of a text that arrives in pieces."""
    sentences = SentenceStream()
    results = [one for piece in pieces for one in sentences.feed(piece)]
    return [(span.start, span.end, words) for span, words in (*results, *sentences.finish())]


def split_at(text: str, places: Sequence[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[a:b] for a, b in pairwise(edges)]


@given(TEXTS, st.lists(st.integers(0, 10_000), max_size=30))
@example("\r\r\n\n\nIt rained.\r\nThe", [1, 2, 3, 4])
@example("It rained. [1, 2] Then it stopped.", list(range(40)))
@example("**It rained.** **The sun** came\n**It**", list(range(40)))
@example("#\n##x\n#", [1, 2, 3])
def test_sentences_do_not_depend_on_how_the_text_is_split_into_pieces(text: str, places: list[int]) -> None:
    whole = [(span.start, span.end, span.of(text)) for span in sentences_of(text)]
    assert split_pieces(split_at(text, places)) == whole
    assert split_pieces(list(text)) == whole


@given(TEXTS)
def test_sentences_are_in_the_prose_in_order_and_contain_a_word(text: str) -> None:
    regions, end = list(prose_spans(text)), 0
    for span in sentences_of(text):
        assert end <= span.start < span.end
        assert any(r.start <= span.start and span.end <= r.end for r in regions)
        assert any(c.isalnum() for c in span.of(text))
        assert span.trimmed(text) == span
        end = span.end


@given(TEXTS)
def test_every_word_of_the_prose_is_in_a_sentence(text: str) -> None:
    text = text.replace("<", "")  # words inside tags are in no sentence
    covered = {i for span in sentences_of(text) for i in range(span.start, span.end)}
    for region in prose_spans(text):
        for line_start in range(region.start, region.end):
            if text[line_start].isalpha() and line_start not in covered:
                raise AssertionError(f"{text[line_start]!r} at {line_start} of {text!r}")


@pytest.mark.parametrize(
    ("written", "final"),
    [
        ("It rained", []),
        ("It rained.", []),  # 6.4, or a quotation mark, may follow
        ("It rained. ", []),
        ("It rained. The", []),  # "The" may become "There" and "J" become "J."
        ("It rained. The ", ["It rained."]),
        ("It rained.\n", []),
        ("It rained.\n\n", ["It rained."]),
        ("It rained.\r\n\r\n", ["It rained."]),
        ("It rained.\n- Sun ", ["It rained."]),
        ("- It rained\n- Sun ", ["It rained"]),
        ("1. It rained\n2. Sun ", ["It rained"]),
        ("Met Dr. Who left. He ", ["Met Dr. Who left."]),
        ("It rained. [1][2] The ", ["It rained. [1][2]"]),
        ("It rained. [1", []),
        ("It rained.\n# ", ["It rained."]),
        ("It rained.\n```\n", ["It rained."]),
        ("It rained.\n**Sun** came ", ["It rained."]),
        ("雨が降った。晴", ["雨が降った。"]),
        ("It rained\nand snowed. The ", ["It rained\nand snowed."]),
        ("The report of the town council of Vennmouth\nCity. It ", []),  # a longer line may show that a title broke off
        ("The report of the town council of Vennmouth\nCity. It\n", []),
        (
            "The report of the town council of Vennmouth\nCity. It\nis ",
            ["The report of the town council of Vennmouth\nCity."],
        ),
    ],
)
def test_a_sentence_is_final_as_soon_as_nothing_can_change_it(written: str, final: list[str]) -> None:
    sentences = SentenceStream()
    results = [words for _, words in sentences.feed(written)]
    assert results == final


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("```python\nIt is code.\n", []),
        ("```\nIt is code.\n````\nIt is prose.", ["It is prose."]),
        ("Use ```it``` here. It works.", ["Use ```it``` here.", "It works."]),
        ("~~~\nIt is code.\n```\n~~~\nIt is prose.", ["It is prose."]),
        ("# It is a heading.\nIt is prose.", ["It is prose."]),
        ("**Costs**\nIt is dear.", ["It is dear."]),
        ("**It is dear.**\nIt is red.", ["**It is dear.**", "It is red."]),
        ("#5 is alive. It moves.", ["#5 is alive.", "It moves."]),
        ("1. It rained. It snowed\n2. Sun came", ["It rained.", "It snowed", "Sun came"]),
        ("| a | b |\n|---|---|\n| It rained. Much | 2 |", ["| a | b |", "| It rained. Much | 2 |"]),
        ("It rained in the town and all along the coast, where the wind\nwas strong. It stopped.", 2),
        ("<p>It rained.</p><p>It stopped.</p>", ["It rained.", "It stopped."]),
        ("It rained.<br>It stopped.<BR/>It snowed", ["It rained.", "It stopped.", "It snowed"]),
        ("<ul><li>It rained<li class='a. b'>It <b>is</b> dry.</ul>", ["It rained", "It <b>is</b> dry."]),
        (
            "Write `<p>` first. Then `<br>`, as in a <b, or 1 <p.",
            ["Write `<p>` first.", "Then `<br>`, as in a <b, or 1 <p."],
        ),
        ("<p>- It rained.</p>", ["It rained."]),
        ("It rained.\r\nIt stopped.\r\n\r\n- It froze\r\n", ["It rained.", "It stopped.", "It froze"]),
    ],
)
def test_sentences(text: str, sentences: list[str] | int) -> None:
    results = words(text)
    assert (results if isinstance(sentences, list) else len(results)) == sentences


@pytest.mark.parametrize(
    "unit",
    [
        "It rained on the town. ",
        "- It rained\n",
        "word ",
        "x",
        ". ",
        "**",
        "```",
        "`",
        "#",
        "\n",
        " ",
        "a\tb\n",
        "[",
        "雨。",
    ],
)
def test_time_is_linear_in_the_text(unit: str) -> None:
    def work(size: int) -> None:
        text = unit * (size // len(unit))
        split_pieces([text[i : i + 4] for i in range(0, len(text), 4)])

    assert_grows_with_its_size(work, 15_000, 60_000)
