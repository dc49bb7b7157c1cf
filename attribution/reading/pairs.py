"""Two texts that a network reads together: their word pieces, and batches of them.

`pad` imports torch: call it only where a network is loaded.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from propcite.retrieval.text import Span

if TYPE_CHECKING:
    from torch import Tensor

MAX_PIECES = 256  # word pieces of a pair
MAX_FIRST_PIECES = 160  # of its first text
WIDTH_STEP, FILLED_STEP = 16, 32  # word pieces by which batches differ, and filled ones, of which there are fewer


@dataclass(frozen=True, slots=True)
class Pair:
    """The word pieces of two texts, and which of them are whose, with their characters."""

    pieces: list[int]
    sides: list[int]
    first: int  # position of the first text's first piece
    spans: list[Span]  # of the first text's pieces, in that text
    is_whole: bool = True  # whether all of the first text is there
    second: int = 0  # position of the second text's first piece
    second_spans: list[Span] = field(default_factory=list)


class PairTokenizer:
    """Turns two texts into word pieces as the base was trained on them; the second gets the room that is left."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        special = sorted(filter(None, tokenizer.all_special_tokens), key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, special)) or r"(?!)")
        frame = tokenizer("a", "a")
        sides = frame.sequence_ids()
        first, second = sides.index(0), sides.index(1)
        ids: list[int] = frame["input_ids"]
        self._before, self._between, self._after = ids[:first], ids[first + 1 : second], ids[second + 1 :]

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Pair]:
        """Return the word pieces per pair; equal texts are tokenized once."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        if not texts:
            return []
        encoding = self._tokenizer(
            [self._plain(text) for text in texts], add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        known = dict(zip(texts, zip(encoding["input_ids"], encoding["offset_mapping"], strict=True), strict=True))
        return [self._pair(*known[first], *known[second]) for first, second in pairs]

    def _pair(
        self, first: list[int], offsets: list[tuple[int, int]], second: list[int], others: list[tuple[int, int]]
    ) -> Pair:
        left = [*self._before, *first[:MAX_FIRST_PIECES], *self._between]
        room = MAX_PIECES - len(left) - len(self._after)
        right = [*second[:room], *self._after]
        return Pair(
            left + right,
            [0] * len(left) + [1] * len(right),
            len(self._before),
            [Span(start, end) for start, end in offsets[:MAX_FIRST_PIECES]],
            len(first) <= MAX_FIRST_PIECES,
            len(left),
            [Span(start, end) for start, end in others[:room]],
        )

    def _plain(self, text: str) -> str:
        """Blank special tokens and lone surrogates, so that no text can end itself and begin another."""
        readable = text.encode("utf-8", "replace").decode()
        return self._special.sub(lambda match: " " * len(match.group()), readable)


def batches(lengths: Sequence[int], rows: int, *, are_filled: bool = False) -> list[tuple[int, list[int]]]:
    """Group texts, by their indices, into batches of at most so many rows and of a width in steps of 16.

    A text's width does not depend on the others, so that the order of its sums does not.  Where the number of rows
    changes that order too, batches are filled: the last text of a group is repeated, and widths have steps of 32.

    >>> batches([5, 20, 6, 7], rows=2)
    [(16, [0, 2]), (16, [3]), (32, [1])]
    >>> batches([5, 40, 6, 7], rows=2, are_filled=True)
    [(32, [0, 2]), (32, [3, 3]), (64, [1, 1])]
    """
    step = FILLED_STEP if are_filled else WIDTH_STEP
    by_width: dict[int, list[int]] = defaultdict(list)
    for i, length in enumerate(lengths):
        by_width[-(-length // step) * step].append(i)
    return [
        (width, (own[at : at + rows] + own[-1:] * (rows if are_filled else 0))[:rows])
        for width, own in sorted(by_width.items())
        for at in range(0, len(own), rows)
    ]


def pad(pairs: Sequence[Pair], padding: int = 0, width: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return ids, sides, the attention mask and the mask of the first text's pieces, each (b, t)."""
    import torch

    width = max(width, *(len(pair.pieces) for pair in pairs))
    ids = torch.full((len(pairs), width), padding)
    sides = torch.zeros_like(ids)
    for row, pair in enumerate(pairs):
        ids[row, : len(pair.pieces)] = torch.tensor(pair.pieces)
        sides[row, : len(pair.sides)] = torch.tensor(pair.sides)
    positions = torch.arange(width)
    mask = positions < torch.tensor([[len(pair.pieces)] for pair in pairs])
    starts = torch.tensor([[pair.first] for pair in pairs])
    own = (positions >= starts) & (positions < starts + torch.tensor([[len(pair.spans)] for pair in pairs]))
    return ids, sides, mask.long(), own
