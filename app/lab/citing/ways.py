"""Ways of citing measured beside each other: each method without the judge, and with it from each threshold on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeVar

from propcite.app.parts import Parts
from propcite.attribution.citations import Proposition
from propcite.attribution.citing.methods import method_of
from propcite.attribution.judges import accepting_from
from propcite.attribution.propcite import PropCite
from propcite.attribution.propositions import Splitter
from propcite.retrieval.encoding.base import TextEncoder
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Passage

ALWAYS = -1e9  # without a judge the nearest is cited whatever its score
NO_JUDGE = "no"

Row = TypeVar("Row")
Passages = tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """A PropCite under the names that it has in a table."""

    method: str
    judge: str
    propcite: PropCite = field(compare=False)

    @property
    def name(self) -> str:
        return f"{self.method}, {self.judge if self.judge != NO_JUDGE else 'no judge'}"

    @property
    def cites_sentences(self) -> bool:
        return getattr(self.propcite.tools.method, "granularity", None) is Granularity.SENTENCE


@dataclass(slots=True)
class Remembering:
    """A splitter that splits each sentence once, however many ways of citing ask."""

    splitter: Splitter
    told: dict[tuple[str, tuple[str, ...]], list[Proposition]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.splitter.name

    def split(self, sentence: str, context: Sequence[str] = ()) -> list[Proposition]:
        return self.split_many([sentence], [context])[0]

    def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[list[Proposition]]:
        keys = [(sentence, tuple(context)) for sentence, context in zip(sentences, contexts, strict=True)]
        new = [key for key in dict.fromkeys(keys) if key not in self.told]
        made = self.splitter.split_many([sentence for sentence, _ in new], [context for _, context in new])
        self.told.update(zip(new, made, strict=True))
        return [self.told[key] for key in keys]


def ways_of(parts: Parts, methods: Sequence[str], supported_from: Sequence[float] = ()) -> list[Way]:
    """Every method without a judge and with it; all share one memory, so that what one has read none reads again."""
    both = PropCite(parts.encoder, splitter=Remembering(parts.splitter), judge=parts.judge).cached()
    judges = {}
    if both.judge is not None:
        for threshold in supported_from or [parts.settings.supported_from]:
            judges[f"from {threshold:g}"] = accepting_from(both.judge, threshold)
    ways = []
    for name in methods:
        method = method_of(name)
        bare = PropCite(both.encoder, splitter=both.splitter, judge=None, method=method, min_score=ALWAYS, candidates=1)
        ways.append(Way(name, NO_JUDGE, bare))
        for told, judge in judges.items():
            ways.append(Way(name, told, PropCite(both.encoder, splitter=both.splitter, judge=judge, method=method)))
    return ways


def over_each(
    rows: Sequence[Row], passages: Callable[[Row], Passages], encoder: TextEncoder
) -> Iterator[tuple[Row, Retriever]]:
    """Each row with its passages; rows that follow each other over the same ones share what was encoded."""
    for given, same in groupby(rows, key=passages):
        retriever = Retriever.over(encoder, given)
        for row in same:
            yield row, retriever
