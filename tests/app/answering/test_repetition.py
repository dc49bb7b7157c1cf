"""A model that repeats itself is stopped, and its passage stands once; honest text passes as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.app.answering.generators.repetition import WINDOW, Repetition, without_repetition

SENTENCE = "The VHP was finished on 18 October 2024."
CYCLE = "The dam is high. Nobody knows, however, why it is. It lies in the valley of the river."
LONG = " ".join(f"Part {number} of the wall is {number + 3} metres long." for number in range(8))


def shown(text: str, size: int = 4) -> tuple[str, bool, int]:
    """What is shown of a text that comes in pieces, whether it loops, and how much of it was read."""
    repetition, pieces, read = Repetition(), [], 0
    while read < len(text) and not repetition.loops:
        pieces.append(repetition.feed(text[read : read + size]))
        read += size
    return "".join([*pieces, repetition.finish()]), repetition.loops, read


LOOPS = {
    "a sentence": (f"It is high. {SENTENCE}", f" {SENTENCE}" * 60),
    "a cycle of sentences": (f"It is high. {CYCLE}", f" {CYCLE}" * 20),
    "a long passage": (LONG, f"\n\n{LONG}" * 9),
    "words without a stop": ("It is so and the", " and the" * 300),
    "one word": ("It is very", " very" * 300),
    "items of a list": (f"1. {SENTENCE}", "".join(f"\n{n}. {SENTENCE}" for n in range(2, 60))),
    "lines": (SENTENCE, f"\n{SENTENCE}" * 60),
    "Japanese": ("高さです。障壁は高さ6メートルです。", "障壁は高さ6メートルです。" * 40),
    "a sentence that ends like the one before": ("It is of metal. X is of metal.", " X is of metal." * 60),
    "lines that end like the one before": ("A wall of metal\nX is of metal", "\nX is of metal" * 60),
    "marked words": (f"**{SENTENCE}**", f" *{SENTENCE}*" * 60),
}


@pytest.mark.parametrize(("once", "again"), LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_passage_that_comes_again_and_again_stands_once(once: str, again: str, size: int) -> None:
    text, loops, read = shown(once + again, size)
    assert loops
    assert text.strip() in (once, once[:-1])
    assert read < len(once) + len(again) / 3
    assert without_repetition(once + again).strip() == text.strip()


def test_what_has_no_words_at_all_is_stopped_too() -> None:
    for endless in ("." * 5000, "\n" * 5000, "ha" * 3000, "=" * 5000):
        _, loops, read = shown(f"It is high. {endless}")
        assert loops
        assert read < 2500


HONEST = {
    "sentences that differ in a word": " ".join(
        f"It costs {n} euros in {m}." for n in (3, 4) for m in ("May", "June", "July", "August", "September", "October")
    ),
    "a numbered list": "".join(f"{n}. The ferry leaves at {n} o'clock in the morning.\n" for n in range(1, 30)),
    "a table": "| year | open | paid |\n|---|---|---|\n" + "| no | no | no |\n" * 40 + "\nNone was open.",
    "a table without bars at its ends": "a | b | c\n" + "no | no | no\n" * 40,
    "code": "Write this:\n\n```asm\n" + "nop nop nop\n" * 40 + "```\n\nIt does nothing.",
    "a poem": "\n".join(f"Verse {n} of the old song\nand the ferry leaves at nine" for n in range(20)),
    "a sentence said twice": f"{SENTENCE} {SENTENCE} It is high.",
    "no, no": "No, no, no, no! Ha ha ha ha ha ha.",
    "a row of numbers": "The readings were 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 and 1.",
    "a list of the same": "- not known\n" * 8,
    "spaces and breaks": "  It is high. \n\n\n It is low.\t\n",
    "marks": "12. First\n13. Second\n* * *\n- - -\n> a\n> > b\n(3) c\n#5 is paid",
}


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
@pytest.mark.parametrize("size", [1, 4, 5000])
def test_honest_text_passes_as_it_is(text: str, size: int) -> None:
    assert shown(text, size)[:2] == (text, False)


@given(
    st.lists(
        st.sampled_from(["a", "b", "The", "3", "4.", "\n", " ", "  ", "|", "- ", "```\n", "。", "水", "x" * 30, "ha"])
    ),
    st.integers(1, 9),
)
def test_what_is_shown_is_the_beginning_of_the_text_however_it_is_cut(pieces: list[str], size: int) -> None:
    text = "".join(pieces)
    said, loops, _ = shown(text, size)
    assert text.startswith(said)
    assert loops or said == text
    assert shown(text, 10_000)[1] == loops


def test_a_word_that_repeats_nothing_is_shown_before_it_ends() -> None:
    repetition = Repetition()
    assert [repetition.feed(piece) for piece in ("The fer", "ry lea", "ves. The", " fer", "ry", " rests", ".")] == [
        "The fer",
        "ry lea",
        "ves.",
        "",
        "",
        " The ferry rests",
        ".",
    ]


def test_words_far_away_are_not_remembered() -> None:
    text = " ".join(f"w{n}" for n in range(WINDOW + 50)) + " "
    assert not shown(text * 3, 50)[1]
