"""The words of a query: its terms, which of them each row asks for, and how much they count beside vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats, Ints, TokenVectors
from propcite.retrieval.text import Span
from propcite.retrieval.words.terms import Keys, text_terms

Way = Literal["both", "vectors", "words"]

WAYS: tuple[Way, ...] = get_args(Way)


def valid_way(way: str) -> Way:
    for known in WAYS:
        if way == known:
            return known
    raise ValueError(f"a way of searching must be one of {', '.join(WAYS)}, got {way[:40]!r}")


@dataclass(frozen=True, slots=True)
class WordQuery:
    """The terms of a query (t,), a row of zeros and ones per ranking (n, t), and phrases, each as its pieces.

    `share` is what all words together add to a similarity.  Where words are `alone`, they decide by themselves.  A hit
    must have every phrase.
    """

    keys: Keys
    rows: Floats
    share: float
    alone: bool = False
    phrases: tuple[Ints, ...] = ()

    @classmethod
    def of(
        cls,
        text: str,
        tokens: TokenVectors,
        weights: Floats,
        share: float,
        phrases: Sequence[Span] = (),
        alone: bool = False,
    ) -> WordQuery | None:
        """Return the words of a text's tokens, in each row those of the tokens with weight; None without pieces.

        `weights` are (n, q); `phrases` are spans of the text.
        """
        if tokens.ids is None:
            return None
        keys, first, last = text_terms(tokens.ids, tokens.offsets)
        spoken = np.array(
            [
                any(map(str.isalnum, text[a:b]))
                for a, b in zip(tokens.offsets[first, 0], tokens.offsets[last, 1], strict=True)
            ],
            bool,
        )
        keys, first, last = keys[spoken], first[spoken], last[spoken]
        unique, places = np.unique(keys, return_inverse=True)
        asked = (weights[:, first] > 0) & (weights[:, last] > 0)
        rows = np.zeros((len(unique), len(weights)), np.float32)
        np.maximum.at(rows, places, asked.T.astype(np.float32))
        within = [(tokens.offsets[:, 0] >= span.start) & (tokens.offsets[:, 1] <= span.end) for span in phrases]
        return cls(unique, rows.T, share, alone, tuple(tokens.ids[mask] for mask in within if mask.any()))

    def known(self, num_with: npt.NDArray[np.int64]) -> WordQuery:
        """Return the terms that some passage has.  (t,)"""
        some = num_with > 0
        return replace(self, keys=self.keys[some], rows=self.rows[:, some])
