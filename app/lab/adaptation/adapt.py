"""Try every strategy on the examples of a collection and choose an alignment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from propcite.app.answering.pipeline import refuse_empty
from propcite.app.errors import AppError
from propcite.app.lab.adaptation.choice import choose
from propcite.app.lab.adaptation.examples import ENOUGH_EXAMPLES, EXAMPLE_FORMAT, MIN_EXAMPLES, Example
from propcite.app.lab.adaptation.strategies import DEPTH, NAMES, candidates_of, ndcg, rank, strategies_of
from propcite.app.lab.runs.significance import Floats
from propcite.app.library.store import CollectionInfo
from propcite.app.parts import Parts
from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.index import Index


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """A strategy's nDCG@10 over the examples, and on how many it is better and worse than the default."""

    strategy: str
    ndcg: float
    better: int
    worse: int


@dataclass(frozen=True, slots=True)
class Adaptation:
    """The result of every strategy, the best of them, and the one to keep."""

    examples: int
    tried: tuple[StrategyResult, ...]
    best: str
    kept: str
    gain: float  # of the chosen strategy, on examples that it was not chosen by
    p: float  # probability of this gain by chance
    left_out: tuple[str, ...] = ()  # messages about strategies that the index does not support

    @property
    def is_default(self) -> bool:
        return self.kept == str(NEAREST)

    @property
    def rows(self) -> list[dict[str, str]]:
        """The table of results, one row per strategy."""
        default = self.tried[0].ndcg
        return [
            {
                "alignment": t.strategy,
                f"nDCG@{DEPTH}": f"{100 * t.ndcg:.1f}",
                "change": f"{100 * (t.ndcg - default):+.1f}" if t is not self.tried[0] else "",
                "better": str(t.better),
                "worse": str(t.worse),
            }
            for t in self.tried
        ]

    @property
    def summary(self) -> str:
        """One line on the choice and its reason."""
        default, best = self.tried[0], next(t for t in self.tried if t.strategy == self.best)
        if best is default:
            return f"{default.strategy} stays: no other strategy ranks the {self.examples} examples better."
        gain = f"{100 * self.gain:+.1f}"
        reason = (
            f"{best.strategy} ranks the {self.examples} examples best (nDCG@{DEPTH} {100 * best.ndcg:.1f} against "
            f"{100 * default.ndcg:.1f}); chosen without one example and tested on that one, the best strategy gains "
        ) + (f"{gain}, which happens by chance {_frequency(self.p)}" if self.gain > 0 else f"nothing ({gain})")
        if self.is_default:
            return f"{default.strategy} stays: {reason}, so it is within noise. Add more examples to be sure."
        return f"{best.strategy} is better: {reason}."


def _frequency(p: float) -> str:
    """
    >>> _frequency(0.0625), _frequency(0.00009), _frequency(1.0)
    ('6 times in 100', 'less than once in 100', '100 times in 100')
    """
    times = round(100 * p)
    return "less than once in 100" if times < 1 else "once in 100" if times == 1 else f"{times} times in 100"


def adapt(
    parts: Parts,
    collection: CollectionInfo,
    examples: Sequence[Example],
    names: Sequence[str] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> Adaptation:
    """Try the strategies with these names, or the usual ones; the collection is not changed.

    `progress` gets each example's question.  Of the usual strategies those that the index does not support are left
    out.
    """
    alignments = strategies_of(names or NAMES)
    refuse_empty(parts.library, collection)
    if len(examples) < MIN_EXAMPLES:
        present = "there is one" if examples else "there is none"
        raise AppError(
            f"at least {MIN_EXAMPLES} examples are needed, {ENOUGH_EXAMPLES} are better, and {present}: "
            f"give lines like {EXAMPLE_FORMAT}"
        )
    index = parts.workspace(collection).index(parts.encoder)
    refuse_empty(parts.library, collection, index)
    trial = _Trial(parts.encoder, index, parts.settings.asking_share, required=bool(names))
    scores = trial.scores(examples, alignments, progress)
    tried = [alignment for alignment in alignments if alignment not in trial.left_out]
    columns = [alignments.index(alignment) for alignment in tried]
    return _adaptation(tried, scores[:, columns], tuple(trial.left_out.values()))


@dataclass(frozen=True, slots=True)
class _Trial:
    """Ranks examples by strategies; records unsupported strategies, or raises their error if they are required."""

    encoder: Encoder
    index: Index
    asking_share: float
    required: bool
    left_out: dict[Alignment, str] = field(default_factory=dict)

    def scores(
        self, examples: Sequence[Example], alignments: Sequence[Alignment], progress: Callable[[str], None]
    ) -> Floats:
        """Return nDCG@10 of each example under each alignment.  -> (examples, alignments)"""
        rows = []
        queries = self.encoder.encode_queries([example.question for example in examples])
        for example, query in zip(examples, queries, strict=True):
            candidates = candidates_of(self.index, self.encoder, query, self.asking_share)
            rows.append([self._score(example, query, alignment, candidates) for alignment in alignments])
            progress(example.question)
        return np.array(rows)

    def _score(self, example: Example, query: TokenVectors, alignment: Alignment, candidates: Sequence[str]) -> float:
        if alignment in self.left_out:
            return 0.0
        try:
            return ndcg(rank(self.index, query, alignment, candidates, DEPTH), example.passages)
        except RetrievalError as error:
            if self.required:
                raise
            self.left_out[alignment] = f"{alignment} is left out: {error}"
            return 0.0


def _adaptation(alignments: Sequence[Alignment], scores: Floats, left_out: tuple[str, ...]) -> Adaptation:
    names, choice, default = [str(alignment) for alignment in alignments], choose(scores), scores[:, 0]
    tried = [
        StrategyResult(name, round(float(own.mean()), 6), int((own > default).sum()), int((own < default).sum()))
        for name, own in zip(names, scores.T, strict=True)
    ]
    best, kept = names[choice.best], names[choice.kept]
    return Adaptation(len(scores), tuple(tried), best, kept, choice.gain, choice.p, left_out)
