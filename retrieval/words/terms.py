"""Terms: single word pieces, and pairs of pieces that touch."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Ints

Keys = npt.NDArray[np.uint64]  # of terms: the first piece in the upper 32 bits, below it 0, or 1 + the second piece
Numbers = npt.NDArray[np.integer[Any]]
SHIFT = np.uint64(32)


def piece_keys(ids: Numbers) -> Keys:
    """Return the term of each single piece.  (n,) -> (n,)"""
    keys: Keys = ids.astype(np.uint64) << SHIFT
    return keys


def pair_keys(first: Numbers, second: Numbers) -> Keys:
    """Return the term of each pair of pieces.  (n,), (n,) -> (n,)"""
    keys: Keys = piece_keys(first) | (second.astype(np.uint64) + np.uint64(1))
    return keys


def second_touches(starts: Numbers, lengths: Numbers) -> npt.NDArray[np.bool_]:
    """Return for each token whether it touches the one before it.  (n,), (n,) -> (n,)

    `starts` count characters from one; 0 is a token without characters, which touches none.

    >>> second_touches(np.array([1, 4, 9]), np.array([3, 2, 1])).tolist()
    [False, True, False]
    """
    touches = np.zeros(len(starts), bool)
    ends = starts[:-1].astype(np.int64) + lengths[:-1]
    touches[1:] = (starts[:-1] > 0) & (ends == starts[1:])
    return touches


def text_terms(ids: Ints, offsets: npt.NDArray[np.int32]) -> tuple[Keys, Ints, Ints]:
    """Return the terms of a text's tokens, and the first and the last token of each.  (n,), (n, 2) -> (t,), (t,), (t,)

    Tokens without characters, such as special tokens and markers, have no terms.
    """
    starts, lengths = offsets[:, 0] + 1, offsets[:, 1] - offsets[:, 0]
    singles = np.flatnonzero(starts > 0)
    seconds = np.flatnonzero(second_touches(starts, lengths))
    keys = np.concatenate([piece_keys(ids[singles]), pair_keys(ids[seconds - 1], ids[seconds])])
    return keys, np.concatenate([singles, seconds - 1]), np.concatenate([singles, seconds])
