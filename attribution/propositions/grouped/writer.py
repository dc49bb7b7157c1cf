"""The network that writes a claim: word after word, it takes one of the sentence or adds one of a few.

This module imports torch: import it only where it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from propcite.attribution.propositions.grouped.steps import ADDED, Form, Step

WIDTH = 192
HEADS = 4
DROPOUT = 0.1
NUM_PLACES = 4  # what is known of a token beside its state: see `places`
MAX_STEPS = 40  # words of a claim
BATCH = 64  # claims
END, BEGIN = len(ADDED), len(ADDED) + 1  # beside the added words

_NEVER = -1e4


class Claims(NamedTuple):
    """Claims as the network reads them: states of the tokens (b, n, d), which it shall say, and which are tokens."""

    states: Tensor
    held: Tensor
    mask: Tensor


@dataclass(frozen=True, slots=True)
class Written:
    """A claim as the network wrote it, and the geometric mean of its words' probabilities."""

    steps: tuple[Step, ...]
    probability: float


class ClaimWriter(nn.Module):
    """Writes claims from the states of a sentence's tokens: (b, n, d) -> words, one after another."""

    def __init__(self, states_width: int, width: int = WIDTH) -> None:
        super().__init__()
        self.tokens = nn.Linear(states_width, width)
        self.held = nn.Embedding(2, width)
        self.context = nn.TransformerEncoderLayer(
            width, HEADS, 2 * width, DROPOUT, "gelu", batch_first=True, norm_first=True
        )
        self.first = nn.Linear(width, width)
        self.added = nn.Embedding(len(ADDED) + 2, width)
        self.form = nn.Embedding(len(Form), width)
        self.cell = nn.GRU(width, width, batch_first=True)
        self.key, self.query = nn.Linear(width, width), nn.Linear(width, width)
        self.place = nn.Linear(width, NUM_PLACES)
        self.add = nn.Linear(2 * width, len(ADDED) + 1)
        self.inflect = nn.Linear(2 * width, len(Form))
        self.dropout = nn.Dropout(DROPOUT)

    def read(self, claims: Claims) -> tuple[Tensor, Tensor, Tensor]:
        """Return the tokens as each claim reads them and their keys, (b, n, w), and the first state, (1, b, w)."""
        tokens = self.tokens(claims.states) + self.held(claims.held)
        tokens = self.context(tokens, src_key_padding_mask=~claims.mask)
        held = claims.held.unsqueeze(-1).float()
        mean = (tokens * held).sum(1) / held.sum(1).clamp(min=1)
        return tokens, self.key(tokens), torch.tanh(self.first(mean)).unsqueeze(0)

    def after(self, tokens: Tensor, taken: Tensor, forms: Tensor, added: Tensor) -> Tensor:
        """Return earlier words as the cell reads them: `taken` tokens, or where these are -1 `added` words.

        (b, t) -> (b, t, w)
        """
        words = _at(tokens, taken) + self.form(forms)
        return torch.where((taken >= 0).unsqueeze(-1), words, self.added(added))

    def next_words(self, tokens: Tensor, keys: Tensor, states: Tensor, places: Tensor, mask: Tensor) -> Tensor:
        """Return the log-probabilities of each token and each added word.  (b, t, w) -> (b, t, n + added + 1)"""
        take = self.query(states) @ keys.transpose(1, 2) / tokens.shape[-1] ** 0.5
        take = take + (places * self.place(states).unsqueeze(2)).sum(-1)
        take = take.masked_fill(~mask.unsqueeze(1), _NEVER)
        near = torch.softmax(take, -1) @ tokens
        return torch.log_softmax(torch.cat([take, self.add(torch.cat([states, near], -1))], -1), -1)

    def forms(self, tokens: Tensor, states: Tensor, taken: Tensor) -> Tensor:
        """Return the logits of the forms of taken tokens.  (b, t) -> (b, t, forms)"""
        return torch.as_tensor(self.inflect(torch.cat([states, _at(tokens, taken)], -1)))

    @torch.inference_mode()
    def write(self, sentences: Sequence[tuple[Tensor, Set[int]]]) -> list[Written | None]:
        """Return the claims of sentences, given the states of their tokens and which of these to say.

        None for a claim that does not end.
        """
        written: list[Written | None] = [None] * len(sentences)
        order = sorted(range(len(sentences)), key=lambda number: len(sentences[number][0]))
        for first in range(0, len(order), BATCH):
            some = order[first : first + BATCH]
            for number, one in zip(some, self._write([sentences[number] for number in some]), strict=True):
                written[number] = one
        return written

    def _write(self, sentences: Sequence[tuple[Tensor, Set[int]]]) -> list[Written | None]:
        claims = batch_of(sentences)
        device, num_tokens = claims.mask.device, claims.mask.shape[1]
        tokens, keys, state = self.read(claims)
        rows = torch.arange(len(sentences), device=device)
        taken = torch.full_like(rows, -1)
        forms, added = torch.zeros_like(rows), torch.full_like(rows, BEGIN)
        last, said = taken, torch.zeros_like(claims.mask)
        ended = torch.zeros_like(rows, dtype=torch.bool)
        history: list[Tensor] = []
        for _ in range(MAX_STEPS):
            before = self.after(tokens, taken.unsqueeze(1), forms.unsqueeze(1), added.unsqueeze(1))
            states, state = self.cell(before, state)
            near = places(last, said, claims.held).unsqueeze(1)
            likely = self.next_words(tokens, keys, states, near, claims.mask)[:, 0]
            likely[:, :num_tokens] = likely[:, :num_tokens].masked_fill(said, _NEVER)  # a token is said once
            best, chosen = likely.max(-1)
            is_taken = chosen < num_tokens
            taken = torch.where(is_taken, chosen, -1)
            forms = torch.where(is_taken, self.forms(tokens, states, taken.unsqueeze(1))[:, 0].argmax(-1), 0)
            added = torch.where(is_taken, BEGIN, chosen - num_tokens)
            history.append(torch.stack([taken.double(), forms.double(), added.double(), best.double()], -1))
            ended |= added == END
            if bool(ended.all()):
                break
            last = torch.where(is_taken, taken, last)
            said[rows[is_taken], taken[is_taken]] = True
        return [_written(words) for words in torch.stack(history, 1).tolist()]


