"""Read files of rows, and know again what measurements use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.training.making.rewriting import plain
from propcite.retrieval.jsonl import numbered_lines

Row = dict[str, Any]

SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_OPENING = 60  # characters by which a sentence is known again


class HeldOut:
    """Titles and sentences that measurements use: what shares one of them is left out."""

    def __init__(self, files: Sequence[Path] = ()) -> None:
        self._titles: set[str] = set()
        self._openings: set[str] = set()
        for file in files:
            for row in read_rows(file):
                self._add(row)

    def has(self, title: str, sentences: Sequence[str]) -> bool:
        return plain(title) in self._titles or any(o in self._openings for o in map(_opening, sentences) if o)

    def _add(self, value: Any, name: str = "") -> None:
        """Add the texts of a row, at any depth; those called a title as titles."""
        if isinstance(value, dict):
            for key, inner in value.items():
                self._add(inner, key)
        elif isinstance(value, list):
            for inner in value:
                self._add(inner, name)
        elif isinstance(value, str) and name == "title":
            self._titles.update({plain(value.replace("_", " "))} - {""})
        elif isinstance(value, str):
            self._openings.update({_opening(s) for s in SENTENCE_END.split(value)} - {""})


def read_rows(file: Path) -> Iterator[Row]:
    """Yield the rows of a file; one that is no JSON object raises one line with its number."""
    for number, line in numbered_lines(file):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise AttributionError(f"{file}, line {number}: {error}") from error
        if not isinstance(row, dict):
            raise AttributionError(f"{file}, line {number}: a row must be a JSON object")
        yield row


def _opening(sentence: str) -> str:
    """Return the beginning by which a sentence is known again; empty for a short one."""
    return plain(sentence)[:_OPENING] if len(sentence.split()) > 5 else ""
