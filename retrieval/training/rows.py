"""What training reads: a query, the sentences of a passage, and which of them hold what it asks for."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.sentences import split_sentences
from propcite.retrieval.splitter import passage_from_sentences
from propcite.retrieval.text import Passage

MOST_WORDS = 220  # of a passage that is trained on; a longer one is read in parts
FEWEST_WORDS = 5  # of a claim made from a passage
DROPPED = 0.15  # share of the words that such a claim loses, so that it is no copy


@dataclass(frozen=True, slots=True)
class Row:
    """A query with the part of its passage that holds an answer; `positives` are sentences by number."""

    query: str
    title: str
    sentences: tuple[str, ...]
    positives: frozenset[int]
    source: str = ""
    weight: float = 1.0

    @property
    def passage(self) -> tuple[str, tuple[str, ...]]:
        return self.title, self.sentences


def read_rows(path: Path) -> list[Row]:
    """All rows of a file of JSON lines that teach something; a bad row is named with its line."""
    rows = []
    for number, line in numbered_lines(path):
        try:
            row = _row(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise RetrievalError(f"{path}, line {number}: {error!r} is wrong with this row") from error
        rows += [row] if row else []
    return rows


def read_questions(path: Path) -> list[Row]:
    """Questions with the text that each was asked of, as JSON lines: rows of whose sentences none is marked."""
    rows = []
    for number, line in numbered_lines(path):
        try:
            told = json.loads(line)
            text = str(told["text"])
            sentences = tuple(span.of(text).strip() for span in split_sentences(text))
            rows.append(Row(str(told["query"]), str(told.get("title") or ""), sentences, frozenset()))
        except (ValueError, KeyError, TypeError) as error:
            raise RetrievalError(f"{path}, line {number}: {error!r} is wrong with this row") from error
    return rows


def _row(told: dict[str, Any]) -> Row | None:
    """The row's first part with a positive sentence and another beside it; none when there is no such part."""
    sentences = [str(s) for s in told["sentences"]]
    positives = {int(i) for i in told["positive_sentence_ids"]}
    absent = positives - set(range(len(sentences)))
    if absent:
        raise ValueError(f"there is no sentence {min(absent)}")
    title = str(told.get("title") or "").replace("_", " ")
    source, weight = str(told.get("source", "")), float(told.get("weight", 1.0))
    for start, end in parts(sentences):
        held = frozenset(i - start for i in positives if start <= i < end)
        if held and len(held) < end - start and weight > 0:
            return Row(str(told["query"]), title, tuple(sentences[start:end]), held, source, weight)
    return None


def parts(sentences: Sequence[str], most_words: int = MOST_WORDS) -> Iterator[tuple[int, int]]:
    """A passage's parts of at most so many words, cut at sentences: the same for every query of the passage.

    >>> list(parts(["one two", "three", "four five six"], 3))
    [(0, 2), (2, 3)]
    """
    start, words = 0, 0
    for i, sentence in enumerate(sentences):
        size = len(sentence.split())
        if i > start and words + size > most_words:
            yield start, i
            start, words = i, 0
        words += size
    if start < len(sentences):
        yield start, len(sentences)


def as_passage(title: str, sentences: Sequence[str]) -> Passage:
    return passage_from_sentences("", list(sentences), title)


def as_claim(row: Row, told: Sequence[Sequence[str]], dice: random.Random) -> Row | None:
    """The row with a claim of its passage in place of its query: a proposition of one sentence, some words dropped.

    `told` holds the propositions of each sentence as texts.
    """
    usable = [(i, text) for i, texts in enumerate(told) for text in texts if len(text.split()) >= FEWEST_WORDS]
    if not usable:
        return None
    number, text = dice.choice(usable)
    words = [word for word in text.split() if dice.random() >= DROPPED]
    return replace(row, query=re.sub(r"\s+([.,;:])", r"\1", " ".join(words)), positives=frozenset({number}), weight=1.0)


class Mixture:
    """Rows drawn without end: sources in proportion to the square root of their size, no passage twice in a batch."""

    def __init__(self, rows: Sequence[Row], seed: int) -> None:
        if not rows:
            raise RetrievalError(
                "no row of these files has a positive sentence beside others: there is nothing to learn"
            )
        self.dice = random.Random(seed)
        self._waiting: list[list[Row]] = []  # batches that are drawn and not yet given
        self._by_source: dict[str, list[Row]] = {}
        for row in rows:
            self._by_source.setdefault(row.source, []).append(row)
        self._sources = sorted(self._by_source)
        self._shares = [
            min(len(held), 3000) ** 0.5 * sum(row.weight for row in held) / len(held)
            for held in map(self._by_source.__getitem__, self._sources)
        ]
        self._num_passages = len({row.passage for row in rows})

    def draw(self, size: int) -> list[Row]:
        """Rows of passages that differ; fewer when there are not so many passages."""
        rows: list[Row] = []
        seen: set[tuple[str, tuple[str, ...]]] = set()
        while len(rows) < min(size, self._num_passages):
            source = self.dice.choices(self._sources, self._shares)[0]
            row = self.dice.choice(self._by_source[source])
            if row.passage not in seen:
                seen.add(row.passage)
                rows.append(row)
        return rows

    def batches(self, size: int) -> Iterator[list[Row]]:
        """Batches whose queries are of like length, for they are read together."""
        while True:
            if not self._waiting:
                rows = sorted(self.draw(4 * size), key=lambda row: len(row.query))
                self._waiting = [rows[i : i + size] for i in range(0, len(rows), size)]
                self.dice.shuffle(self._waiting)
            yield self._waiting.pop(0)

    def getstate(self) -> Any:
        """Where the drawing stands."""
        return self.dice.getstate(), list(self._waiting)

    def setstate(self, state: Any, /) -> None:
        dice, self._waiting = state
        self.dice.setstate(dice)
