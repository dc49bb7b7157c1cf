"""The training loop: optimizer steps with regular checkpoints, from which an interrupted training is resumed."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor, nn

from propcite.retrieval.errors import PropCiteError, RetrievalError
from propcite.retrieval.saving import atomic_write
from propcite.retrieval.training import without_denormals


class Recipe(Protocol):
    """The fields that every recipe has."""

    @property
    def steps(self) -> int: ...

    @property
    def warmup(self) -> int: ...

    @property
    def seed(self) -> int: ...


class RandomSource(Protocol):
    """Something random whose state can be saved and restored; `random.Random` is one."""

    def getstate(self) -> Any: ...

    def setstate(self, state: Any, /) -> None: ...


class TrainingLoop(ABC):
    """Runs the steps of a recipe; subclasses compute the loss.  Frozen weights are not in the checkpoints."""

    min_pace: ClassVar[float] = 0.02  # the last steps' share of the learning rate
    checkpoint_every: ClassVar[int] = 100  # steps
    error: ClassVar[type[PropCiteError]] = RetrievalError

    def __init__(
        self,
        recipe: Recipe,
        module: nn.Module,
        groups: Sequence[dict[str, Any]],
        checkpoint: Path,
        *,
        random_sources: Sequence[RandomSource] = (),
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        """`groups` are the optimizer's parameter groups.  A checkpoint with other `inputs` cannot be resumed."""
        self.step = 0
        self._recipe, self._checkpoint, self._inputs = recipe, checkpoint, dict(inputs or {})
        self._random_sources = random_sources
        self._parameters = {name: p for name, p in module.named_parameters() if p.requires_grad}
        self._optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._pace)

    @abstractmethod
    def next_loss(self) -> Tensor:
        """Compute the loss of the next rows."""

    def _pace(self, step: int) -> float:
        return min(1.0, (step + 1) / self._recipe.warmup) * max(self.min_pace, 1 - step / self._recipe.steps)

    def run(self, progress: Callable[[int, float], None] = lambda *_: None) -> None:
        """Run the remaining steps; `progress` gets each step's number and loss."""
        with without_denormals():
            while self.step < self._recipe.steps:
                loss = self._learn()
                self.step += 1
                progress(self.step, loss)
                if self.step % self.checkpoint_every == 0 or self.step == self._recipe.steps:
                    self._save_checkpoint()

    def _learn(self) -> float:
        loss = self.next_loss()
        if not math.isfinite(loss.item()):
            raise self.error(f"the loss of step {self.step + 1} is not finite: give a smaller learning rate")
        self._optimizer.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self._parameters.values(), 1.0)
        self._optimizer.step()
        self._schedule.step()
        return loss.item()

    def _save_checkpoint(self) -> None:
        """Write the whole state to one file, atomically: the previous checkpoint stays if writing fails."""
        state = {
            "given": self._inputs,
            "step": self.step,
            "learned": {name: p.detach() for name, p in self._parameters.items()},
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
            "dice": [source.getstate() for source in self._random_sources],
            "torch": torch.get_rng_state(),
        }
        with atomic_write(self._checkpoint, self.error) as new:
            try:
                torch.save(state, new)
            except RuntimeError as error:  # torch raises this when the disk is full
                raise OSError(f"not enough space: {error}") from error

    def resume(self) -> bool:
        """Restore the last checkpoint; return whether there was one."""
        if not self._checkpoint.exists():
            return False
        state = self._load_checkpoint()
        with torch.no_grad():
            for name, parameter in self._parameters.items():
                parameter.copy_(state["learned"][name])
        self._optimizer.load_state_dict(state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])
        for source, source_state in zip(self._random_sources, state["dice"], strict=True):
            source.setstate(source_state)
        torch.set_rng_state(state["torch"])
        self.step = int(state["step"])
        return True

    def _load_checkpoint(self) -> dict[str, Any]:
        path = self._checkpoint
        try:
            state: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
        except Exception as error:  # the unpickler raises its own kinds
            reason = str(error).split("\n", 1)[0].split(". ", 1)[0]
            raise self.error(f"cannot read {path} ({reason}): remove it and train without --resume") from error
        saved = state.get("given", {})
        names = sorted({*saved, *self._inputs})
        if different := [name for name in names if saved.get(name) != self._inputs.get(name)]:
            raise self.error(
                f"{path} was made with a different {', '.join(different)}: use the same, or another --work folder"
            )
        return state
