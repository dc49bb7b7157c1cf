"""Find the passages that an answer is made from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest

from propcite.app.answering.naming import named_in, names_in
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage

WIDER = 4  # times as many passages are looked at where a question names something


def found_passages(collection: Retriever, question: str, count: int, before: str = "") -> tuple[Passage, ...]:
    """Return the passages to answer from, the most similar first.

    Half of them are the most similar to the question; the others are the most similar that name all that it names.
    Where passages have the words that the question puts in double quotes, only these are found.
    In a conversation, half are found for the question together with the one before, because a question that was
    completed may still lack what it is about.
    """
    own = _found(collection, question, count)
    if not before:
        return own
    joined = _found(collection, f"{before} {question}", count)
    return _alternating(own, joined, count)


def _found(collection: Retriever, question: str, count: int) -> tuple[Passage, ...]:
    names = names_in(question)
    number = WIDER * count if names else count
    hits = collection.search(question, k=number, phrases=True) or collection.search(question, k=number)
    passages = [hit.passage for hit in hits]
    sure, rest = passages[: (count + 1) // 2], passages[(count + 1) // 2 :]
    named = sorted(rest, key=lambda passage: len(named_in(passage, names)) < len(names))  # stable
    chosen = {passage.id for passage in [*sure, *named][:count]}
    return tuple(passage for passage in passages if passage.id in chosen)


def _alternating(one: Sequence[Passage], other: Sequence[Passage], count: int) -> tuple[Passage, ...]:
    """Return the first passages of both, in turn and each once."""
    in_turn = {passage.id: passage for passage in chain.from_iterable(zip_longest(one, other)) if passage is not None}
    return tuple(in_turn.values())[:count]
