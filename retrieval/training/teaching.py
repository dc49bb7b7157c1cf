"""Training a teacher: sentences that hold an answer against those beside them, by binary cross-entropy."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from retrieval.checkpoints import bundled_model
from retrieval.errors import RetrievalError
from retrieval.training import without_denormals
from retrieval.training.checkpoint import keep, kept
from retrieval.training.losses import told_apart
from retrieval.training.rows import Mixture, Row
from retrieval.training.teacher import Kind, Teacher

CHECKPOINT = "teacher.pt"
KEPT_EVERY = 100  # steps between checkpoints


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


class Teaching:
    """Runs a recipe over rows; its state lives in `folder`."""

    def __init__(self, recipe: Recipe, rows: Sequence[Row], folder: Path, base: str = "", device: str = "") -> None:
        self.recipe, self.folder = recipe, folder
        torch.manual_seed(recipe.seed)
        self.teacher = Teacher(recipe.kind, base or bundled_model())
        self.teacher.to(device or ("cuda" if torch.cuda.is_available() else "cpu")).train()
        self._mixture = Mixture(rows, recipe.seed)
        self._dice = random.Random(recipe.seed + 1)
        groups = [
            {"params": list(self.teacher.network.parameters()), "lr": recipe.learning_rate},
            {"params": list(self.teacher.head.parameters()), "lr": recipe.head_rate},
        ]
        self._optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._pace)
        self.step = 0

    def _pace(self, step: int) -> float:
        return min(1.0, (step + 1) / self.recipe.warmup) * max(0.02, 1 - step / self.recipe.steps)

    def run(self, report: Callable[[int, float], None] = lambda *_: None) -> None:
        """The steps that are left."""
        with without_denormals():
            while self.step < self.recipe.steps:
                loss = self._learn(self._mixture.draw(self.recipe.batch_size))
                self.step += 1
                report(self.step, loss)
                if self.step % KEPT_EVERY == 0 or self.step == self.recipe.steps:
                    self._keep()

    def _learn(self, rows: Sequence[Row]) -> float:
        asked = [(row, number) for row in rows for number in self._shown(row)]
        positive = torch.tensor([number in row.positives for row, number in asked], device=self.teacher.device)
        weights = torch.tensor([row.weight for row, _ in asked], device=self.teacher.device)
        loss = told_apart(self.teacher(asked), positive, weights)
        if not math.isfinite(loss.item()):
            raise RetrievalError(f"step {self.step + 1} has no finite loss: give a smaller learning rate")
        self._optimizer.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self.teacher.parameters(), 1.0)
        self._optimizer.step()
        self._schedule.step()
        return loss.item()

    def _shown(self, row: Row) -> list[int]:
        """The sentences of a row that a step asks about."""
        if self.recipe.kind == "joint":
            return list(range(len(row.sentences)))
        others = [i for i in range(len(row.sentences)) if i not in row.positives]
        return [*sorted(row.positives), *self._dice.sample(others, min(self.recipe.negatives, len(others)))]

    def _keep(self) -> None:
        state = {
            "recipe": asdict(self.recipe),
            "step": self.step,
            "teacher": self.teacher.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
            "dice": (self._mixture.state(), self._dice.getstate(), torch.get_rng_state()),
        }
        keep(self.folder / CHECKPOINT, state)

    def resume(self) -> bool:
        """Go on from the last checkpoint.  -> whether there was one"""
        state = kept(self.folder / CHECKPOINT, asdict(self.recipe))
        if state is None:
            return False
        self.teacher.load_state_dict(state["teacher"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])
        mixture, dice, torch_state = state["dice"]
        self._mixture.go_on(mixture)
        self._dice.setstate(dice)
        torch.set_rng_state(torch_state)
        self.step = int(state["step"])
        return True

    def save(self, out: Path, about: dict[str, Any]) -> None:
        self.teacher.save(out, {**about, "recipe": asdict(self.recipe)})
