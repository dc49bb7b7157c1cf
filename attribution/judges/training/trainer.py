"""Training the cross-encoder over pairs, those of like length together."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.network import Network, Reader
from propcite.attribution.judges.training.pairs import Pair
from propcite.retrieval.encoding.checkpoints import bundled_model
from propcite.retrieval.training.steps import Steps

CHECKPOINT = "judge.pt"
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


class Trainer(Steps):
    """Runs a recipe over pairs; its state lives in `folder`."""

    error = AttributionError
    slowest = 0.01

    def __init__(self, recipe: Recipe, pairs: Sequence[Pair], folder: Path) -> None:
        self.recipe = recipe
        torch.manual_seed(recipe.seed)
        reader = Reader(bundled_model())
        self.network = Network(bundled_model()).train()
        self._pairs = list(zip(reader.read([(p.claim, p.evidence, p.context) for p in pairs]),
                               [p.label for p in pairs], strict=True))  # fmt: skip
        groups = [
            {"params": [p for p in self.network.base.parameters() if p.requires_grad], "lr": recipe.learning_rate},
            {"params": list(self.network.head.parameters()), "lr": recipe.head_rate},
        ]
        super().__init__(recipe, self.network, groups, folder / CHECKPOINT, given=asdict(recipe))
        self._coming = enumerate(self._batches())

    def next_loss(self) -> Tensor:
        """Of the next batch that no earlier run has learned from."""
        batch = next(batch for number, batch in self._coming if number >= self.step)
        wanted = torch.tensor([0.5 + SURE * (label - 0.5) for _, label in batch])
        return F.binary_cross_entropy_with_logits(self.network([read for read, _ in batch]), wanted)

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

    def weights(self) -> dict[str, Tensor]:
        """What training may have changed, by name."""
        return {n: p.detach() for n, p in self.network.named_parameters() if p.requires_grad}
