"""Training the network that reads passages: its top layers learn to part sentences, and to rank passages as before.

Queries stay as they are: those for sentences with the network that was trained for them, those for passages with the
base, whose own ranking of the passages of a batch is what the learning one must keep.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from retrieval.checkpoints import bundled_model
from retrieval.encoder import Encoder
from retrieval.errors import RetrievalError
from retrieval.precision import dtype_of
from retrieval.queries import PASSAGES, as_model, with_markers, write
from retrieval.text import Granularity
from retrieval.training import without_denormals
from retrieval.training.batches import joined, masks
from retrieval.training.checkpoint import keep, kept
from retrieval.training.losses import any_positive, passage_scores, unit_scores, unlike
from retrieval.training.neighbours import neighbours
from retrieval.training.network import Queries, top_layers
from retrieval.training.passages import Passages
from retrieval.training.rows import Mixture, Row, as_claim

CHECKPOINT = "passages.pt"
KEPT_EVERY = 50  # steps between checkpoints
TOGETHER = 8  # passages of like length that are read at once


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that the result depends on beside the data."""

    layers: int = 2  # of the network, from its top: what learns
    steps: int = 400
    batch_size: int = 24  # half of it drawn, half of it passages near to those
    learning_rate: float = 1e-4
    warmup: int = 40
    propositions: float = 0.3  # share of the steps at their level
    claims: float = 0.3  # share of the rows whose query gives way to a claim of the passage itself
    others: float = 0.5  # weight of telling the unit from those of all passages of the batch
    questions: int = 8  # more passages a step, of questions whose ranking alone is kept, where some are given
    likeness: float = 2.0  # weight of ranking the batch's passages as the base ranks them
    share: float = 1.0  # of what training changed is kept
    seed: int = 0


