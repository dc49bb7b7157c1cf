"""Train the network that words claims; the rest of the splitter stays as it is.

This module imports torch: import it only where it is needed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.attribution.english import FUNCTION_WORDS
from propcite.attribution.propositions.grouped.steps import ADDED
from propcite.attribution.propositions.grouped.writer import BEGIN, END, Claims, ClaimWriter, batch_of, places
from propcite.attribution.propositions.training.wordings import Wording

BATCH = 48
LEARNING_RATE = 1e-3
LEAST_SHARE = 0.01  # of the learning rate, at the end
WARMUP = 100  # steps
GRADIENT_NORM = 1.0
FORM_WEIGHT = 0.5  # of the forms' loss, relative to that of the words
GROUPED = 0.5  # share of the claims that are read as the network groups them, where it does
LEFT_OUT, PUT_IN = 0.15, 0.04  # share of a claim's function words that are left out, and of others that are put in
IGNORED = -100
_ADDED_NUMBERS = {word: number for number, word in enumerate(ADDED)}


@dataclass(frozen=True, slots=True)
class _Batch:
    """Claims, the words before each step, what is known of the tokens then, and the words and forms to learn."""

    claims: Claims
    taken: Tensor
    forms: Tensor
    added: Tensor
    places: Tensor
    words: Tensor
    of_form: Tensor


def loss(writer: ClaimWriter, wordings: Sequence[Wording]) -> Tensor:
    """Return the cross-entropy of the words of claims, and of the forms of those that are the sentence's."""
    batch = _batch(writer, wordings)
    tokens, keys, state = writer.read(batch.claims)
    before = writer.after(tokens, batch.taken, batch.forms, batch.added)
    states = writer.dropout(writer.cell(writer.dropout(before), state)[0])
    words = writer.next_words(tokens, keys, states, batch.places, batch.claims.mask)
    of_words = F.nll_loss(words.flatten(0, 1), batch.words.flatten(), ignore_index=IGNORED)
    is_taken = batch.of_form != IGNORED
    forms = writer.forms(tokens, states, torch.where(is_taken, batch.words, 0))
    of_forms = F.cross_entropy(forms.flatten(0, 1), batch.of_form.flatten(), ignore_index=IGNORED)
    return of_words + FORM_WEIGHT * of_forms


def _batch(writer: ClaimWriter, wordings: Sequence[Wording]) -> _Batch:
    device = writer.first.weight.device
    claims = batch_of([(wording.states.to(device).float(), _held(wording)) for wording in wordings])
    rows, num_tokens = claims.mask.shape
    longest = max(len(wording.steps) for wording in wordings) + 1
    taken, forms = torch.full((rows, longest), -1), torch.zeros((rows, longest), dtype=torch.long)
    added = torch.full((rows, longest), BEGIN)
    words, of_form = torch.full((rows, longest), IGNORED), torch.full((rows, longest), IGNORED)
    last, said = torch.full((longest, rows), -1), torch.zeros((longest, rows, num_tokens), dtype=torch.bool)
    for row, wording in enumerate(wordings):
        for at, (token, form, word) in enumerate(wording.steps):
            if token is None:
                added[row, at + 1] = _ADDED_NUMBERS[word]
                words[row, at] = num_tokens + _ADDED_NUMBERS[word]
                last[at + 1 :, row] = last[at, row]
            else:
                taken[row, at + 1], forms[row, at + 1] = token, form
                words[row, at], of_form[row, at] = token, form
                last[at + 1 :, row] = token
                said[at + 1 :, row, token] = True
        words[row, len(wording.steps)] = num_tokens + END
    held = claims.held.cpu()
    known = torch.stack([places(last[at], said[at], held) for at in range(longest)], 1)
    moved = (tensor.to(device) for tensor in (taken, forms, added, known, words, of_form))
    return _Batch(claims, *moved)


def _held(wording: Wording) -> frozenset[int]:
    """Return tokens that the claim shall say: those that it says or that the network groups, with other small words."""
    held = random.choice(wording.grouped) if wording.grouped and random.random() < GROUPED else wording.held
    small = {at for at, word in enumerate(wording.words) if word in FUNCTION_WORDS}
    left_out = {at for at in held & small if random.random() < LEFT_OUT}
    put_in = {at for at in small - held if random.random() < PUT_IN}
    return (held - left_out) | put_in or wording.held


def num_steps(wordings: Sequence[Wording], epochs: int) -> int:
    return epochs * math.ceil(len(wordings) / BATCH)


def train(
    writer: ClaimWriter,
    wordings: Sequence[Wording],
    *,
    epochs: int,
    learning_rate: float = LEARNING_RATE,
    seed: int = 0,
    progress: Callable[[float], None] = lambda _: None,
) -> None:
    """Train a writer on these claims; `progress` gets each step's loss."""
    random.seed(seed)
    torch.manual_seed(seed)
    steps = num_steps(wordings, epochs)
    optimizer = torch.optim.AdamW(writer.parameters(), lr=learning_rate, weight_decay=0.01)
    writer.train().requires_grad_(True)
    number = 0
    for _ in range(epochs):
        for some in _batches(wordings):
            left = LEAST_SHARE + (1 - LEAST_SHARE) * (1 + math.cos(math.pi * number / steps)) / 2
            for group in optimizer.param_groups:
                group["lr"] = learning_rate * min(1, number / WARMUP) * left
            value = loss(writer, some)
            optimizer.zero_grad()
            torch.autograd.backward(value)
            torch.nn.utils.clip_grad_norm_(writer.parameters(), GRADIENT_NORM)
            optimizer.step()
            number += 1
            progress(value.item())
    writer.eval().requires_grad_(False)


def _batches(wordings: Sequence[Wording]) -> Iterator[list[Wording]]:
    """Yield all claims in random order, in batches of similar length."""
    order = random.sample(wordings, len(wordings))
    made: list[list[Wording]] = []
    for first in range(0, len(order), 20 * BATCH):
        near = sorted(order[first : first + 20 * BATCH], key=lambda one: (len(one.words) // 4, len(one.steps)))
        made += [near[at : at + BATCH] for at in range(0, len(near), BATCH)]
    random.shuffle(made)
    yield from made
