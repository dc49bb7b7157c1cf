"""Train the splitter's network over the judge's lower layers.

This module imports torch: import it only where it is needed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import reader_files
from propcite.attribution.propositions import splitter_files
from propcite.attribution.propositions.grammar_head import ParseLogits
from propcite.attribution.propositions.network import LAYERS, Network, fingerprint
from propcite.attribution.propositions.training.examples import Example, whole_fact
from propcite.attribution.propositions.training.targets import IGNORED, Targets, TrainingRow, rows_of, targets
from propcite.retrieval.saving import atomic_write
from propcite.retrieval.training import without_denormals

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

STYLE_UNKNOWN = 0.5  # share of rows read without their style, so that `any` is learned from all styles but `clause`
ONE_IN = 4  # of the many rows of clauses, of grammar, and of the facts read as sentences, an epoch reads one in four
BATCH = 16
PAIR_WEIGHT = 2.0  # of the pairs' loss, relative to the roles'
PARSE_WEIGHT = 1.0  # of the losses of tags, heads and relations
WARMUP = 50  # steps
GRADIENT_NORM = 1.0


def loss(pairs: Tensor, roles: Tensor, target: Targets) -> Tensor:
    """Return the weighted cross-entropy of the pairs plus that of the roles; 0 without propositions."""
    each = F.binary_cross_entropy_with_logits(pairs, target.pairs, reduction="none") * target.weights
    of_pairs = each.sum() / target.weights.sum().clamp(min=1.0)
    return PAIR_WEIGHT * of_pairs + _cross_entropy(roles, target.roles)


def parse_loss(network: Network, logits: ParseLogits, target: Targets) -> Tensor:
    """Return the cross-entropies of tags, heads and relations together; 0 without parses."""
    tokens = torch.arange(logits.heads.shape[-1], device=logits.heads.device)
    is_token = tokens < (target.tags != IGNORED).sum(-1, keepdim=True)
    heads = logits.heads.masked_fill(~is_token.unsqueeze(1), -1e4)
    relations = network.grammar.relations(logits, target.heads.clamp(min=0))
    total = _cross_entropy(logits.tags, target.tags) + _cross_entropy(heads, target.heads)
    return total + _cross_entropy(relations, target.relations)


def _cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    total = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORED, reduction="sum")
    return total / (target != IGNORED).sum().clamp(min=1)


def batch_loss(network: Network, rows: Sequence[TrainingRow]) -> Tensor:
    """Return the loss of a batch of rows, on the network's device."""
    batch = network.batch([row.pieces for row in rows], [_draw_style(row.style) for row in rows])
    with _in_half(batch.ids.device):
        states = network.states(batch)
    pairs, roles, parses = network.scores(states, batch)
    target = targets(rows, batch.ids.device)
    return loss(pairs, roles, target) + PARSE_WEIGHT * parse_loss(network, parses, target)


def _in_half(device: torch.device) -> AbstractContextManager[Any]:
    return torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else nullcontext()


def _draw_style(style: str) -> str:
    return "any" if style == "grammar" or (style != "clause" and random.random() < STYLE_UNKNOWN) else style


class Step:
    """One step of training after another: AdamW, and gradients of at most one length."""

    def __init__(self, network: Network, learning_rate: float) -> None:
        self.network = network
        self._trained = list(network.trained_parameters().values())
        on_gpu = self._trained[0].is_cuda
        self._optimizer = torch.optim.AdamW(self._trained, lr=learning_rate, weight_decay=0.01, fused=on_gpu or None)
        self._learning_rate = learning_rate
        self.number = 0

    def __call__(self, rows: Sequence[TrainingRow], left: float) -> Tensor:
        """Train on rows while this share of the training is left; return the loss."""
        for group in self._optimizer.param_groups:
            group["lr"] = self._learning_rate * min(1, self.number / WARMUP) * max(0.02, left)
        value = batch_loss(self.network, rows)
        self._optimizer.zero_grad()
        torch.autograd.backward(value)
        torch.nn.utils.clip_grad_norm_(self._trained, GRADIENT_NORM)
        self._optimizer.step()
        self.number += 1
        return value.detach()


def train(
    examples: Sequence[Example],
    out: Path,
    *,
    epochs: int = 5,
    batch_size: int = BATCH,
    learning_rate: float = 1e-3,
    layers: int = LAYERS,
    seed: int = 0,
    start: Path | None = None,
    device: str = "",
    progress: Callable[[int, int, float], None] = lambda *_: None,
) -> Path:
    """Train on these examples; the weights are written atomically after every epoch.

    `start` is a file of weights to train further.  `progress` gets each step's number, that of all steps, and the loss.
    """
    random.seed(seed)
    torch.manual_seed(seed)
    network = splitter_files.new_network(layers, device=device)
    if start is not None:
        splitter_files.start_from(network, start)
    network.parses = any(e.parse for e in examples)
    network.train()
    about = reader_files.describe(reader_files.READER)
    seen = {fingerprint(e.sentence) for e in examples if e.propositions}
    steps = num_steps(examples, epochs, batch_size)
    step = Step(network, learning_rate)
    with without_denormals():
        for epoch in range(epochs):
            for rows in batches(list(rows_of(network, epoch_examples(examples, epoch))), batch_size):
                value = step(rows, 1 - step.number / steps)
                progress(step.number, steps, value.item())
            with atomic_write(out, AttributionError) as new:
                splitter_files.save(new, network, seen, about)
    return out


def epoch_examples(examples: Sequence[Example], epoch: int) -> list[Example]:
    """Return the examples of an epoch: some several times, clauses, single facts and grammar in turns."""
    chosen: list[Example] = []
    for number, example in enumerate(examples):
        turn = (number + epoch) % ONE_IN == 0
        if example.style in {"clause", "grammar"}:
            chosen += [example] * turn
        else:
            chosen += [example] * example.repeats
            if turn and example.facts:
                chosen.append(whole_fact(example.facts[(number + epoch) // ONE_IN % len(example.facts)]))
    return chosen


def num_steps(examples: Sequence[Example], epochs: int, batch_size: int = BATCH) -> int:
    return sum(math.ceil(len(epoch_examples(examples, epoch)) / batch_size) for epoch in range(epochs))


def batches(rows: Sequence[TrainingRow], size: int) -> Iterator[list[TrainingRow]]:
    """Yield all rows in random order, in batches of similar length."""
    order = iter(random.sample(rows, len(rows)))
    made: list[list[TrainingRow]] = []
    while some := list(islice(order, 20 * size)):
        near = sorted(some, key=lambda row: len(row.pieces.ids))
        made += [near[i : i + size] for i in range(0, len(near), size)]
    random.shuffle(made)
    yield from made
