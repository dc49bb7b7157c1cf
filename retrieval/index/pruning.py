"""The choice of tokens to keep per passage (ALIGNER's beta_d).

A share applies to each passage, never to the whole collection, and each sentence keeps at least one token, so that
every sentence can still be found.
"""

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
# Tokens that together represent each sentence, or the passage; or the most salient ones, each judged on its own.
Pruning = Literal["sentences", "coverage", "salience"]

PRUNINGS: tuple[Pruning, ...] = get_args(Pruning)


def valid_pruning(pruning: Pruning) -> Pruning:
    if pruning not in PRUNINGS:
        raise ValueError(f"pruning must be one of {', '.join(PRUNINGS)}, got {pruning!r}")
    return pruning


def valid_share(share: float) -> float:
    if not 0 < share <= 1:
        raise ValueError(f"a share of a passage's tokens must be above 0 and at most 1, got {share}")
    return share


def importance(pruning: Pruning, tokens: TokenVectors, unit_starts: Ints) -> Floats:
    """Return how important it is to keep each token of a passage.  unit_starts (u + 1,) into tokens -> (t,)"""
    if pruning == "salience":
        if tokens.salience is None:
            raise RetrievalError("this encoder gives no salience of passage tokens: prune by sentences")
        return tokens.salience
    from propcite.retrieval.encoding.coverage import coverage

    if pruning == "coverage":
        return coverage(tokens.vectors, tokens.salience)
    units = [tokens.only(np.arange(*unit)) for unit in pairwise(unit_starts.tolist())]
    gains = np.concatenate([coverage(unit.vectors, unit.salience) for unit in units])
    # The rank within the unit, relative to its length: a share of the passage's tokens is the same share of each unit.
    lengths = np.repeat(np.diff(unit_starts), np.diff(unit_starts))
    relative: Floats = (1 - _ranks(gains, unit_starts) / lengths).astype(np.float32)
    return relative


@dataclass(frozen=True)
class SearchedTokens:
    """The tokens of a segment that are used to find candidates: all `num_tokens`, or a share of each passage's."""

    num_tokens: int
    share: float = 1.0
    mask: Mask | None = None

    def __len__(self) -> int:
        return self.num_tokens if self.mask is None else len(self._tokens)

    def tokens(self, positions: Ints) -> Ints:
        """Return the numbers in the segment of the searched tokens at these positions."""
        return positions if self.mask is None else self._tokens[positions]

    def batches(self, size: int) -> Iterator[tuple[slice, slice | Ints]]:
        """Yield batches of at most `size` tokens: positions among the searched tokens, numbers in the segment."""
        for first in range(0, len(self), size):
            batch = slice(first, min(first + size, len(self)))
            yield batch, batch if self.mask is None else self._tokens[batch]

    @cached_property
    def _tokens(self) -> Ints:
        assert self.mask is not None
        return np.flatnonzero(self.mask)

    def num_before(self, tokens: Ints) -> Ints:
        """Return the number of searched tokens before each token of the segment."""
        return tokens if self.mask is None else np.concatenate([[0], np.cumsum(self.mask)])[tokens]

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays to store in a file; empty if all tokens are searched."""
        if self.mask is None:
            return {}
        return {"share": np.array([self.share]), "searched": np.packbits(self.mask)}

    @classmethod
    def read(cls, file: Container, num_tokens: int) -> SearchedTokens:
        """Read what `arrays` stored."""
        if "searched" not in file:
            return cls(num_tokens)
        mask = np.unpackbits(file.read("searched"), count=num_tokens).astype(bool)
        return cls(num_tokens, float(file.read("share")[0]), mask)


def most_important(importances: Floats, passage_starts: Ints, unit_starts: Ints, keep_unit: Mask, share: float) -> Mask:
    """Return a mask of each passage's most important share of tokens, rounded up, and the best token of some units.

    importances (t,), passage_starts (p + 1,) and unit_starts (u + 1,) into tokens, keep_unit (u,) -> (t,)

    >>> tokens = np.array([0.9, 0.1, 0.3, 0.8, 0.2, 0.1], dtype=np.float32)
    >>> keep = np.array([True, True, True])
    >>> most_important(tokens, np.array([0, 6]), np.array([0, 2, 4, 6]), keep, 1 / 3).tolist()
    [True, False, False, True, True, False]
    """
    numbers = np.repeat(_numbers_to_keep(passage_starts, share), np.diff(passage_starts))
    best_of_unit = _ranks(importances, unit_starts) == 0
    mask: Mask = (_ranks(importances, passage_starts) < numbers) | (
        best_of_unit & np.repeat(keep_unit, np.diff(unit_starts))
    )
    return mask


def _numbers_to_keep(starts: Ints, share: float) -> Ints:
    # A product such as 0.07 * 100 may be a rounding error above its whole number: without 1e-9 it would round up.
    numbers: Ints = np.ceil(share * np.diff(starts) - 1e-9).astype(np.int64)
    return numbers


def _ranks(values: Floats, starts: Ints) -> Ints:
    """Return the rank of each value in its run, 0 for the largest; ties keep their order.  (t,)"""
    runs = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((-values, runs))
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.arange(len(values)) - starts[runs[order]]
    return ranks
