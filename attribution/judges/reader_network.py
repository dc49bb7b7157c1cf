"""The reader's network: it reads claim and evidence together and marks the words of the claim that are wrong.

This module imports torch and transformers: import it only where they are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from propcite.attribution.reading.pairs import Pair, pad

EXPECTED_WRONG = 2.0  # subtracted from the sum over a claim's pieces, so that training starts near even odds
MASKED = -1e4


class Logits(NamedTuple):
    """Of all pieces, (b, t): that they are wrong; of the pairs, (b,): that the claim is refused, and then denied."""

    pieces: Tensor
    refused: Tensor
    denied: Tensor


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

    @property
    def upper_layers(self) -> nn.ModuleList:
        """Return the layers that a training of low rank changes: the upper half."""
        layers: nn.ModuleList = self.base.encoder.layer
        return layers[len(layers) // 2 :]

    def forward(self, pairs: Sequence[Pair], width: int = 0) -> Logits:
        """Return the logits of a batch, where t is at least `width`."""
        return self.logits(*self.states(pairs, width))

    def states(self, pairs: Sequence[Pair], width: int = 0) -> tuple[Tensor, Tensor]:
        """Return the last layer's states of a batch, (b, t, d), and which pieces are the claims', (b, t)."""
        padding = self.base.config.pad_token_id or 0
        ids, sides, mask, claim = (t.to(self.piece.weight.device) for t in pad(pairs, padding, width))
        given = {"token_type_ids": sides} if self._has_sides else {}
        return self.base(input_ids=ids, attention_mask=mask, **given).last_hidden_state, claim

    def logits(self, states: Tensor, claim: Tensor) -> Logits:
        pieces = self.piece(states)[..., 0].float()
        first = self.first(states[:, 0])[:, 0].float()
        any_wrong = torch.logsumexp(pieces.masked_fill(~claim, MASKED), 1).clamp_min(-EXPECTED_WRONG * 10)
        denied = self.denial(states[:, 0])[:, 0].float()
        return Logits(pieces, any_wrong + first - EXPECTED_WRONG, denied)
