"""Find the passages that an answer is made from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest

from propcite.app.answering.headings import is_headed
from propcite.app.answering.naming import named_in, names_in
from propcite.attribution.english import question_parts
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Hit

WIDER = 4  # times as many passages are looked at


def found_passages(collection: Retriever, question: str, count: int, before: str = "") -> tuple[Hit, ...]:
    """Return the passages to answer from, the most similar first, each once however often the collection has it.

    Half of them are the most similar to the question; the others are the most similar below a heading that asks it or
    is the name of a setting in it, and then those that name all that it names.
    Where passages have the words that the question puts in double quotes, only these are found.
    For a question that asks several things, each of them is looked for too, and all take turns.
    In a conversation, half are found for the question together with the one before, because a question that was
    completed may still lack what it is about.
    """
    parts = question_parts(question)
    asked = [question, *parts] if len(parts) > 1 else [question]
    if before:
        asked.append(f"{before} {question}")
    return _in_turn([_found(collection, one, count) for one in asked], count)


def _found(collection: Retriever, question: str, count: int) -> tuple[Hit, ...]:
    names, number = names_in(question), WIDER * count
    hits = collection.search(question, k=number, phrases=True) or collection.search(question, k=number)
    sure, rest = hits[: (count + 1) // 2], hits[(count + 1) // 2 :]

    def behind(hit: Hit) -> tuple[bool, bool]:
        return not is_headed(hit.passage, question, names), len(named_in(hit.passage, names)) < len(names)

    chosen = {hit.passage.id for hit in [*sure, *sorted(rest, key=behind)][:count]}  # the sort is stable
    return tuple(hit for hit in hits if hit.passage.id in chosen)


def _in_turn(found: Sequence[Sequence[Hit]], count: int) -> tuple[Hit, ...]:
    """Return the first passages of all, in turn and each once."""
    in_turn: dict[str, Hit] = {}
    for hit in chain.from_iterable(zip_longest(*found)):
        if hit is not None:
            in_turn.setdefault(hit.passage.id, hit)
    return tuple(in_turn.values())[:count]
