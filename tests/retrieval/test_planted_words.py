"""A name, a number or a code that one passage of ten thousand has leads to its sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

import pytest
from planted_facts import KINDS, Planted, SmallEncoder, passages, planted

from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Passage, Span

NUMBER = 10_000
FACTS = planted(NUMBER, 24)


def some(ids: Sequence[str]) -> Mapping[str, Passage]:
    return {id_: passage for id_ in ids for passage in passages(int(id_[1:]) + 1, first=int(id_[1:]))}


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    """A saved index, searched as a large one is: by candidates."""
    encoder, folder = SmallEncoder(), tmp_path_factory.mktemp("planted")
    index, coming = TokenIndex(encoder.dimension, encoder.name, exact_up_to=0), passages(NUMBER)
    while batch := list(islice(coming, 4_000)):
        index.add(batch, encoder.encode_passages(batch))
    index.save(folder)
    return Retriever(encoder, TokenIndex.load(folder, exact_up_to=0), some)


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact.kind}-{fact.words}")
def test_a_question_that_names_it_finds_its_passage_first(collection: Retriever, fact: Planted) -> None:
    for way in ("both", "words"):
        (hit,) = collection.by(way).search(fact.question, k=1)
        assert hit.passage.id == f"p{fact.passage}"


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact.kind}-{fact.words}")
def test_a_claim_that_names_it_finds_its_sentence_first(collection: Retriever, fact: Planted) -> None:
    claim = fact.question.rstrip("?")
    ((hits,),) = collection.search_spans([claim], [[(Span(0, len(claim)),)]], 3)
    assert fact.words in hits[0].text


def test_the_words_alone_are_enough_and_vectors_alone_are_not(collection: Retriever) -> None:
    for fact in FACTS[: len(KINDS)]:
        (hit,) = collection.by("words").search(fact.words, Granularity.SENTENCE, 1)
        assert fact.words in hit.text
    numbers = [fact for fact in FACTS if fact.kind == "number"]
    by_vectors = replace(collection, way="vectors")
    found = [fact.words in by_vectors.search(fact.question, Granularity.SENTENCE, 1)[0].text for fact in numbers]
    assert not all(found)
