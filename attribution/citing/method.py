"""The interface of the ways to find evidence for an answer's claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from propcite.attribution.citations import Proposition
from propcite.attribution.citing.splitting import SplitSentence
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Hit

HitsByClaim = list[list[list[Hit]]]  # sentences x claims x hits, best first


class Method(Protocol):
    """Says what of each sentence is a claim, and finds evidence for it."""

    @property
    def name(self) -> str: ...

    @property
    def num_cited(self) -> int:
        """Return how many passages one claim may cite."""
        ...

    def claims(self, sentence: SplitSentence) -> tuple[Proposition, ...]: ...

    def find(self, sentences: Sequence[SplitSentence], retriever: Retriever, k: int) -> HitsByClaim:
        """Return the k best pieces of evidence for each claim that needs support; none for other claims."""
        ...
