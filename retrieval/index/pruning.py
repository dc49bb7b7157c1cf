"""Which tokens of a passage are kept (ALIGNER's beta_d): a share of each passage's, never of the whole collection's,
and of each sentence at least one, so that no sentence is lost to a search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats, Ints, TokenVectors
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.index.container import Container

Mask = npt.NDArray[np.bool_]
# Those that stand for each sentence, or for the passage, together; or those that say most by themselves.
Pruning = Literal["sentences", "coverage", "salience"]

PRUNINGS: tuple[Pruning, ...] = get_args(Pruning)


def known_pruning(pruning: Pruning) -> Pruning:
    if pruning not in PRUNINGS:
        raise ValueError(f"wanted a pruning by {' or '.join(PRUNINGS)}, got {pruning!r}")
    return pruning


def worth(pruning: Pruning, tokens: TokenVectors, starts: Ints) -> Floats:
    """What each token of one passage is worth keeping; its units are runs of tokens, (u + 1,).  -> (t,)"""
    if pruning == "salience":
        if tokens.salience is None:
            raise RetrievalError("this encoder does not tell how salient a passage's tokens are: prune by sentences")
        return tokens.salience
    from propcite.retrieval.encoding.coverage import coverage

    if pruning == "coverage":
        return coverage(tokens.vectors, tokens.salience)
    units = [tokens.only(np.arange(*unit)) for unit in pairwise(starts.tolist())]
    gains = np.concatenate([coverage(unit.vectors, unit.salience) for unit in units])
    # By its place in its unit, as a share of it: a share of the passage's tokens is the same share of every unit's.
    lengths = np.repeat(np.diff(starts), np.diff(starts))
    worths: Floats = (1 - _places(gains, starts) / lengths).astype(np.float32)
    return worths


def known_share(share: float) -> float:
    if not 0 < share <= 1:
        raise ValueError(f"wanted a share of a passage's tokens above 0 and up to 1, got {share}")
    return share


@dataclass(frozen=True)
class Searched:
    """The tokens of a segment that candidates are looked for by: all `num_tokens`, or a share of each passage's."""

    num_tokens: int
    share: float = 1.0
    chosen: Mask | None = None

    def __len__(self) -> int:
        return self.num_tokens if self.chosen is None else len(self._numbers)

    def of(self, places: Ints) -> Ints:
        """The segment's tokens that stand at these places among them."""
        return places if self.chosen is None else self._numbers[places]

    def pieces(self, size: int) -> Iterator[tuple[slice, slice | Ints]]:
        """A bounded number of them at a time: their places among them, and the tokens."""
        for first in range(0, len(self), size):
            some = slice(first, min(first + size, len(self)))
            yield some, some if self.chosen is None else self._numbers[some]

    @cached_property
    def _numbers(self) -> Ints:
        assert self.chosen is not None
        return np.flatnonzero(self.chosen)

    def before(self, places: Ints) -> Ints:
        """How many of them come before each place among the segment's tokens."""
        return places if self.chosen is None else np.concatenate([[0], np.cumsum(self.chosen)])[places]

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """As they are kept in a file; nothing where they are all."""
        if self.chosen is None:
            return {}
        return {"share": np.array([self.share]), "searched": np.packbits(self.chosen)}

    @classmethod
    def read(cls, file: Container, num_tokens: int) -> Searched:
        if "searched" not in file:
            return cls(num_tokens)
        chosen = np.unpackbits(file.checked("searched"), count=num_tokens).astype(bool)
        return cls(num_tokens, float(file.checked("share")[0]), chosen)


def most_worth(worths: Floats, passage_starts: Ints, unit_starts: Ints, units_kept: Mask, share: float) -> Mask:
    """The share of each passage's tokens that are worth most, rounded up, with the best one of each unit to be kept.

    worths (t,), passages and units as runs of tokens (p + 1,), (u + 1,), units_kept (u,) -> (t,)

    >>> tokens = np.array([0.9, 0.1, 0.3, 0.8, 0.2, 0.1], dtype=np.float32)
    >>> most_worth(tokens, np.array([0, 6]), np.array([0, 2, 4, 6]), np.array([True, True, True]), 1 / 3).tolist()
    [True, False, False, True, True, False]
    """
    kept = _places(worths, passage_starts) < np.repeat(_numbers(passage_starts, share), np.diff(passage_starts))
    best = _places(worths, unit_starts) == 0
    chosen: Mask = kept | (best & np.repeat(units_kept, np.diff(unit_starts)))
    return chosen


def _numbers(starts: Ints, share: float) -> Ints:
    """How many tokens each run keeps: a product such as 0.07 * 100 lies a hair above its whole number."""
    numbers: Ints = np.ceil(share * np.diff(starts) - 1e-9).astype(np.int64)
    return numbers


def _places(worths: Floats, starts: Ints) -> Ints:
    """Each token's place in its run by worth, from 0; of equal ones the first comes first.  (t,)"""
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((-worths, owners))
    places = np.empty(len(worths), np.int64)
    places[order] = np.arange(len(worths)) - starts[owners[order]]
    return places
