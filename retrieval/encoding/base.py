"""Token vectors, and the interface of whatever encodes text into them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from propcite.retrieval.text import Granularity, Passage, Span

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Ids = Ints  # of a vocabulary
Offsets = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The tokens of one text: unit vectors (n, d), and the characters each token covers (n, 2).

    `salience` (n,) weighs the tokens; without it all weigh the same.  `ids` (n,) are vocabulary ids.
    """

    vectors: Floats
    offsets: Offsets
    salience: Floats | None = None
    ids: Ids | None = None

    def __len__(self) -> int:
        return len(self.vectors)

    def weights(self, mask: Mask | None = None) -> Floats:
        """Return weights (n,) that turn a sum over these tokens into their salience-weighted mean.

        So scores do not grow with the length of the text.

        >>> tokens = TokenVectors(np.eye(3), np.zeros((3, 2)), np.array([3.0, 9.0, 1.0]))
        >>> tokens.weights(np.array([True, False, True])).tolist()
        [0.75, 0.0, 0.25]
        """
        chosen = np.ones(len(self), np.float32) if mask is None else mask.astype(np.float32)
        salient = chosen if self.salience is None else chosen * self.salience
        total = float(salient.sum())
        if total <= 0:  # every token weighs nothing: fall back to the plain mean
            salient, total = chosen, max(float(chosen.sum()), 1.0)
        return (salient / total).astype(np.float32)

    def only(self, chosen: Mask | npt.NDArray[np.int64]) -> TokenVectors:
        """Return the chosen tokens, in the given order."""
        salience = None if self.salience is None else self.salience[chosen]
        ids = None if self.ids is None else self.ids[chosen]
        return TokenVectors(self.vectors[chosen], self.offsets[chosen], salience, ids)

    @staticmethod
    def joined(parts: Sequence[TokenVectors]) -> TokenVectors:
        """Concatenate tokens of several texts or pieces; salience or ids are dropped unless every part has them."""
        return TokenVectors(
            np.concatenate([p.vectors for p in parts]),
            np.concatenate([p.offsets for p in parts]),
            joined_if_all([p.salience for p in parts]),
            joined_if_all([p.ids for p in parts]),
        )

    def within(self, spans: Iterable[Span]) -> Mask:
        """Return a mask (n,) of the tokens that share a character with one of the spans."""
        mask = np.zeros(len(self), dtype=bool)
        for span in spans:
            mask |= (self.offsets[:, 0] < span.end) & (self.offsets[:, 1] > span.start)
        return mask


def joined_if_all(arrays: Sequence[npt.NDArray[Any] | None]) -> npt.NDArray[Any] | None:
    """Concatenate the arrays; None if there are none or one of them is None."""
    present = [array for array in arrays if array is not None]
    return np.concatenate(present) if present and len(present) == len(arrays) else None


class TextEncoder(Protocol):
    """What retrieval, judges and citing need of an encoder; `Encoder` is one, `CachedEncoder` wraps one."""

    @property
    def name(self) -> str:
        """Return a name that changes with whatever reads passages: an index belongs to it."""
        ...

    @property
    def query_name(self) -> str:
        """Return a name that changes with whatever reads queries or passages."""
        ...

    @property
    def dimension(self) -> int: ...

    def encode_queries(
        self, texts: Sequence[str], granularity: Granularity = Granularity.PASSAGE
    ) -> list[TokenVectors]: ...

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]: ...

    def knows(self, granularity: Granularity) -> bool:
        """Return whether the model has its own query marker for this granularity."""
        ...

    def worths(self, query: TokenVectors) -> Floats | None: ...
