"""What people labelled: claims with evidence, and answers with the passages they were written from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from propcite.retrieval.text import Passage


@dataclass(frozen=True, slots=True)
class GoldEvidence:
    """A claim, documents in sentences, and the sentences that support it: (document, sentence)."""

    source: str
    claim: str
    documents: tuple[Passage, ...]
    supporting: frozenset[tuple[int, int]]
    id: str = ""


@dataclass(frozen=True, slots=True)
class GoldVerdict:
    """A claim, the evidence cited for it, and whether that fully supports it.

    `label` is the row's own word for it.  Claims with the same `answer` are its sentences.
    """

    source: str
    question: str
    claim: str
    evidence: tuple[str, ...]
    supported: bool
    id: str = ""
    context: str = ""
    kind: str = ""
    label: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """An answer and passages, among them those that it was written from."""

    source: str
    question: str
    text: str
    passages: tuple[Passage, ...]
    written_from: frozenset[str]
    id: str = ""


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer with its labelled citations: 1 for full support, 0.5 for partial, 0 for none.

    `claims` are the ids of its verdicts: one per citation, or one for all of them together, which `together` labels.
    """

    claims: tuple[str, ...]
    citations: tuple[float, ...]
    together: float | None = None


@dataclass(frozen=True, slots=True)
class GoldSupport:
    """An answer whose sentences were labelled by what they cite, with those that cite nothing."""

    source: str
    sentences: tuple[CitedSentence, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Nugget:
    """A fact that an answer should hold, with the id of its verdict, empty for an answer without words."""

    claim: str
    vital: bool
    held: float


@dataclass(frozen=True, slots=True)
class GoldNuggets:
    """The facts that an answer should hold, labelled by whether it does."""

    source: str
    nuggets: tuple[Nugget, ...]
    id: str = ""


Gold = GoldEvidence | GoldVerdict | GoldAnswer | GoldSupport | GoldNuggets
GoldRow = TypeVar("GoldRow", GoldEvidence, GoldVerdict, GoldAnswer)


def spread_over_sources(rows: Sequence[GoldRow], per_source: int) -> list[GoldRow]:
    """Return at most so many rows of each source, spread evenly over them."""
    by_source: dict[str, list[GoldRow]] = defaultdict(list)
    for row in rows:
        by_source[row.source].append(row)
    return [row for group in by_source.values() for row in group[:: max(1, -(-len(group) // per_source))]]
