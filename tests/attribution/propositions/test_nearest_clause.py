"""Finding the clause of a sentence that states a claim."""

import pytest

from propcite.attribution.propositions.nearest_clause import nearest_clause

BARRIER = "The barrier is 6.4 metres high, measured from the datum to the top of the gates."
BRIDGE = "The bridge is 96 metres long and 5.5 metres wide, and it carries walkers and cyclists only."


@pytest.mark.parametrize(
    ("claim", "sentence", "words"),
    [
        ("The barrier is 6.4 metres high.", BARRIER, ["The barrier is 6.4 metres high"]),
        (
            "It is measured from the datum.",
            BARRIER,
            ["The barrier is", "measured from the datum to the top of the gates"],
        ),
        ("It carries cyclists only.", BRIDGE, ["it carries", "cyclists only"]),
        ("The bridge is 5.5 metres wide.", BRIDGE, ["The bridge is 96 metres long and 5.5 metres wide"]),
        ("Ada Holm kept the light.", BRIDGE, []),  # no clause is near
        ("It rained.", "It rained on Monday.", []),  # the whole sentence is one clause
        ("", BRIDGE, []),
        ("It rained.", "", []),
    ],
)
def test_the_nearest_clause_is_found_by_its_words(claim: str, sentence: str, words: list[str]) -> None:
    assert [span.of(sentence) for span in nearest_clause(claim, sentence)] == words
