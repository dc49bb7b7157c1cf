"""Find sentences by their numbers: rows of a table differ in these alone, which token vectors hardly distinguish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from propcite.attribution.english.words import numbers
from propcite.retrieval.text import Hit


def sentences_with_numbers(hits: Sequence[Hit], accepts: Callable[[set[str]], bool]) -> list[Hit]:
    """Return the sentences of the hits' passages whose numbers are accepted, with the score of the passage's best hit.

    `accepts` receives the numbers of a sentence.
    """
    best_of_passage = {hit.passage.id: hit for hit in reversed(hits)}
    return [
        replace(hit, spans=(sentence.span.trimmed(hit.passage.text),), copies=())
        for hit in reversed(best_of_passage.values())
        for sentence in hit.passage.sentences
        if not sentence.is_heading and accepts(numbers(sentence.span.of(hit.passage.text)))
    ]
