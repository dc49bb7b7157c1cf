"""Training the queries' network over passages that do not change: one step after the other."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from propcite.retrieval.encoding.checkpoints import bundled_model, fingerprint
from propcite.retrieval.encoding.trained_networks import as_model, reading, with_markers, write, write_model
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.batches import joined, masks, sentences_of
from propcite.retrieval.training.lessons import Lessons
from propcite.retrieval.training.losses import any_positive, gated, salient_scores, taught, unit_scores, xtr_scores
from propcite.retrieval.training.lowrank import adapt, plain
from propcite.retrieval.training.neighbours import Negatives, near
from propcite.retrieval.training.network import Queries, principal, rarity
from propcite.retrieval.training.passages import Passages
from propcite.retrieval.training.rows import Mixture, Row, as_claim
from propcite.retrieval.training.steps import Steps
from propcite.retrieval.training.teacher import Teacher

Way = Literal["none", "gate", "relu", "top-k"]

WAYS: tuple[Way, ...] = get_args(Way)
CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that the result depends on beside the data."""

    steps: int = 300
    batch_size: int = 32
    learning_rate: float = 5e-5
    salience_rate: float = 2e-3
    warmup: int = 50
    propositions: float = 0.3  # share of the steps at the level of propositions; the others are at that of sentences
    claims: float = 0.3  # share of the rows whose query gives way to a claim of the passage itself
    others: float = 0.5  # weight of telling the unit from those of all passages of the batch, beside its own passage's
    negatives: Negatives = "none"  # a passage beside each row's own that is hard to tell from it, and how it is found
    k_train: int = 0  # tokens that count for each query token in that (XTR); 0: all
    salience: Way = "none"  # how passages' tokens learn to count: gated as ALIGNER's, by ReLU alone, by hard top-k
    alpha_q: float = 0.5  # shares of tokens that the gate leaves
    alpha_d: float = 0.4
    eps: float = 0.002
    frozen: bool = False  # the queries' network is left as it is: salience alone is learned
    share: float = 0.75  # of what training changed is kept: the mean of start and end ranks new kinds of text better
    lora: int = 0  # the rank of what linear layers learn; 0: all weights learn
    dimension: int = 0  # numbers a token after a projection that is trained too; 0: none, as the base gives them
    projection_rate: float = 5e-4
    taught: float = 0.5  # of the loss of rows that a teacher has scored; the labels have the rest
    seed: int = 0


