"""The network that reads a question and a text together: the reader of claims, trained further, with more heads.

This module imports torch: import it only where it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor, nn

from propcite.attribution.judges.reader_network import ReaderNetwork
from propcite.attribution.reading.pairs import Pair

USUAL_LENGTH = 3.0  # log of the pieces of a sentence, about: training starts near even odds for a sentence


class Logits(NamedTuple):
    """Of all pieces, (b, t): the answer starts there, ends there, their sentence answers; of the texts, (b,): any does.

    Among starts and ends the first piece stands for "no answer".
    """

    starts: Tensor
    ends: Tensor
    pieces: Tensor
    answered: Tensor


class QuestionNetwork(nn.Module):
    """Computes where a text answers a question: in which words, in which sentence, and whether at all.

    A question is read as the reader reads a claim: words that the text does not answer to are wrong.
    """

    def __init__(self, reader: ReaderNetwork) -> None:
        super().__init__()
        self.reader = _upper_copied(reader)
        width = reader.base.config.hidden_size
        self.ends = nn.Linear(width, 2)
        self.piece = nn.Linear(width, 1)
        for head, bias in ((self.ends, 0.0), (self.piece, -USUAL_LENGTH)):
            nn.init.zeros_(head.weight)
            nn.init.constant_(head.bias, bias)
        self.scale = nn.Parameter(torch.tensor([0.4, -0.5]))  # of the logit that the question is not answered

    @property
    def upper_layers(self) -> nn.ModuleList:
        """Return the layers that training changes."""
        return self.reader.upper_layers

    def forward(self, pairs: Sequence[Pair], width: int = 0) -> Logits:
        """Return the logits of a batch, where t is at least `width`."""
        states, question = self.reader.states(pairs, width)
        refused = self.reader.logits(states, question).refused
        starts, ends = self.ends(states).float().unbind(-1)
        answered = -refused * self.scale[0].float() + self.scale[1].float()
        return Logits(starts, ends, self.piece(states)[..., 0].float(), answered)


def _upper_copied(reader: ReaderNetwork) -> ReaderNetwork:
    """Return the reader with heads and upper layers of its own; all below is shared."""
    upper = set(reader.upper_layers)
    shared = [reader.base.embeddings, *(layer for layer in reader.base.encoder.layer if layer not in upper)]
    return deepcopy(reader, {id(module): module for module in shared})
