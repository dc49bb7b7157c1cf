"""The network's own claims, worded by the parse."""

from __future__ import annotations

import pytest

from propcite.attribution.propositions.learned import LearnedSplitter

WORDED = [
    (
        "He was famous for his prints, book covers, posters and furniture.",
        [
            "He was famous for his prints.",
            "He was famous for his book covers.",
            "He was famous for his posters.",
            "He was famous for his furniture.",
        ],
    ),
    (
        "Debian 3.0 was released in 2002 and contained around 8500 binary packages.",
        ["Debian 3.0 was released in 2002.", "Debian 3.0 contained around 8500 binary packages."],
    ),
    (
        "She served as treasurer of the sorority and as president of the field hockey club.",
        ["She served as treasurer of the sorority.", "She served as president of the field hockey club."],
    ),
    (
        "Deadshot is voiced by Christian Slater and Amanda Waller by Pam Grier.",
        ["Deadshot is voiced by Christian Slater.", "Amanda Waller is voiced by Pam Grier."],
    ),
    (
        "Paris, which is the capital of France, lies on the Seine.",
        ["Paris is the capital of France.", "Paris lies on the Seine."],
    ),
]
WHOLE = [
    "Despite its name, the Blue Desert is neither blue nor, by most definitions, a desert.",
    "The pump did not fail in May or June.",
    "He was also the first driver to win the BTCC in a rear-wheel drive car since 1996.",
    "The line runs between Oslo and Bergen.",
    "The minister said that taxes would rise in May.",
]


@pytest.fixture(scope="module")
def splitter() -> LearnedSplitter:
    return LearnedSplitter()


@pytest.mark.parametrize(("sentence", "claims"), WORDED)
def test_the_words_of_a_claim_are_worded_as_a_sentence(
    splitter: LearnedSplitter, sentence: str, claims: list[str]
) -> None:
    assert [p.text for p in splitter.split(sentence)] == claims


@pytest.mark.parametrize("sentence", WHOLE)
def test_a_sentence_stays_whole_whose_parts_would_say_something_else(splitter: LearnedSplitter, sentence: str) -> None:
    assert [p.text for p in splitter.split(sentence)] == [sentence]


def test_the_style_clause_keeps_longer_claims(splitter: LearnedSplitter) -> None:
    sentence = "Marta Sund is a Norwegian painter and sculptor."
    assert len(splitter.with_style("clause").split(sentence)) < len(splitter.split(sentence))
