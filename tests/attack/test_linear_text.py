"""Every function that reads text of strangers takes time in proportion to its length, on texts that are hard for it."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest
from attacking import EXAMPLES
from text_functions import FUNCTIONS, hard_texts
from timing import cpu_seconds

SMALL, LARGE = 1500, 6000  # characters
WORST = 2  # texts that a function is measured on
LINEAR = 2.5  # a text four times as long may take 2.5 times as much for each character
NOISE_S = 0.03

KNOWN = ("A.B.", "[", "?", "and ", "\n", "\t", "`", "~", "§", "a-", "1-", "1", "$1 ", "3 m ", "it ", "字。", "a,b\n")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_time_grows_with_the_text(name: str) -> None:
    function, small, large = FUNCTIONS[name], hard_texts(SMALL), hard_texts(LARGE)
    others = Random(name).sample(sorted(small), min(EXAMPLES, len(small)))
    chosen = dict.fromkeys([*(repr(unit) for unit in KNOWN), *others])
    function("Ada wrote it in 1843.")
    times = {text: cpu_seconds(partial(function, large[text]), tries=1) for text in chosen}
    for text in sorted(times, key=lambda text: -times[text])[:WORST]:
        allowed = LINEAR * LARGE / SMALL * cpu_seconds(partial(function, small[text])) + NOISE_S
        assert cpu_seconds(partial(function, large[text])) < allowed, text


@pytest.mark.parametrize("text", ["A.B." * 2000, "[" * 60_000, "?" * 50_000, "and " * 50_000], ids=lambda t: t[:4])
def test_an_answer_is_read_in_time(text: str) -> None:
    """What cost seconds: a quarter of the text must cost about a quarter."""
    read = FUNCTIONS["an answer, by rules"]
    read("Ada wrote it in 1843.")
    whole, part = (cpu_seconds(partial(read, t), tries=2) for t in (text, text[: len(text) // 4]))
    assert whole < LINEAR * 4 * part + NOISE_S