class Trainer(Steps):
    """Runs a recipe over rows whose passages are encoded; its state lives in `folder`."""

    def __init__(
        self,
        recipe: Recipe,
        rows: Sequence[Row],
        passages: Passages,
        base: str,
        folder: Path,
        device: str = "",
        start: Path | None = None,
        teacher: Teacher | None = None,
        reads: Path | None = None,
    ) -> None:
        """`reads` is what training changed in the network that read the passages; the base did where there is none."""
        self._lessons = Lessons(teacher, rows)
        self.recipe, self.passages, self.base, self._reads = recipe, passages, base, reads
        torch.manual_seed(recipe.seed)
        transformer = with_markers(base)
        weights = rarity(passages, transformer.tokenizer, len(transformer.tokenizer))
        self.queries = Queries(
            transformer, weights, principal(passages, recipe.dimension) if recipe.dimension else None
        )
        self.queries.to(device or ("cuda" if torch.cuda.is_available() else "cpu")).train()
        self._base = {name: t.clone() for name, t in plain(self.queries.network).items()}
        if start is not None:
            self.queries.begin_with(start)
        self._start = {name: t.clone() for name, t in plain(self.queries.network).items()}
        self._direction = self.queries.direction.detach().cpu().numpy().copy()
        if recipe.lora:
            adapt(self.queries.network, recipe.lora)
            self.queries.to(self.queries.rarity.device)
        self._mixture = Mixture(rows, recipe.seed)
        self._dice = random.Random(recipe.seed + 1)
        self._near = near(recipe.negatives, rows, passages)
        for parameter in [*self.queries.network.parameters(), self.queries.direction] if recipe.frozen else []:
            parameter.requires_grad_(False)
        trained = [p for p in self.queries.network.parameters() if p.requires_grad]
        salience = [p for p in (self.queries.direction, self.queries.head) if p.requires_grad]
        groups = [
            {"params": trained, "lr": recipe.learning_rate},
            {"params": salience, "lr": recipe.salience_rate, "weight_decay": 0.0},
        ]
        if self.queries.projection is not None:
            groups.append({"params": [self.queries.projection], "lr": recipe.projection_rate, "weight_decay": 0.0})
        self._batches = self._mixture.batches(recipe.batch_size)
        given = {
            "base": base,
            "start": fingerprint(str(start)) if start else "",
            "reader of passages": fingerprint(str(reads)) if reads else "",
        }
        super().__init__(
            recipe, self.queries, groups, folder / CHECKPOINT,
            dice=(self._mixture, self._dice), given={**asdict(recipe), **given, **self._lessons.given},
        )  # fmt: skip

    def next_loss(self) -> Tensor:
        recipe, rows = self.recipe, next(self._batches)
        level = Granularity.PROPOSITION if self._dice.random() < recipe.propositions else Granularity.SENTENCE
        beside = self._beside(rows)
        rows = [self._claim(row) or row if self._dice.random() < recipe.claims else row for row in rows]
        return self.loss(rows, level, beside)

    def _beside(self, rows: Sequence[Row]) -> list[int]:
        """A passage for each row that is hard to tell from its own, where there is one that no other row has."""
        taken = {self.passages.number(row) for row in rows}
        found: list[int] = []
        for row in rows:
            if free := [number for number in self._near(row) if number not in taken]:
                found.append(self._dice.choice(free))
                taken.add(found[-1])
        return found

    def _claim(self, row: Row) -> Row | None:
        return as_claim(row, self.passages.claims(self.passages.number(row)), self._dice)

    def loss(self, rows: Sequence[Row], level: Granularity, beside: Sequence[int] = ()) -> Tensor:
        """Tell the positive units from the others of their passage, and from those of all passages of the batch.

        `beside` are more passages, by number, of which no row asks.
        """
        vectors, weights = self.queries([row.query for row in rows], level)
        device = vectors.device
        numbers = [*(self.passages.number(row) for row in rows), *beside]
        find = self.passages.sentences if level == Granularity.SENTENCE else self.passages.propositions
        tokens = [self.passages.tokens(number).vectors for number in numbers]
        units = [find(number) for number in numbers]
        members, lengths = joined(units, [len(t) for t in tokens])
        held = self.queries.projected(torch.from_numpy(np.concatenate(tokens)).to(device))
        members, lengths = members.to(device), lengths.to(device)
        scores = self._scores(
            vectors, weights, held, members, lengths, torch.tensor([len(t) for t in tokens]).to(device)
        )
        own, positive = (mask.to(device) for mask in masks(rows, units, range(len(rows))))
        of_rows = torch.tensor([row.weight for row in rows], device=device)
        by_teacher = of_rows * 0
        if self._lessons:
            logits, sure = (t.to(device) for t in self._lessons.of(rows, units[: len(rows)]))
            by_teacher = of_rows * (sure > 0) * self.recipe.taught
        loss = any_positive(scores, own, positive, of_rows - by_teacher)
        if self._lessons:
            loss = loss + taught(scores, sentences_of(units, range(len(rows))).to(device), logits, by_teacher)
        if self.recipe.others:
            if self.recipe.k_train:
                scores = xtr_scores(vectors, weights, held, members, lengths, self.recipe.k_train)
            loss = loss + self.recipe.others * any_positive(scores, torch.ones_like(own), positive, of_rows)
        return loss

    def _scores(
        self, vectors: Tensor, weights: Tensor, tokens: Tensor, members: Tensor, lengths: Tensor, sizes: Tensor
    ) -> Tensor:
        """Of all units; with salience of passages' tokens where that is learned.  sizes (p,): tokens of each passage"""
        recipe = self.recipe
        if recipe.salience == "none":
            return unit_scores(vectors, weights, tokens, members, lengths)
        salience = gated(self.queries.of_passages(tokens), sizes, recipe.salience, recipe.alpha_d, recipe.eps)
        there = weights > 0
        asked = gated(weights[there], there.sum(-1), recipe.salience, recipe.alpha_q, recipe.eps)
        weights = torch.zeros_like(weights).masked_scatter(there, asked)
        return salient_scores(vectors, weights, tokens, salience, members, lengths)

    def averaged(self, share: float) -> dict[str, Tensor]:
        """The network's weights, this share of the change kept."""
        return {
            name: self._start[name] + share * (t - self._start[name]) if t.is_floating_point() else t
            for name, t in plain(self.queries.network).items()
        }

    def save(self, out: Path, about: dict[str, Any]) -> dict[str, Path]:
        """A model's folder that sentence-transformers opens too; of the bundled base also the difference, in a file."""
        made = {"model": out / "model"}
        share = self.recipe.share
        salience = self.queries.salience(with_head=self.queries.headed or self.recipe.salience != "none")
        direction = self._direction + share * (salience.direction - self._direction)
        salience = replace(salience, direction=direction)
        trained = self.averaged(share)
        if self.base == bundled_model() and self.queries.projection is None:  # whose passages stay as they are
            made["difference"] = out / "queries.safetensors"
            write(made["difference"], self._base, trained, salience, {**about, "recipe": asdict(self.recipe)})
        transformer = with_markers(self.base)
        transformer.auto_model.load_state_dict(trained)
        passages, asking = reading(self.base, self._reads)
        model = as_model(passages, transformer, projection=self.queries.projection, asking=asking)
        write_model(model, salience, made["model"])
        return made
