"""Train the network for queries over passages that do not change."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from propcite.retrieval.alignment import NEAREST, alignment_of
from propcite.retrieval.encoding.bundled import bundled_model, fingerprint
from propcite.retrieval.encoding.trained_networks import (
    build_routed_model,
    load_with_markers,
    passage_networks,
    write_model,
    write_network,
)
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.batches import join_units, unit_masks, unit_sentences
from propcite.retrieval.training.hard_negatives import Negatives, negative_finder
from propcite.retrieval.training.loop import TrainingLoop
from propcite.retrieval.training.losses import (
    aligned_scores,
    any_positive_loss,
    distillation_loss,
    gate_salience,
    salient_scores,
    unit_scores,
    xtr_scores,
)
from propcite.retrieval.training.lowrank import add_low_rank_changes, merged_weights
from propcite.retrieval.training.network import QueryNetwork, principal_directions, token_rarity
from propcite.retrieval.training.passages import EncodedPassages
from propcite.retrieval.training.rows import Row, as_claim
from propcite.retrieval.training.sampling import Mixture
from propcite.retrieval.training.teacher import Teacher
from propcite.retrieval.training.teacher_scores import TeacherScores

SalienceGate = Literal["none", "gate", "relu", "top-k"]

SALIENCE_GATES: tuple[SalienceGate, ...] = get_args(SalienceGate)
CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True, slots=True)
class QueryRecipe:
    """The settings that determine the result, apart from the data."""

    steps: int = 300
    batch_size: int = 32
    learning_rate: float = 5e-5
    salience_rate: float = 2e-3
    warmup: int = 50
    propositions: float = 0.3  # share of the steps that rank propositions; the others rank sentences
    claims: float = 0.3  # share of the rows whose query is replaced by a claim of the passage
    others: float = 0.5  # weight of the loss against all units of the batch, beside that against the own passage's
    negatives: Negatives = "none"  # a hard negative passage for each row, and how it is found
    k_train: int = 0  # tokens that count for each query token in the loss against the batch (XTR); 0: all
    alignment: str = "top-k=1"  # the pairs of tokens that count in a score (ALIGNER)
    salience: SalienceGate = "none"  # how the salience of passage tokens is learned: ALIGNER's gate, ReLU, hard top-k
    alpha_q: float = 0.5  # share of a query's tokens that the gate selects
    alpha_d: float = 0.4  # share of a passage's tokens that the gate selects
    eps: float = 0.002
    frozen: bool = False  # only salience is learned
    share: float = 0.75  # of the change that is kept: the mean of start and end ranks new kinds of text better
    lora: int = 0  # rank of the change of linear layers; 0: all weights are trained
    dimension: int = 0  # numbers per token after a trained projection; 0: no projection
    projection_rate: float = 5e-4
    taught: float = 0.5  # the teacher's share of the loss of rows that it has scored; the labels have the rest
    seed: int = 0


class QueryTrainer(TrainingLoop):
    """Trains the network for queries on rows with encoded passages; checkpoints are in `folder`."""

    def __init__(
        self,
        recipe: QueryRecipe,
        rows: Sequence[Row],
        passages: EncodedPassages,
        base: str,
        folder: Path,
        device: str = "",
        start: Path | None = None,
        teacher: Teacher | None = None,
        passage_network: Path | None = None,
    ) -> None:
        """`passage_network` is the trained network that encoded the passages; None if the base did."""
        self._teacher_scores = TeacherScores(teacher, rows)
        self.recipe, self.passages, self.base, self._passage_network = recipe, passages, base, passage_network
        torch.manual_seed(recipe.seed)
        transformer = load_with_markers(base)
        rarity = token_rarity(passages, transformer.tokenizer, len(transformer.tokenizer))
        projection = principal_directions(passages, recipe.dimension) if recipe.dimension else None
        self.queries = QueryNetwork(transformer, rarity, projection)
        self.queries.to(device or ("cuda" if torch.cuda.is_available() else "cpu")).train()
        self._base = {name: t.clone() for name, t in merged_weights(self.queries.network).items()}
        if start is not None:
            self.queries.load_start(start)
        self._start = {name: t.clone() for name, t in merged_weights(self.queries.network).items()}
        self._start_direction = self.queries.direction.detach().cpu().numpy().copy()
        if recipe.lora:
            add_low_rank_changes(self.queries.network, recipe.lora)
            self.queries.to(self.queries.rarity.device)
        self._mixture = Mixture(rows, recipe.seed)
        self._rng = random.Random(recipe.seed + 1)
        self._find_negatives = negative_finder(recipe.negatives, rows, passages)
        for parameter in [*self.queries.network.parameters(), self.queries.direction] if recipe.frozen else []:
            parameter.requires_grad_(False)
        self._batches = self._mixture.batches(recipe.batch_size)
        inputs = {
            **asdict(recipe),
            "base": base,
            "start": fingerprint(str(start)) if start else "",
            "reader of passages": fingerprint(str(passage_network)) if passage_network else "",
            **self._teacher_scores.inputs,
        }
        super().__init__(
            recipe, self.queries, self._parameter_groups(), folder / CHECKPOINT,
            random_sources=(self._mixture, self._rng), inputs=inputs,
        )  # fmt: skip

    def _parameter_groups(self) -> list[dict[str, Any]]:
        recipe, queries = self.recipe, self.queries
        network = [p for p in queries.network.parameters() if p.requires_grad]
        salience = [p for p in (queries.direction, queries.head) if p.requires_grad]
        groups = [
            {"params": network, "lr": recipe.learning_rate},
            {"params": salience, "lr": recipe.salience_rate, "weight_decay": 0.0},
        ]
        if queries.projection is not None:
            groups.append({"params": [queries.projection], "lr": recipe.projection_rate, "weight_decay": 0.0})
        return groups

    def next_loss(self) -> Tensor:
        recipe, rows = self.recipe, next(self._batches)
        level = Granularity.PROPOSITION if self._rng.random() < recipe.propositions else Granularity.SENTENCE
        negatives = self._draw_negatives(rows)
        rows = [self._claim(row) or row if self._rng.random() < recipe.claims else row for row in rows]
        return self.loss(rows, level, negatives)

    def _draw_negatives(self, rows: Sequence[Row]) -> list[int]:
        """Draw a hard negative passage for each row, without repeats; none for a row without a free one."""
        taken = {self.passages.number(row) for row in rows}
        drawn: list[int] = []
        for row in rows:
            if free := [number for number in self._find_negatives(row) if number not in taken]:
                drawn.append(self._rng.choice(free))
                taken.add(drawn[-1])
        return drawn

    def _claim(self, row: Row) -> Row | None:
        return as_claim(row, self.passages.claims(self.passages.number(row)), self._rng)

    def loss(self, rows: Sequence[Row], level: Granularity, negatives: Sequence[int] = ()) -> Tensor:
        """Rank the positive units above the others of their passage, and above those of all passages of the batch.

        `negatives` are the numbers of passages without a row in the batch.
        """
        vectors, weights = self.queries([row.query for row in rows], level)
        device = vectors.device
        numbers = [*(self.passages.number(row) for row in rows), *negatives]
        units_of = self.passages.sentences if level == Granularity.SENTENCE else self.passages.propositions
        encoded = [self.passages.tokens(number).vectors for number in numbers]
        units, sizes = [units_of(number) for number in numbers], [len(t) for t in encoded]
        members, lengths = (t.to(device) for t in join_units(units, sizes))
        tokens = self.queries.project(torch.from_numpy(np.concatenate(encoded)).to(device))
        scores = self._scores(vectors, weights, tokens, members, lengths, torch.tensor(sizes, device=device))
        own, positive = (mask.to(device) for mask in unit_masks(rows, units, range(len(rows))))
        row_weights = torch.tensor([row.weight for row in rows], device=device)
        taught_weights, loss = row_weights * 0, scores.new_zeros(())
        if self._teacher_scores:
            logits, best = (t.to(device) for t in self._teacher_scores.sentence_logits(rows, units[: len(rows)]))
            taught_weights = row_weights * (best > 0) * self.recipe.taught
            sentences = unit_sentences(units, range(len(rows))).to(device)
            loss = distillation_loss(scores, sentences, logits, taught_weights)
        loss = loss + any_positive_loss(scores, own, positive, row_weights - taught_weights)
        if self.recipe.others:
            if self.recipe.k_train:
                scores = xtr_scores(vectors, weights, tokens, members, lengths, self.recipe.k_train)
            loss = loss + self.recipe.others * any_positive_loss(scores, torch.ones_like(own), positive, row_weights)
        return loss

    def _scores(
        self, vectors: Tensor, weights: Tensor, tokens: Tensor, members: Tensor, lengths: Tensor, sizes: Tensor
    ) -> Tensor:
        """Score all units, by the salience of passage tokens if it is learned.  sizes (p,): tokens per passage"""
        recipe = self.recipe
        if (alignment := alignment_of(recipe.alignment)) != NEAREST:
            return aligned_scores(vectors, weights, tokens, members, lengths, alignment)
        if recipe.salience == "none":
            return unit_scores(vectors, weights, tokens, members, lengths)
        salience = self.queries.passage_salience(tokens)
        salience = gate_salience(salience, sizes, recipe.salience, recipe.alpha_d, recipe.eps)
        present = weights > 0
        gated = gate_salience(weights[present], present.sum(-1), recipe.salience, recipe.alpha_q, recipe.eps)
        weights = torch.zeros_like(weights).masked_scatter(present, gated)
        return salient_scores(vectors, weights, tokens, salience, members, lengths)

    def trained_weights(self, share: float) -> dict[str, Tensor]:
        """Return the network's weights with this share of the change since the start."""
        return {
            name: self._start[name] + share * (t - self._start[name]) if t.is_floating_point() else t
            for name, t in merged_weights(self.queries.network).items()
        }

    def save(self, out: Path, info: dict[str, Any]) -> dict[str, Path]:
        """Write a model folder that sentence-transformers can open too; for the bundled base also its difference."""
        paths = {"model": out / "model"}
        share = self.recipe.share
        salience = self.queries.salience(with_head=self.queries.has_trained_head or self.recipe.salience != "none")
        direction = self._start_direction + share * (salience.direction - self._start_direction)
        salience = replace(salience, direction=direction)
        trained = self.trained_weights(share)
        # With a projection the passages' vectors change too, so that a difference for queries would not do.
        if self.base == bundled_model() and self.queries.projection is None:
            paths["difference"] = out / "queries.safetensors"
            write_network(paths["difference"], self._base, trained, salience, {**info, "recipe": asdict(self.recipe)})
        transformer = load_with_markers(self.base)
        transformer.auto_model.load_state_dict(trained)
        passages, passage_queries = passage_networks(self.base, self._passage_network)
        projection = self.queries.projection
        model = build_routed_model(passages, transformer, projection=projection, passage_queries=passage_queries)
        write_model(model, salience, paths["model"])
        return paths