class PassageTrainer:
    """Runs a recipe over rows whose passages the base has encoded; `queries` is the file of those for sentences."""

    def __init__(
        self, recipe: Recipe, rows: Sequence[Row], passages: Passages, encoder: Encoder, queries: Path, folder: Path,
        device: str = "", base: str = "", questions: Sequence[Row] = (), precision: str = "auto",
    ) -> None:  # fmt: skip
        self.recipe, self.passages, self.encoder, self.folder = recipe, passages, encoder, folder
        self.base = base or bundled_model()
        torch.manual_seed(recipe.seed)
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._fast = dtype_of(precision, self._device.type) == torch.bfloat16  # products in half the bits, sums in all
        transformer = with_markers(self.base)
        self._tokenizer = transformer.tokenizer
        self.network: Any = transformer.auto_model.to(self._device).eval()  # no dropout: the base has none either
        self._start = {name: t.cpu().clone() for name, t in self.network.state_dict().items()}
        self._learned = top_layers(self.network, recipe.layers)
        self.queries = Queries(with_markers(self.base), torch.ones(len(self._tokenizer)))
        self.queries.begin_with(queries)
        self.queries.to(self._device).eval().requires_grad_(False)
        rows, questions = ([r for r in given if len(self._texts(r)) == 1] for given in (rows, questions))
        self._mixture = Mixture(rows, recipe.seed)  # a passage of several windows is no single reading
        self._questions = Mixture(questions, recipe.seed + 2) if questions else None
        self._dice = random.Random(recipe.seed + 1)
        self._near, self._of_passage = neighbours(rows, passages)
        near, of_passage = neighbours(questions, passages)
        self._near_questions, self._of_questions = near, of_passage
        self._optimizer = torch.optim.AdamW(self._learned, lr=recipe.learning_rate, weight_decay=0.01)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._pace)
        self.step = 0

    def _texts(self, row: Row) -> list[str]:
        return self.encoder.texts_read(self.passages.passage(self.passages.number(row)))

    def _pace(self, step: int) -> float:
        return min(1.0, (step + 1) / self.recipe.warmup) * max(0.02, 1 - step / self.recipe.steps)

    def run(self, report: Callable[[int, float], None] = lambda *_: None) -> None:
        """The steps that are left."""
        with without_denormals():
            while self.step < self.recipe.steps:
                loss = self._learn(self.draw())
                self.step += 1
                report(self.step, loss)
                if self.step % KEPT_EVERY == 0 or self.step == self.recipe.steps:
                    self._keep()

    def draw(self) -> list[Row]:
        """Rows of the mixture, and beside each one of a passage near to its own: hard to tell apart."""
        return self._with_near(self._mixture, self.recipe.batch_size, self._near, self._of_passage)

    def _with_near(
        self, mixture: Mixture, size: int, near: Mapping[int, Sequence[int]], of_passage: Mapping[int, Sequence[Row]]
    ) -> list[Row]:
        rows = mixture.draw(max(1, size // 2))
        taken = {self.passages.number(row) for row in rows}
        for row in list(rows):
            free = [n for n in near[self.passages.number(row)] if n not in taken]
            if free:
                chosen = self._dice.choice(free)
                taken.add(chosen)
                rows.append(self._dice.choice(of_passage[chosen]))
        return rows

    def draw_questions(self) -> list[Row]:
        if self._questions is None or not self.recipe.questions:
            return []
        return self._with_near(self._questions, self.recipe.questions, self._near_questions, self._of_questions)

    def _learn(self, rows: Sequence[Row]) -> float:
        recipe = self.recipe
        level = Granularity.PROPOSITION if self._dice.random() < recipe.propositions else Granularity.SENTENCE
        rows = [self._claim(row) or row if self._dice.random() < recipe.claims else row for row in rows]
        loss = self.loss(rows, level, self.draw_questions())
        if not math.isfinite(loss.item()):
            raise RetrievalError(f"step {self.step + 1} has no finite loss: give a smaller learning rate")
        self._optimizer.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self._learned, 1.0)
        self._optimizer.step()
        self._schedule.step()
        return loss.item()

    def _claim(self, row: Row) -> Row | None:
        return as_claim(row, self.passages.claims(self.passages.number(row)), self._dice)

    def loss(self, rows: Sequence[Row], level: Granularity, questions: Sequence[Row] = ()) -> Tensor:
        """Tell the positive units from the others, and rank the passages of the batch as the base does."""
        read = self.read([*rows, *questions])
        unlike_base = self._unlike_the_base([*rows, *questions], torch.cat(read))
        read = read[: len(rows)]
        tokens, sizes = torch.cat(read), [len(t) for t in read]
        numbers = [self.passages.number(row) for row in rows]
        find = self.passages.sentences if level == Granularity.SENTENCE else self.passages.propositions
        units = [find(number) for number in numbers]
        members, lengths = (t.to(self._device) for t in joined(units, sizes))
        own, positive = (mask.to(self._device) for mask in masks(rows, units))
        with torch.no_grad():
            vectors, weights = self.queries([row.query for row in rows], level)
        scores = unit_scores(vectors, weights, tokens, members, lengths)
        of_rows = torch.tensor([row.weight for row in rows], device=self._device)
        loss = any_positive(scores, own, positive, of_rows)
        loss = loss + self.recipe.others * any_positive(scores, torch.ones_like(own), positive, of_rows)
        return loss + self.recipe.likeness * unlike_base

    def _unlike_the_base(self, rows: Sequence[Row], tokens: Tensor) -> Tensor:
        asked = self.encoder.encode_queries([row.query for row in rows])
        queries = torch.from_numpy(np.concatenate([q.vectors for q in asked])).to(self._device)
        lengths = torch.tensor([len(q) for q in asked], device=self._device)
        held = [self.passages.tokens(self.passages.number(row)).vectors for row in rows]
        sizes = torch.tensor([len(vectors) for vectors in held], device=self._device)
        wanted = passage_scores(torch.from_numpy(np.concatenate(held)).to(self._device), sizes, queries, lengths)
        return unlike(passage_scores(tokens, sizes, queries, lengths), wanted)

    def read(self, rows: Sequence[Row]) -> list[Tensor]:
        """Each row's passage by the network that learns, a unit vector a token."""
        texts = [self._texts(row)[0] for row in rows]
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found: dict[int, Tensor] = {}
        for start in range(0, len(order), TOGETHER):
            held = order[start : start + TOGETHER]
            given = self._tokenizer([texts[i] for i in held], padding=True, return_tensors="pt").to(self._device)
            with torch.autocast(self._device.type, torch.bfloat16, enabled=self._fast):
                states = self.network(**given).last_hidden_state
            states = F.normalize(states.float(), dim=-1)
            found |= {i: states[row, given["attention_mask"][row].bool()] for row, i in enumerate(held)}
        return [found[i] for i in range(len(texts))]

    def _keep(self) -> None:
        state = {
            "recipe": asdict(self.recipe),
            "step": self.step,
            "learned": [p.detach() for p in self._learned],
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
            "dice": (self._mixture.state(), self._questions and self._questions.state(), self._dice.getstate()),
        }
        keep(self.folder / CHECKPOINT, state)

    def resume(self) -> bool:
        """Go on from the last checkpoint.  -> whether there was one"""
        state = kept(self.folder / CHECKPOINT, asdict(self.recipe))
        if state is None:
            return False
        with torch.no_grad():
            for parameter, learned in zip(self._learned, state["learned"], strict=True):
                parameter.copy_(learned)
        self._optimizer.load_state_dict(state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])
        mixture, questions, dice = state["dice"]
        self._mixture.go_on(mixture)
        if self._questions is not None:
            self._questions.go_on(questions)
        self._dice.setstate(dice)
        self.step = int(state["step"])
        return True

    def trained(self) -> dict[str, Tensor]:
        """The network's weights, the recipe's share of the change kept."""
        return {
            name: self._start[name] + self.recipe.share * (t.cpu() - self._start[name]) if t.is_floating_point() else t
            for name, t in self.network.state_dict().items()
        }

    def save(self, out: Path, about: dict[str, Any]) -> dict[str, Path]:
        """A model's folder of all networks; of the bundled base also what passages' changed, in a file."""
        made = {"model": out / "model"}
        out.mkdir(parents=True, exist_ok=True)
        trained = self.trained()
        if self.base == bundled_model():
            made["difference"] = out / "passages.safetensors"
            write(
                made["difference"],
                self._start,
                trained,
                None,
                {**about, "reads": PASSAGES, "recipe": asdict(self.recipe)},
            )
        passages, queries = with_markers(self.base), with_markers(self.base)
        passages.auto_model.load_state_dict(trained)
        queries.auto_model.load_state_dict(self.queries.network.state_dict())
        model = as_model(passages, queries, asking=with_markers(self.base))
        model.save(str(made["model"]), create_model_card=False)
        self.queries.salience(with_head=True).write(made["model"])
        return made
