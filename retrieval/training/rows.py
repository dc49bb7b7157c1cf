"""Rows of training data: a query, the sentences of a passage, and which of these answer the query."""

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

MAX_WORDS = 220  # per passage; a longer one is split into parts
MIN_CLAIM_WORDS = 5
DROPPED_SHARE = 0.15  # share of a claim's words that are dropped, so that the claim is no copy of the passage


@dataclass(frozen=True, slots=True)
class Row:
    """A query with the part of a passage that holds an answer; `positives` are the numbers of answering sentences."""

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
    """Read all rows of a JSON lines file that have something to learn from; an error names the line of a bad row."""
    rows = []
    for number, line in numbered_lines(path):
        try:
            row = _parse_row(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise RetrievalError(f"{path}, line {number}: this row is invalid: {error!r}") from error
        rows += [row] if row else []
    return rows


def read_questions(path: Path) -> list[Row]:
    """Read questions, each with the text that it is about, from JSON lines: rows without a positive sentence."""
    rows = []
    for number, line in numbered_lines(path):
        try:
            data = json.loads(line)
            text = str(data["text"])
            sentences = tuple(span.of(text).strip() for span in split_sentences(text))
            rows.append(Row(str(data["query"]), str(data.get("title") or ""), sentences, frozenset()))
        except (ValueError, KeyError, TypeError) as error:
            raise RetrievalError(f"{path}, line {number}: this row is invalid: {error!r}") from error
    return rows


def _parse_row(data: dict[str, Any]) -> Row | None:
    """Return the first part of the passage with both a positive and another sentence; None if there is no such part."""
    sentences = [str(s) for s in data["sentences"]]
    positives = {int(i) for i in data["positive_sentence_ids"]}
    missing = positives - set(range(len(sentences)))
    if missing:
        raise ValueError(f"there is no sentence {min(missing)}")
    title = str(data.get("title") or "").replace("_", " ")
    source, weight = str(data.get("source", "")), float(data.get("weight", 1.0))
    for start, end in passage_parts(sentences):
        inside = frozenset(i - start for i in positives if start <= i < end)
        if inside and len(inside) < end - start and weight > 0:
            return Row(str(data["query"]), title, tuple(sentences[start:end]), inside, source, weight)
    return None


def passage_parts(sentences: Sequence[str], max_words: int = MAX_WORDS) -> Iterator[tuple[int, int]]:
    """Split a passage at sentences into parts of at most `max_words`: the same parts for every query of the passage.

    >>> list(passage_parts(["one two", "three", "four five six"], 3))
    [(0, 2), (2, 3)]
    """
    start, words = 0, 0
    for i, sentence in enumerate(sentences):
        size = len(sentence.split())
        if i > start and words + size > max_words:
            yield start, i
            start, words = i, 0
        words += size
    if start < len(sentences):
        yield start, len(sentences)


def as_passage(title: str, sentences: Sequence[str]) -> Passage:
    return passage_from_sentences("", list(sentences), title)


def as_claim(row: Row, claims: Sequence[Sequence[str]], rng: random.Random) -> Row | None:
    """Replace the row's query by a claim of its passage: one proposition of one sentence, with some words dropped.

    `claims` holds the texts of each sentence's propositions.  None if all of them are too short.
    """
    usable = [(i, text) for i, texts in enumerate(claims) for text in texts if len(text.split()) >= MIN_CLAIM_WORDS]
    if not usable:
        return None
    number, text = rng.choice(usable)
    words = [word for word in text.split() if rng.random() >= DROPPED_SHARE]
    return replace(row, query=re.sub(r"\s+([.,;:])", r"\1", " ".join(words)), positives=frozenset({number}), weight=1.0)
