"""Ways of citing that are compared: each method without a judge, and with it at each threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeVar

from propcite.app.lab.citing.cache import shared_propcite
from propcite.app.lab.citing.external import named_method
from propcite.app.parts import Parts
from propcite.attribution.citing.method import Method
from propcite.attribution.judges import Judge, with_threshold
from propcite.attribution.propcite import PropCite
from propcite.retrieval.encoding.base import TextEncoder
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Passage

ANY_SCORE = -1e9  # minimum score without a judge: the nearest is always cited
NO_JUDGE = "no"

Row = TypeVar("Row")
Passages = tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class CitingConfig:
    """A PropCite with the names of its method and judge in a table."""

    method: str
    judge: str
    propcite: PropCite = field(compare=False)

    @property
    def name(self) -> str:
        return f"{self.method}, {self.judge if self.judge != NO_JUDGE else 'no judge'}"

    @property
    def cites_sentences(self) -> bool:
        return getattr(self.propcite.tools.method, "granularity", None) is Granularity.SENTENCE


def citing_configs(parts: Parts, methods: Sequence[str], supported_from: Sequence[float] = ()) -> list[CitingConfig]:
    """Return every method without a judge, then with it at each threshold; all have one cache."""
    shared = shared_propcite(parts)
    judges: dict[str, Judge] = {}
    if shared.judge is not None:
        for threshold in supported_from or [parts.settings.supported_from]:
            judges[f"from {threshold:g}"] = with_threshold(shared.judge, threshold)

    def propcite(method: Method, judge: Judge | None, **options: Any) -> PropCite:
        return PropCite(shared.encoder, splitter=shared.splitter, judge=judge, method=method, **options)

    configs = []
    for name in methods:
        method = named_method(name)
        configs.append(CitingConfig(name, NO_JUDGE, propcite(method, None, min_score=ANY_SCORE, candidates=1)))
        configs += [CitingConfig(name, label, propcite(method, judge)) for label, judge in judges.items()]
    return configs


def with_retrievers(
    rows: Sequence[Row], passages: Callable[[Row], Passages], encoder: TextEncoder
) -> Iterator[tuple[Row, Retriever]]:
    """Yield each row with a retriever over its passages; consecutive rows with the same passages share one."""
    for documents, same in groupby(rows, key=passages):
        retriever = Retriever.over(encoder, documents)
        for row in same:
            yield row, retriever
