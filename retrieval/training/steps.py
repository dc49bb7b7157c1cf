"""A training step by step: its whole state is kept now and then, and an interrupted one goes on from there."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor, nn

from propcite.retrieval.errors import PropCiteError, RetrievalError
from propcite.retrieval.training import without_denormals
from propcite.retrieval.training.checkpoint import keep, kept


class Plan(Protocol):
    """What every recipe says of its steps."""

    @property
    def steps(self) -> int: ...

    @property
    def warmup(self) -> int: ...

    @property
    def seed(self) -> int: ...


class Dice(Protocol):
    """What is drawn by chance, and can go on where it stood; `random.Random` is one."""

    def getstate(self) -> Any: ...

    def setstate(self, state: Any, /) -> None: ...


class Steps(ABC):
    """Runs a plan; what a step learns from is the subclass's.  Weights that no longer learn are not kept."""

    slowest: ClassVar[float] = 0.02  # of the recipe's pace, at its last steps
    kept_every: ClassVar[int] = 100  # steps between checkpoints
    error: ClassVar[type[PropCiteError]] = RetrievalError

    def __init__(
        self,
        plan: Plan,
        learning: nn.Module,
        groups: Sequence[dict[str, Any]],
        checkpoint: Path,
        *,
        dice: Sequence[Dice] = (),
        given: Mapping[str, Any] | None = None,
    ) -> None:
        """`groups` are the optimizer's; `given` is all that a checkpoint must have been made with."""
        self.step = 0
        self._plan, self._checkpoint, self._dice_kept, self._given = plan, checkpoint, dice, dict(given or {})
        self._learned = {name: p for name, p in learning.named_parameters() if p.requires_grad}
        self._optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._pace)

    @abstractmethod
    def next_loss(self) -> Tensor:
        """Of the next rows."""

    def _pace(self, step: int) -> float:
        return min(1.0, (step + 1) / self._plan.warmup) * max(self.slowest, 1 - step / self._plan.steps)

    def run(self, report: Callable[[int, float], None] = lambda *_: None) -> None:
        """The steps that are left."""
        with without_denormals():
            while self.step < self._plan.steps:
                loss = self._learn()
                self.step += 1
                report(self.step, loss)
                if self.step % self.kept_every == 0 or self.step == self._plan.steps:
                    self._keep()

    def _learn(self) -> float:
        loss = self.next_loss()
        if not math.isfinite(loss.item()):
            raise self.error(f"step {self.step + 1} has no finite loss: give a smaller learning rate")
        self._optimizer.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self._learned.values(), 1.0)
        self._optimizer.step()
        self._schedule.step()
        return loss.item()

    def _keep(self) -> None:
        state = {
            "given": self._given,
            "step": self.step,
            "learned": {name: p.detach() for name, p in self._learned.items()},
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
            "dice": [dice.getstate() for dice in self._dice_kept],
            "torch": torch.get_rng_state(),
        }
        keep(self._checkpoint, state, self.error)

    def resume(self) -> bool:
        """Go on from the last checkpoint.  -> whether there was one"""
        state = kept(self._checkpoint, self._given, self.error)
        if state is None:
            return False
        with torch.no_grad():
            for name, learned in self._learned.items():
                learned.copy_(state["learned"][name])
        self._optimizer.load_state_dict(state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])
        for dice, stood in zip(self._dice_kept, state["dice"], strict=True):
            dice.setstate(stood)
        torch.set_rng_state(state["torch"])
        self.step = int(state["step"])
        return True
