"""Train a teacher: sentences that hold an answer against the others of their passage, by binary cross-entropy."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from propcite.retrieval.encoding.bundled import bundled_model
from propcite.retrieval.training.loop import TrainingLoop
from propcite.retrieval.training.losses import sentence_loss
from propcite.retrieval.training.rows import Row
from propcite.retrieval.training.sampling import Mixture
from propcite.retrieval.training.teacher import Kind, Teacher

CHECKPOINT = "teacher.pt"


@dataclass(frozen=True, slots=True)
class TeacherRecipe:
    """The settings that determine the result, apart from the data."""

    kind: Kind = "marked"
    steps: int = 600
    batch_size: int = 16
    negatives: int = 3  # wrong sentences per row that a marked teacher reads; a joint one reads all
    learning_rate: float = 5e-5
    head_rate: float = 1e-3
    warmup: int = 50
    seed: int = 0


class TeacherTrainer(TrainingLoop):
    """Trains a teacher on rows; checkpoints are in `folder`."""

    def __init__(
        self, recipe: TeacherRecipe, rows: Sequence[Row], folder: Path, base: str = "", device: str = "",
        precision: str = "float32",
    ) -> None:  # fmt: skip
        self.recipe = recipe
        torch.manual_seed(recipe.seed)
        self.teacher = Teacher(recipe.kind, base or bundled_model(), precision)
        self.teacher.to(device or ("cuda" if torch.cuda.is_available() else "cpu")).train()
        self._mixture = Mixture(rows, recipe.seed)
        self._rng = random.Random(recipe.seed + 1)
        groups = [
            {"params": list(self.teacher.network.parameters()), "lr": recipe.learning_rate},
            {"params": list(self.teacher.head.parameters()), "lr": recipe.head_rate},
        ]
        super().__init__(
            recipe, self.teacher, groups, folder / CHECKPOINT,
            random_sources=(self._mixture, self._rng), inputs={**asdict(recipe), "base": self.teacher.base},
        )  # fmt: skip

    def next_loss(self) -> Tensor:
        rows = self._mixture.draw(self.recipe.batch_size)
        sentences = [(row, number) for row in rows for number in self._draw_sentences(row)]
        positive = torch.tensor([number in row.positives for row, number in sentences], device=self.teacher.device)
        weights = torch.tensor([row.weight for row, _ in sentences], device=self.teacher.device)
        return sentence_loss(self.teacher(sentences), positive, weights)

    def _draw_sentences(self, row: Row) -> list[int]:
        """Draw the sentences of a row that a step reads."""
        if self.recipe.kind == "joint":
            return list(range(len(row.sentences)))
        others = [i for i in range(len(row.sentences)) if i not in row.positives]
        return [*sorted(row.positives), *self._rng.sample(others, min(self.recipe.negatives, len(others)))]

    def save(self, out: Path, info: dict[str, Any]) -> None:
        self.teacher.save(out, {**info, "recipe": asdict(self.recipe)})
