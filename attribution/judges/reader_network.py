"""The reader's network: it reads claim and evidence together and marks the words of the claim that are wrong.

This module imports torch and transformers: import it only where they are needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from propcite.retrieval.text import Span

MAX_PIECES = 256  # word pieces of a pair
MAX_CLAIM_PIECES = 160  # a longer claim is not read
EXPECTED_WRONG = 2.0  # subtracted from the sum over a claim's pieces, so that training starts near even odds
MASKED = -1e4


@dataclass(frozen=True, slots=True)
class Pair:
    """The word pieces of a claim and its evidence, and which of them are the claim's, with their characters."""

    pieces: list[int]
    sides: list[int]
    first: int  # position of the claim's first piece
    spans: list[Span]  # of the claim's pieces, in the claim
    is_whole: bool = True  # whether all of the claim is there


class Logits(NamedTuple):
    """Of all pieces, (b, t): that they are wrong; of the pairs, (b,): that the claim is refused, and then denied."""

    pieces: Tensor
    refused: Tensor
    denied: Tensor


class PairTokenizer:
    """Turns (claim, evidence) into word pieces in the form that the base was trained on; evidence gets the rest."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        special = sorted(filter(None, tokenizer.all_special_tokens), key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, special)) or r"(?!)")
        frame = tokenizer("a", "a")
        sides = frame.sequence_ids()
        claim, evidence = sides.index(0), sides.index(1)
        ids: list[int] = frame["input_ids"]
        self._before, self._between, self._after = ids[:claim], ids[claim + 1 : evidence], ids[evidence + 1 :]

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Pair]:
        """Return the word pieces per pair; equal texts are tokenized once."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        if not texts:
            return []
        encoding = self._tokenizer(
            [self._plain(text) for text in texts], add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        known = dict(zip(texts, zip(encoding["input_ids"], encoding["offset_mapping"], strict=True), strict=True))
        return [self._pair(*known[claim], known[evidence][0]) for claim, evidence in pairs]

    def _pair(self, claim: list[int], offsets: list[tuple[int, int]], evidence: list[int]) -> Pair:
        is_whole = len(claim) <= MAX_CLAIM_PIECES
        claim, offsets = claim[:MAX_CLAIM_PIECES], offsets[:MAX_CLAIM_PIECES]
        left = [*self._before, *claim, *self._between]
        right = [*evidence[: MAX_PIECES - len(left) - len(self._after)], *self._after]
        spans = [Span(start, end) for start, end in offsets]
        return Pair(left + right, [0] * len(left) + [1] * len(right), len(self._before), spans, is_whole)

    def _plain(self, text: str) -> str:
        """Blank special tokens and lone surrogates, so that no evidence can end itself and begin a claim."""
        readable = text.encode("utf-8", "replace").decode()
        return self._special.sub(lambda match: " " * len(match.group()), readable)


class ReaderNetwork(nn.Module):
    """Computes how wrong each word piece of a claim is, and a logit that the claim is not supported.

    The logit sums up its pieces: one wrong piece is enough.  The first token adds what no single piece shows, and tells
    whether the evidence denies a claim that it does not support.
    """

    def __init__(self, base: Any) -> None:
        super().__init__()
        self.base = base
        if hasattr(base, "pooler"):
            base.pooler = None
        self.piece = nn.Linear(base.config.hidden_size, 1)
        self.first = nn.Linear(base.config.hidden_size, 1)
        self.denial = nn.Linear(base.config.hidden_size, 1)
        for head, bias in ((self.piece, -EXPECTED_WRONG), (self.first, EXPECTED_WRONG), (self.denial, 0.0)):
            nn.init.zeros_(head.weight)
            nn.init.constant_(head.bias, bias)
        self._has_sides = (getattr(base.config, "type_vocab_size", 0) or 0) > 1

    def forward(self, pairs: Sequence[Pair], width: int = 0) -> Logits:
        """Return the logits of a batch, where t is at least `width`."""
        padding = self.base.config.pad_token_id or 0
        ids, sides, mask, claim = (t.to(self.piece.weight.device) for t in pad(pairs, padding, width))
        given = {"token_type_ids": sides} if self._has_sides else {}
        states = self.base(input_ids=ids, attention_mask=mask, **given).last_hidden_state
        pieces = self.piece(states)[..., 0].float()
        first = self.first(states[:, 0])[:, 0].float()
        any_wrong = torch.logsumexp(pieces.masked_fill(~claim, MASKED), 1).clamp_min(-EXPECTED_WRONG * 10)
        denied = self.denial(states[:, 0])[:, 0].float()
        return Logits(pieces, any_wrong + first - EXPECTED_WRONG, denied)


def pad(pairs: Sequence[Pair], padding: int = 0, width: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return ids, sides, the attention mask and the mask of the claim's pieces, each (b, t)."""
    width = max(width, *(len(pair.pieces) for pair in pairs))
    ids = torch.full((len(pairs), width), padding)
    sides = torch.zeros_like(ids)
    for row, pair in enumerate(pairs):
        ids[row, : len(pair.pieces)] = torch.tensor(pair.pieces)
        sides[row, : len(pair.sides)] = torch.tensor(pair.sides)
    positions = torch.arange(width)
    mask = positions < torch.tensor([[len(pair.pieces)] for pair in pairs])
    starts = torch.tensor([[pair.first] for pair in pairs])
    claim = (positions >= starts) & (positions < starts + torch.tensor([[len(pair.spans)] for pair in pairs]))
    return ids, sides, mask.long(), claim
