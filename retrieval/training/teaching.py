"""Training a teacher: sentences that hold an answer against those beside them, by binary cross-entropy."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from propcite.retrieval.encoding.checkpoints import bundled_model
from propcite.retrieval.training.losses import told_apart
from propcite.retrieval.training.rows import Mixture, Row
from propcite.retrieval.training.steps import Steps
from propcite.retrieval.training.teacher import Kind, Teacher

CHECKPOINT = "teacher.pt"


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that the result depends on beside the data."""

    kind: Kind = "marked"
    steps: int = 600
    batch_size: int = 16
    negatives: int = 3  # sentences beside the right ones that a marked teacher reads of a passage; a joint one all
    learning_rate: float = 5e-5
    head_rate: float = 1e-3
    warmup: int = 50
    seed: int = 0


class Teaching(Steps):
    """Runs a recipe over rows; its state lives in `folder`."""

    def __init__(
        self, recipe: Recipe, rows: Sequence[Row], folder: Path, base: str = "", device: str = "",
        precision: str = "float32",
    ) -> None:  # fmt: skip
        self.recipe = recipe
        torch.manual_seed(recipe.seed)
        self.teacher = Teacher(recipe.kind, base or bundled_model(), precision)
        self.teacher.to(device or ("cuda" if torch.cuda.is_available() else "cpu")).train()
        self._mixture = Mixture(rows, recipe.seed)
        self._dice = random.Random(recipe.seed + 1)
        groups = [
            {"params": list(self.teacher.network.parameters()), "lr": recipe.learning_rate},
            {"params": list(self.teacher.head.parameters()), "lr": recipe.head_rate},
        ]
        super().__init__(
            recipe, self.teacher, groups, folder / CHECKPOINT,
            dice=(self._mixture, self._dice), given={**asdict(recipe), "base": self.teacher.base},
        )  # fmt: skip

    def next_loss(self) -> Tensor:
        asked = [(row, number) for row in self._mixture.draw(self.recipe.batch_size) for number in self._shown(row)]
        positive = torch.tensor([number in row.positives for row, number in asked], device=self.teacher.device)
        weights = torch.tensor([row.weight for row, _ in asked], device=self.teacher.device)
        return told_apart(self.teacher(asked), positive, weights)

    def _shown(self, row: Row) -> list[int]:
        """The sentences of a row that a step asks about."""
        if self.recipe.kind == "joint":
            return list(range(len(row.sentences)))
        others = [i for i in range(len(row.sentences)) if i not in row.positives]
        return [*sorted(row.positives), *self._dice.sample(others, min(self.recipe.negatives, len(others)))]

    def save(self, out: Path, about: dict[str, Any]) -> None:
        self.teacher.save(out, {**about, "recipe": asdict(self.recipe)})
