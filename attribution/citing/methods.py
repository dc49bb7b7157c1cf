"""How candidates for an answer's claims are found: PropCite's way, and the simpler ones that it is measured against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from propcite.attribution.citations import Proposition
from propcite.attribution.citing.answer_parts import Part, whole
from propcite.attribution.errors import AttributionError
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Hit, Span

Found = list[list[list[Hit]]]  # sentences x claims x hits, best first


class Method(Protocol):
    """What is asked for each sentence, and how what supports it is looked for."""

    @property
    def name(self) -> str: ...

    @property
    def num_cited(self) -> int:
        """How many passages one claim may cite."""
        ...

    def claims(self, part: Part) -> tuple[Proposition, ...]: ...

    def find(self, parts: Sequence[Part], retriever: Retriever, k: int) -> Found:
        """The k best pieces of evidence for each claim of each part that needs support; none for the others."""
        ...


@dataclass(frozen=True, slots=True)
class InContext:
    """The paper's way: a sentence is encoded once and whole, each proposition asks with its own tokens alone.

    With sentences as evidence this is PropCite's own; with passages it is the paper's.
    """

    name: str = "propositions"
    granularity: Granularity = Granularity.SENTENCE
    num_cited: int = 1

    def claims(self, part: Part) -> tuple[Proposition, ...]:
        return part.propositions

    def find(self, parts: Sequence[Part], retriever: Retriever, k: int) -> Found:
        spans = [[p.spans for p in _needing(part.propositions)] for part in parts]
        return _spread(parts, retriever.search_spans([part.text for part in parts], spans, k, self.granularity))


@dataclass(frozen=True, slots=True)
class Alone:
    """The paper's ablation (i): each proposition's text is encoded by itself, without its sentence."""

    name: str = "alone"
    granularity: Granularity = Granularity.SENTENCE
    num_cited: int = 1

    def claims(self, part: Part) -> tuple[Proposition, ...]:
        return part.propositions

    def find(self, parts: Sequence[Part], retriever: Retriever, k: int) -> Found:
        texts = [p.text for part in parts for p in _needing(part.propositions)]
        hits = retriever.search_spans(texts, [[(Span(0, len(text)),)] for text in texts], k, self.granularity)
        each = iter(row for rows in hits for row in rows)
        return _spread(parts, [list(islice(each, len(_needing(part.propositions)))) for part in parts])


@dataclass(frozen=True, slots=True)
class WholeSentences:
    """The paper's ablations (ii) and (iii): the whole sentence asks, and its best one or two passages are cited."""

    name: str = "sentence"
    granularity: Granularity = Granularity.SENTENCE
    num_cited: int = 1

    def claims(self, part: Part) -> tuple[Proposition, ...]:
        return whole(part)

    def find(self, parts: Sequence[Part], retriever: Retriever, k: int) -> Found:
        texts = [part.text for part in parts]
        return retriever.search_spans(texts, [[(Span(0, len(text)),)] for text in texts], k, self.granularity)


def _needing(claims: Sequence[Proposition]) -> list[Proposition]:
    return [claim for claim in claims if claim.check_worthy]


def _spread(parts: Sequence[Part], found: Sequence[Sequence[list[Hit]]]) -> Found:
    """Hits of the propositions that need support at their places, and none for the others."""
    rows = []
    for part, hits in zip(parts, found, strict=True):
        each = iter(hits)
        rows.append([next(each) if p.check_worthy else [] for p in part.propositions])
    return rows


METHODS = ("propositions", "paper", "alone", "sentence", "sentence-2", "postcite", "bm25")


def method_of(name: str) -> Method:
    """A way of citing by its name, one of `METHODS`."""
    from propcite.attribution.citing.baselines import Bm25, PostCite

    making: dict[str, Callable[[], Method]] = {
        "propositions": InContext,
        "paper": lambda: InContext("paper", Granularity.PASSAGE),
        "alone": Alone,
        "sentence": WholeSentences,
        "sentence-2": lambda: WholeSentences("sentence-2", num_cited=2),
        "postcite": PostCite,
        "bm25": Bm25,
    }
    if name not in making:
        raise AttributionError(f"there is no method {name!r} of citing: give one of {', '.join(making)}")
    return making[name]()
