"""What scores the sentences of rows, and what that cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from propcite.app.lab.ranking.rank_rows import RankRow
from propcite.retrieval.encoding.base import Floats

Cost = Mapping[str, float]
Scores = Iterable[tuple[Floats, Cost]]  # of all sentences of a row, for each of some rows
Scorer = Callable[[Sequence[RankRow]], Scores]
