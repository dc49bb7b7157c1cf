"""From examples to an alignment: every strategy tried on them, and the one that is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from propcite.app.answering.pipeline import refuse_empty
from propcite.app.errors import AppError
from propcite.app.lab.adapting.choosing import choose
from propcite.app.lab.adapting.examples import ENOUGH, FEWEST, SHAPE, Example
from propcite.app.lab.adapting.strategies import DEPTH, NAMES, candidates_of, ndcg, ranked, strategies_of
from propcite.app.lab.runs.significance import Floats
from propcite.app.library.store import CollectionInfo
from propcite.app.parts import Parts
from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.index.token_index import TokenIndex


def _nobody(_: str) -> None:
    """Is told and says nothing."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A strategy's nDCG@10 over the examples, and on how many it does better and worse than the default."""

    strategy: str
    ndcg: float
    better: int
    worse: int


@dataclass(frozen=True, slots=True)
class Adaptation:
    """What each strategy gives, the best of them, and the one that is kept."""

    examples: int
    tried: tuple[Tried, ...]
    best: str
    kept: str
    gain: float  # of choosing, on examples left out
    p: float  # how often chance alone would give as much
    left_out: tuple[str, ...] = ()  # strategies that could not be tried, and why

    @property
    def is_default(self) -> bool:
        return self.kept == str(NEAREST)

    @property
    def rows(self) -> list[dict[str, str]]:
        """A strategy a row, as people read it."""
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
    def words(self) -> str:
        """What was found and why, for people."""
        default, best = self.tried[0], next(t for t in self.tried if t.strategy == self.best)
        if best is default:
            return f"{default.strategy} stays: no other strategy ranks the {self.examples} examples better."
        told = f"{best.strategy} ranks the {self.examples} examples best (nDCG@{DEPTH} {100 * best.ndcg:.1f} against "
        told += f"{100 * default.ndcg:.1f}); chosen on all but one and tried on that one, the best gains "
        gain = f"{100 * self.gain:+.1f}"
        told += f"{gain}, and chance alone gives that {_often(self.p)}" if self.gain > 0 else f"nothing ({gain})"
        if self.is_default:
            return f"{default.strategy} stays: {told}, so it is within noise. More examples may tell."
        return f"{best.strategy} is better: {told}."


def _often(p: float) -> str:
    """
    >>> _often(0.0625), _often(0.00009), _often(1.0)
    ('6 times in 100', 'less than once in 100', '100 times in 100')
    """
    times = round(100 * p)
    return "less than once in 100" if times < 1 else "once in 100" if times == 1 else f"{times} times in 100"


def adapt(
    parts: Parts,
    collection: CollectionInfo,
    examples: Sequence[Example],
    names: Sequence[str] = (),
    told: Callable[[str], None] = _nobody,
) -> Adaptation:
    """Try the strategies of these names, the usual ones where none is named; nothing is kept yet.

    `told` hears of each example.  Usual strategies that the index knows too little for are left out.
    """
    alignments = strategies_of(names or NAMES)
    refuse_empty(parts.library, collection)
    if len(examples) < FEWEST:
        there = "there is one" if examples else "there is none"
        raise AppError(f"{FEWEST} examples or more are needed, {ENOUGH} are better, and {there}: {SHAPE}")
    index = parts.workspace(collection).index(parts.encoder)
    refuse_empty(parts.library, collection, index)
    trying = _Trying(parts.encoder, index, parts.settings.asking_share, needed=bool(names))
    scores = trying.scores(examples, alignments, told)
    tried = [alignment for alignment in alignments if alignment not in trying.left_out]
    columns = [alignments.index(alignment) for alignment in tried]
    return _adaptation(tried, scores[:, columns], tuple(trying.left_out.values()))


@dataclass(frozen=True, slots=True)
class _Trying:
    """What ranks; strategies that cannot be tried and need not be are noted with the reason."""

    encoder: Encoder
    index: TokenIndex
    asking: float
    needed: bool
    left_out: dict[Alignment, str] = field(default_factory=dict)

    def scores(
        self, examples: Sequence[Example], alignments: Sequence[Alignment], told: Callable[[str], None]
    ) -> Floats:
        """nDCG@10 of each example under each alignment.  -> (examples, alignments)"""
        rows = []
        queries = self.encoder.encode_queries([example.question for example in examples])
        for example, query in zip(examples, queries, strict=True):
            found = candidates_of(self.index, self.encoder, query, self.asking)
            rows.append([self._score(example, query, alignment, found) for alignment in alignments])
            told(example.question)
        return np.array(rows)

    def _score(self, example: Example, query: TokenVectors, alignment: Alignment, found: Sequence[str]) -> float:
        if alignment in self.left_out:
            return 0.0
        try:
            return ndcg(ranked(self.index, query, alignment, found, DEPTH), example.passages)
        except RetrievalError as error:
            if self.needed:
                raise
            self.left_out[alignment] = f"{alignment} is left out: {error}"
            return 0.0


def _adaptation(alignments: Sequence[Alignment], scores: Floats, left_out: tuple[str, ...]) -> Adaptation:
    names, choice, default = [str(alignment) for alignment in alignments], choose(scores), scores[:, 0]
    tried = [
        Tried(name, round(float(own.mean()), 6), int((own > default).sum()), int((own < default).sum()))
        for name, own in zip(names, scores.T, strict=True)
    ]
    best, kept = names[choice.best], names[choice.kept]
    return Adaptation(len(scores), tuple(tried), best, kept, choice.gain, choice.p, left_out)
