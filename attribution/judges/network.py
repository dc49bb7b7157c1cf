"""The cross-encoder's network: MiniLM reads claim and evidence together, and a head computes a logit of support.

This module imports torch and transformers: import it only where they are needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer

from propcite.retrieval.encoding.loading import hide_progress_bars

MAX_PIECES = 256  # word pieces of a pair
MAX_CLAIM_PIECES = 80
MAX_CONTEXT_PIECES = 24
SEPARATOR = "[unused3]"  # between the evidence and its context
NUM_FROZEN_LAYERS = 2  # of the base: they encode words, not yet how claim and evidence relate
MASKED = -1e4
MIN_PEAK = -50.0  # replaces MASKED in the maximum over a claim without any word piece

PairPieces = tuple[list[int], int]  # word pieces of a pair, and how many of them are on the claim's side

_SURROGATES = re.compile("[\ud800-\udfff]")  # no tokenizer accepts them


class PairTokenizer:
    """Turns (claim, evidence, context) into word pieces; context gets the room that is left."""

    def __init__(self, base: str) -> None:
        tokenizer: Any = AutoTokenizer.from_pretrained(base)
        self.tokenizer = tokenizer
        self._start, self._end = int(self.tokenizer.cls_token_id), int(self.tokenizer.sep_token_id)
        self._separator = int(self.tokenizer.vocab[SEPARATOR])

    def encode(self, triples: Sequence[tuple[str, str, str]]) -> list[PairPieces]:
        """Return the word pieces per triple; equal texts are tokenized once."""
        texts = list(dict.fromkeys(text for triple in triples for text in triple))
        pieces = dict(zip(texts, self.tokenize(texts), strict=True))
        return [self._pair(*(pieces[text] for text in triple)) for triple in triples]

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's word pieces, without special tokens."""
        clean = [_SURROGATES.sub(" ", text) for text in texts]
        if not clean:
            return []
        ids: list[list[int]] = self.tokenizer(clean, add_special_tokens=False, verbose=False)["input_ids"]
        return ids

    def _pair(self, claim: list[int], evidence: list[int], context: list[int]) -> PairPieces:
        first = [self._start, *claim[:MAX_CLAIM_PIECES], self._end]
        room = MAX_PIECES - len(first) - 1
        second = evidence[:room]
        if context and room - len(second) > 1:
            second = [*second, self._separator, *context[-min(MAX_CONTEXT_PIECES, room - len(second) - 1) :]]
        return [*first, *second, self._end], len(first)


class Network(nn.Module):
    """Computes one logit per pair of word pieces."""

    def __init__(self, base: str) -> None:
        super().__init__()
        hide_progress_bars()
        self.base: Any = AutoModel.from_pretrained(base).requires_grad_(True)
        self.base.pooler = None
        self.base.embeddings.requires_grad_(False)
        self.base.encoder.layer[:NUM_FROZEN_LAYERS].requires_grad_(False)
        self.head = nn.Linear(3 * self.base.config.hidden_size, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, pairs: Sequence[PairPieces]) -> Tensor:
        """Return the logits.  (b,)

        The head sees the first token, the mean of the claim and its maximum: each word of the claim must be supported.
        """
        ids, side, mask, claim = (t.to(self.head.weight.device) for t in pad(pairs))
        states = self.base(input_ids=ids, attention_mask=mask, token_type_ids=side).last_hidden_state
        mean = (states * claim).sum(1) / claim.sum(1).clamp_min(1)
        peaks = states.masked_fill(~claim, MASKED).amax(1).clamp_min(MIN_PEAK)
        logits: Tensor = self.head(torch.cat([states[:, 0], mean, peaks], -1))[:, 0]
        return logits


def pad(pairs: Sequence[PairPieces]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return ids, sides and the attention mask, each (b, t), and the mask of the claim's pieces.  (b, t, 1)"""
    width = max(len(pieces) for pieces, _ in pairs)
    ids = torch.zeros(len(pairs), width, dtype=torch.long)
    for row, (pieces, _) in enumerate(pairs):
        ids[row, : len(pieces)] = torch.tensor(pieces)
    ends = torch.tensor([[len(pieces)] for pieces, _ in pairs])
    starts = torch.tensor([[first] for _, first in pairs])
    positions = torch.arange(width)
    mask = positions < ends
    claim = (positions >= 1) & (positions < starts - 1)
    return ids, ((positions >= starts) & mask).long(), mask.long(), claim[..., None]
