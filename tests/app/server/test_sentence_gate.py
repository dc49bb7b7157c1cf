"""Text that waits for citations: nothing is lost or changed, and sentences end where a whole text's do."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.app.server.proxy.client import Client
from propcite.app.server.proxy.sentence_gate import SentenceGate
from propcite.app.server.proxy.whole_text import sentence_pieces, with_sources
from propcite.attribution.citations import CitedAnswer, CitedSentence
from propcite.attribution.prose.sentences import sentences_of

TEXTS = [
    "The barrier has fourteen gates. It cost 410 million euros.\n\nIt stands. ",
    "# Cost\n- It cost 5 euros. It is paid.\n```\nprint(5)\n```\nIt is blue.",
    "Dr. Smith paid 5.5 euros to the U.S. government [1]. “It is late!” he said. Then he left",
    "価格は五億。門は十四。It cost 5 euros, e.g. for Mr. Li.\nNext line without a stop\nand more",
    "<think>The museum is old. It is.</think>\nThe museum opened in 1987. It is new.",
    "   \n ",
]


def pass_through(text: str, cuts: list[int], late: bool) -> list[str]:
    """Return the text as it leaves the gate, divided where a sentence was cited; `late` cites all at the end."""
    gate, parts, current = SentenceGate(), [], ""
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    for start, end in pairwise(places):
        current += gate.feed(text[start:end])
        while not late and gate.is_waiting:
            assert gate.cited()
            parts, current = [*parts, current], gate.next()
    current += gate.finish()
    while gate.is_waiting:
        is_end = gate.cited()
        parts, current = ([*parts, current], "") if is_end else (parts, current)
        current += gate.next()
    current += gate.open()
    return [*parts, current]


@pytest.mark.parametrize("text", TEXTS)
@given(cuts=st.lists(st.integers(0, 200), max_size=30), late=st.booleans())
def test_text_is_divided_where_its_sentences_end(text: str, cuts: list[int], late: bool) -> None:
    parts = pass_through(text, cuts, late)
    assert "".join(parts) == text
    if "<think>" not in text:
        ends = [span.end for span in sentences_of(text)]
        places = [sum(map(len, parts[: n + 1])) for n in range(len(parts) - 1)]
        assert places == ends


@given(st.text(alphabet="ab .!?\n\r\u00a0`#-\U0001f30a[]1", max_size=80), st.lists(st.integers(0, 80), max_size=20))
def test_nothing_is_lost(text: str, cuts: list[int]) -> None:
    assert "".join(pass_through(text, cuts, False)) == text


@pytest.mark.parametrize("text", TEXTS)
def test_a_whole_text_is_divided_in_the_same_way(text: str) -> None:
    sentences = tuple(CitedSentence(span, ()) for span in sentences_of(text))
    answer = CitedAnswer(text, sentences)
    pieces = sentence_pieces(answer)
    assert "".join(piece for piece, _ in pieces) == text
    assert [piece.rstrip()[-4:] for piece, sentence in pieces if sentence] == [s.span.of(text)[-4:] for s in sentences]
    assert with_sources(answer, Client(sources_as_text=True)) == text
