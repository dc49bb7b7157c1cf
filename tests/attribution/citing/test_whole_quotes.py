"""A sentence that a source has word for word has support, however it was split."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from propcite.attribution.citations import CitedAnswer, Proposition
from propcite.attribution.propcite import PropCite
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Span

HOTEL = "A hotel may cost up to £140 a night in London and £95 elsewhere."
PASSAGES = [
    passage_from_text("hotels", f"1. {HOTEL}\n2. Breakfast is paid back.", "Travel", "policy"),
    passage_from_text("trains", "Trains are booked in second class.", "Travel", "policy"),
]


class Crossing:
    """A splitter that loses the words in the middle: "A hotel may cost up to £95 elsewhere"."""

    name = "crossing"

    def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[list[Proposition]]:
        return [self.split(sentence, context) for sentence, context in zip(sentences, contexts, strict=True)]

    def split(self, sentence: str, context: Sequence[str] = ()) -> list[Proposition]:
        del context
        place = sentence.find("£140")
        if place < 0:
            return [Proposition((Span(0, len(sentence)),), sentence)]
        ends = (0, place + 4, len(sentence))
        first, second = (Span(*both) for both in pairwise(ends))
        wrong = f"{sentence[:place]}£95 a night in London."
        return [Proposition((first,), f"{first.of(sentence)} a night in London."), Proposition((second,), wrong)]


@pytest.fixture(scope="module")
def propcite(encoder: Encoder) -> PropCite:
    return PropCite(encoder, splitter=Crossing())


def verdicts(answer: CitedAnswer) -> list[tuple[str, str]]:
    return [(fact.proposition.text, fact.verdict.label.value) for fact in answer.facts if fact.verdict]


@pytest.mark.parametrize("sentence", [HOTEL, HOTEL.replace("may cost", "may  cost").rstrip(".")])
def test_a_quoted_sentence_that_was_split_wrongly_is_one_claim(propcite: PropCite, sentence: str) -> None:
    answer = propcite.cite(f"Trains are booked in second class. {sentence}", PASSAGES)
    assert verdicts(answer) == [("Trains are booked in second class.", "supported"), (sentence, "supported")]
    assert answer.facts[1].citations[0].quote == f"1. {HOTEL}"
    assert answer.text[answer.facts[1].proposition.spans[0].start :] == sentence
    assert [len(sentence.citations) for sentence in answer.sentences] == [1, 1]


def test_a_sentence_in_other_words_is_judged_by_its_claims(propcite: PropCite) -> None:
    changed = HOTEL.replace("elsewhere", "in Leeds")
    texts = [text for text, _ in verdicts(propcite.cite(changed, PASSAGES))]
    assert texts == ["A hotel may cost up to £140 a night in London.", "A hotel may cost up to £95 a night in London."]


def test_a_quoted_sentence_whose_claims_have_support_stays_split(encoder: Encoder) -> None:
    answer = PropCite(encoder).cite(
        "Ada Moor leads the works and Bo Hale pays them.",
        [
            "Ada Moor leads the works and Bo Hale pays them.",
        ],
    )
    assert [label for _, label in verdicts(answer)] == ["supported", "supported"]
