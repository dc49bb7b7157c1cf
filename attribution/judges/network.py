"""The cross-encoder's network: MiniLM reads claim and evidence together; a head says how well one supports the other.

Torch and transformers load with this module: whoever needs them imports it late.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer

from propcite.retrieval.encoding.checkpoints import quiet

LONGEST = 256  # word pieces of a pair that are read
LONGEST_CLAIM = 80
LONGEST_CONTEXT = 24
BETWEEN = "[unused3]"  # stands between the evidence and its context
FROZEN = 2  # of the base's layers stay as they are: they read words, not yet how these bear on each other
LEAST = -1e4
FLOOR = -50.0  # of a peak: a claim without a word has none

Pieces = tuple[list[int], int]  # a pair's word pieces, and how many of them are on the claim's side

_HALVES = re.compile("[\ud800-\udfff]")  # of a pair: no text to a tokenizer


class Reader:
    """Texts to word pieces: claim, evidence, and what of its context there is room for."""

    def __init__(self, base: str) -> None:
        tokenizer: Any = AutoTokenizer.from_pretrained(base)
        self.tokenizer = tokenizer
        self._start, self._end = int(self.tokenizer.cls_token_id), int(self.tokenizer.sep_token_id)
        self._between = int(self.tokenizer.vocab[BETWEEN])

    def read(self, triples: Sequence[tuple[str, str, str]]) -> list[Pieces]:
        """(claim, evidence, context) as pieces; a text that comes again is read once."""
        texts = list(dict.fromkeys(text for triple in triples for text in triple))
        known = dict(zip(texts, self.pieces(texts), strict=True))
        return [self._joined(*(known[text] for text in triple)) for triple in triples]

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Each text's word pieces, without special ones."""
        clean = [_HALVES.sub(" ", text) for text in texts]
        if not clean:
            return []
        found: list[list[int]] = self.tokenizer(clean, add_special_tokens=False, verbose=False)["input_ids"]
        return found

    def _joined(self, claim: list[int], evidence: list[int], context: list[int]) -> Pieces:
        first = [self._start, *claim[:LONGEST_CLAIM], self._end]
        room = LONGEST - len(first) - 1
        second = evidence[:room]
        if context and room - len(second) > 1:
            second = [*second, self._between, *context[-min(LONGEST_CONTEXT, room - len(second) - 1) :]]
        return [*first, *second, self._end], len(first)


class Network(nn.Module):
    """Pairs as pieces -> one logit each."""

    def __init__(self, base: str) -> None:
        super().__init__()
        quiet()
        self.base: Any = AutoModel.from_pretrained(base).requires_grad_(True)
        self.base.pooler = None
        self.base.embeddings.requires_grad_(False)
        self.base.encoder.layer[:FROZEN].requires_grad_(False)
        self.head = nn.Linear(3 * self.base.config.hidden_size, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, pairs: Sequence[Pieces]) -> Tensor:
        """-> (b,).  The head sees the start, the claim's mean and the claim's peaks: each of its words must hold."""
        ids, side, mask, claim = (t.to(self.head.weight.device) for t in padded(pairs))
        states = self.base(input_ids=ids, attention_mask=mask, token_type_ids=side).last_hidden_state
        mean = (states * claim).sum(1) / claim.sum(1).clamp_min(1)
        peaks = states.masked_fill(~claim, LEAST).amax(1).clamp_min(FLOOR)
        logits: Tensor = self.head(torch.cat([states[:, 0], mean, peaks], -1))[:, 0]
        return logits


def padded(pairs: Sequence[Pieces]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Ids, sides, which pieces there are, and which are the claim's own.  (b, t) thrice and (b, t, 1)"""
    width = max(len(pieces) for pieces, _ in pairs)
    ids = torch.zeros(len(pairs), width, dtype=torch.long)
    for row, (pieces, _) in enumerate(pairs):
        ids[row, : len(pieces)] = torch.tensor(pieces)
    ends = torch.tensor([[len(pieces)] for pieces, _ in pairs])
    starts = torch.tensor([[first] for _, first in pairs])
    places = torch.arange(width)
    mask = places < ends
    claim = (places >= 1) & (places < starts - 1)
    return ids, ((places >= starts) & mask).long(), mask.long(), claim[..., None]