def batch_of(sentences: Sequence[tuple[Tensor, Set[int]]]) -> Claims:
    """Return claims of one batch: states of each one's sentence, and the tokens that it shall say."""
    longest, device = max(len(states) for states, _ in sentences), sentences[0][0].device
    states = torch.zeros(len(sentences), longest, sentences[0][0].shape[-1], device=device)
    held = torch.zeros(len(sentences), longest, dtype=torch.long)
    for number, (own, tokens) in enumerate(sentences):
        states[number, : len(own)] = own
        held[number, sorted(tokens)] = 1
    lengths = torch.tensor([len(own) for own, _ in sentences])
    mask = torch.arange(longest) < lengths.unsqueeze(-1)
    return Claims(states, held.to(device), mask.to(device))


def places(last: Tensor, said: Tensor, held: Tensor) -> Tensor:
    """Return of each token whether it was said, is the next one, the next held one, and held.  (b, n) -> (b, n, 4)"""
    at = torch.arange(held.shape[1], device=held.device)
    waiting = (at > last.unsqueeze(-1)) & held.bool() & ~said
    next_held = torch.where(waiting, at, held.shape[1]).min(-1, keepdim=True).values
    return torch.stack([said, at == last.unsqueeze(-1) + 1, at == next_held, held.bool()], -1).float()


def _at(tokens: Tensor, taken: Tensor) -> Tensor:
    """(b, n, w), (b, t) -> (b, t, w); the first token where none is taken."""
    return torch.gather(tokens, 1, taken.clamp(min=0).unsqueeze(-1).expand(-1, -1, tokens.shape[-1]))


def _written(words: Sequence[Sequence[float]]) -> Written | None:
    """Return a claim from its words (token, form, added word, log-probability); None if it does not end."""
    steps: list[Step] = []
    total = 0.0
    for token, form, added, likely in words:
        total += likely
        if added == END:
            return Written(tuple(steps), float(torch.tensor(total / (len(steps) + 1)).exp()))
        steps.append(Step(int(token), Form(int(form))) if token >= 0 else Step(None, added=ADDED[int(added)]))
    return None
