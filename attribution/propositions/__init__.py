"""The splitters: a sentence of an answer into the smallest claims that can be true or false by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from propcite.attribution.citations import Proposition

WEIGHTS = Path(__file__).parents[1] / "models" / "splitter.safetensors"  # the learned splitter's, shipped


class Splitter(Protocol):
    """Anything that names the propositions of a sentence as spans of that sentence.

    `context` holds the sentences that came before it in the same answer, oldest first.
    Every content word of a sentence that needs support belongs to some proposition; no string makes it raise.
    """

    @property
    def name(self) -> str: ...

    def split(self, sentence: str, context: Sequence[str] = ()) -> list[Proposition]: ...

    def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[list[Proposition]]: ...
