"""What is found wrong with propositions, by the shipped splitter's own reading."""

from __future__ import annotations

import pytest

from propcite.attribution.citations import Proposition
from propcite.attribution.propositions.faults import CUT_NAME, HALF, NO_VERB, TWO_ROLES, FaultFinder
from propcite.attribution.propositions.learned import LearnedSplitter
from propcite.retrieval.text import Span


@pytest.fixture(scope="module")
def finder() -> FaultFinder:
    return FaultFinder(LearnedSplitter())


def found(finder: FaultFinder, sentence: str, text: str, *kept: str) -> list[str]:
    """Return the faults of a proposition that holds these parts of the sentence."""
    spans = tuple(Span(sentence.index(part), sentence.index(part) + len(part)) for part in kept or (sentence,))
    other = Proposition((Span(0, len(sentence)),), sentence)
    return finder.faults(sentence, [Proposition(spans, text), other])[0]


FAULTY = [
    (
        "The archive was opened in 1990 and contained around 8500 letters.",
        "The archive was contained around 8500 letters.",
        HALF,
    ),
    (
        "The archive was opened in 1990 and contained many letters.",
        "The archive was contained many letters.",
        HALF,
    ),
    ("You can look up facts about installed packages.", "You can look up facts about.", HALF),
    ("Any patent licenses granted to You end.", "Any patent licenses granted to You.", NO_VERB),
    (
        "Ada is played by Vera Holm and Bo by Nils Dahl.",
        "Ada is played by Vera Holm by Nils Dahl.",
        TWO_ROLES,
    ),
]


@pytest.mark.parametrize(("sentence", "text", "fault"), FAULTY)
def test_a_fault_is_named(finder: FaultFinder, sentence: str, text: str, fault: str) -> None:
    assert fault in found(finder, sentence, text)


def test_a_title_in_pieces_is_a_fault(finder: FaultFinder) -> None:
    sentence = "North Harbour: March of the Gulls is a film by Vera Holm."
    assert CUT_NAME in found(finder, sentence, "March of the Gulls is a film.", "March of the Gulls is a film")
    assert not found(finder, sentence, "North Harbour: March of the Gulls is a film.", sentence[:44])


@pytest.mark.parametrize(
    "sentence",
    ["Ada wrote it and sang.", "The lake is fed by two rivers.", "The gallery opened in May and the café in June."],
)
def test_a_sentence_that_stays_whole_has_no_fault(finder: FaultFinder, sentence: str) -> None:
    assert finder.faults(sentence, [Proposition((Span(0, len(sentence)),), sentence)]) == [[]]
