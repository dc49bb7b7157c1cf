"""Sentences that differ in their numbers alone, as a table's rows do: token vectors hardly tell one from another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from propcite.attribution.english.words import numbers
from propcite.retrieval.text import Hit


def rows_beside(hits: Sequence[Hit], stating: Callable[[set[str]], bool]) -> list[Hit]:
    """The sentences of these hits' passages that state such numbers, with the score of their passage's best hit."""
    passages = {hit.passage.id: hit for hit in reversed(hits)}
    return [
        replace(hit, spans=(sentence.span.trimmed(hit.passage.text),))
        for hit in reversed(passages.values())
        for sentence in hit.passage.sentences
        if not sentence.is_heading and stating(numbers(sentence.span.of(hit.passage.text)))
    ]
