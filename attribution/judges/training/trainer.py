"""Training the cross-encoder over pairs: resumable, a checkpoint is whole or not there."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from attribution.errors import AttributionError
from attribution.judges.network import Network, Reader
from attribution.judges.training.pairs import Pair
from retrieval.checkpoints import bundled_model
from retrieval.training import without_denormals
from retrieval.training.checkpoint import keep, kept

CHECKPOINT = "judge.pt"
KEPT_EVERY = 200  # steps between checkpoints
SORTED = 24  # batches whose pairs are sorted by length together
SURE = 0.96  # a supported pair's target is so far from an unsupported one's
Read = tuple[list[int], int]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that the result depends on beside the pairs."""

    steps: int = 2300
    batch_size: int = 32
    learning_rate: float = 1e-4
    head_rate: float = 1e-3
    warmup: int = 150
    seed: int = 0


class Trainer:
    """Runs a recipe over pairs; its state lives in `folder`."""

    def __init__(self, recipe: Recipe, pairs: Sequence[Pair], folder: Path) -> None:
        self.recipe, self.folder = recipe, folder
        torch.manual_seed(recipe.seed)
        reader = Reader(bundled_model())
        self.network = Network(bundled_model()).train()
        self._pairs = list(zip(reader.read([(p.claim, p.evidence, p.context) for p in pairs]),
                               [p.label for p in pairs], strict=True))  # fmt: skip
        groups = [
            {"params": [p for p in self.network.base.parameters() if p.requires_grad], "lr": recipe.learning_rate},
            {"params": list(self.network.head.parameters()), "lr": recipe.head_rate},
        ]
        self._optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._pace)
        self.step = 0

    def _pace(self, step: int) -> float:
        recipe = self.recipe
        return min(1.0, (step + 1) / recipe.warmup) * max(0.01, 1 - step / recipe.steps)

    def run(self, report: Callable[[int, float], None] = lambda *_: None) -> None:
        """The steps that are left."""
        with without_denormals():
            for number, batch in enumerate(self._batches(), start=1):
                if number <= self.step:
                    continue
                loss = self._learn(batch)
                self.step = number
                report(number, loss)
                if number % KEPT_EVERY == 0 or number == self.recipe.steps:
                    self._keep()

    def _batches(self) -> Iterator[list[tuple[Read, float]]]:
        """The recipe's steps of pairs of like length; the pairs in their order, again and again."""
        dice, size = random.Random(self.recipe.seed), self.recipe.batch_size
        made = at = 0
        while made < self.recipe.steps:
            pool = [self._pairs[(at + i) % len(self._pairs)] for i in range(SORTED * size)]
            at += len(pool)
            pool.sort(key=lambda pair: len(pair[0][0]))
            groups = [pool[i : i + size] for i in range(0, len(pool), size)]
            dice.shuffle(groups)
            yield from groups[: self.recipe.steps - made]
            made += len(groups)

    def _learn(self, batch: Sequence[tuple[Read, float]]) -> float:
        wanted = torch.tensor([0.5 + SURE * (label - 0.5) for _, label in batch])
        loss = F.binary_cross_entropy_with_logits(self.network([read for read, _ in batch]), wanted)
        if not math.isfinite(loss.item()):
            raise AttributionError(f"step {self.step + 1} has no finite loss: give a smaller learning rate")
        self._optimizer.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self._optimizer.step()
        self._schedule.step()
        return loss.item()

    def _keep(self) -> None:
        state = {
            "recipe": asdict(self.recipe),
            "step": self.step,
            "network": {n: p.detach() for n, p in self.network.named_parameters() if p.requires_grad},
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
            "dice": torch.get_rng_state(),
        }
        keep(self.folder / CHECKPOINT, state, AttributionError)

    def resume(self) -> bool:
        """Go on from the last checkpoint.  -> whether there was one"""
        state = kept(self.folder / CHECKPOINT, asdict(self.recipe), AttributionError)
        if state is None:
            return False
        self.network.load_state_dict(state["network"], strict=False)
        self._optimizer.load_state_dict(state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])
        torch.set_rng_state(state["dice"])
        self.step = int(state["step"])
        return True

    def weights(self) -> dict[str, Tensor]:
        """What training may have changed, by name."""
        return {n: p.detach() for n, p in self.network.named_parameters() if p.requires_grad}
