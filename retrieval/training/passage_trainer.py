"""Train the network for passages: its top layers learn to separate sentences and to rank passages as before.

The networks for queries do not change: the trained one for sentences, and the base for passages.  The base's own
ranking of a batch's passages is the target for ranking passages.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.retrieval.encoding.bundled import bundled_model, fingerprint
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.precision import dtype_of
from propcite.retrieval.encoding.trained_networks import (
    READS_PASSAGES,
    build_routed_model,
    load_with_markers,
    write_model,
    write_network,
)
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.batches import (
    TEXTS_PER_BATCH,
    batches_by_length,
    join_units,
    unit_masks,
    unit_sentences,
)
from propcite.retrieval.training.hard_negatives import Negatives
from propcite.retrieval.training.loop import TrainingLoop
from propcite.retrieval.training.losses import (
    any_positive_loss,
    distillation_loss,
    packed_unit_scores,
    passage_scores,
    passage_shares,
    ranking_divergence,
)
from propcite.retrieval.training.network import QueryNetwork, transformer_layers, unfreeze_top_layers
from propcite.retrieval.training.passages import EncodedPassages, Units
from propcite.retrieval.training.rows import Row, as_claim
from propcite.retrieval.training.sampling import RowSampler
from propcite.retrieval.training.teacher import Teacher
from propcite.retrieval.training.teacher_scores import TeacherScores

CHECKPOINT = "passages.pt"


@dataclass(frozen=True, slots=True)
class PassageRecipe:
    """The settings that determine the result, apart from the data."""

    layers: int = 0  # top layers that are trained; 0: half of all
    steps: int = 500
    batch_size: int = 24  # passages: one half is drawn, the other half are hard negatives of those
    negatives: Negatives = "index"  # how hard negatives are found
    learning_rate: float = 2e-4
    warmup: int = 40
    propositions: float = 0.3  # share of the steps that rank propositions
    claims: float = 0.3  # share of the rows whose query is replaced by a claim of the passage
    weighed: bool = False  # weight a row by the base's probability of its passage among the negatives: AGRaME's L_sent
    together: int = 3  # maximum rows per passage: encoding the passage takes most of the time
    taught: float = 0.5  # the teacher's share of the loss, if there is a teacher; the labels have the rest
    others: float = 0.5  # weight of the loss against the units of all passages of the batch
    questions: int = 8  # more passages per step, of questions without labels, if there are any
    likeness: float = 1.0  # weight of ranking the batch's passages as the base does
    share: float = 0.75  # of the change that is kept
    seed: int = 0


class PassageTrainer(TrainingLoop):
    """Trains the network for passages on rows whose passages the base has encoded; checkpoints are in `folder`.

    `queries` is the file or model folder of the network for sentence queries.
    """

    checkpoint_every = 50  # a step takes seconds

    def __init__(
        self, recipe: PassageRecipe, rows: Sequence[Row], passages: EncodedPassages, encoder: Encoder, queries: Path,
        folder: Path, device: str = "", base: str = "", questions: Sequence[Row] = (), precision: str = "auto",
        teacher: Teacher | None = None,
    ) -> None:  # fmt: skip
        """A teacher scores the rows and also the questions, which have no labels."""
        self.passages, self.encoder = passages, encoder
        self.base = base or bundled_model()
        torch.manual_seed(recipe.seed)
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        # Matrix products in bfloat16, sums in float32.
        self._autocast = dtype_of(precision, self._device.type) == torch.bfloat16
        transformer = load_with_markers(self.base)
        self._tokenizer = transformer.tokenizer
        self.network: Any = transformer.auto_model.to(self._device).eval()  # no dropout: the base encodes without it
        self._start = {name: t.cpu().clone() for name, t in self.network.state_dict().items()}
        layers = recipe.layers or max(1, len(transformer_layers(self.network)) // 2)
        self.recipe = recipe = replace(recipe, layers=layers)
        trainable = unfreeze_top_layers(self.network, layers)
        self.queries = QueryNetwork(load_with_markers(self.base), torch.ones(len(self._tokenizer)))
        self.queries.load_start(queries)
        self.queries.to(self._device).eval().requires_grad_(False)
        # Rows of passages that the encoder reads in several windows are left out: a step encodes one window each.
        rows, questions = ([r for r in group if len(self._input_texts(r)) == 1] for group in (rows, questions))
        self._teacher_scores = TeacherScores(teacher, [*rows, *questions])
        self._rng = random.Random(recipe.seed + 1)
        negatives = recipe.negatives
        self._rows = RowSampler(rows, passages, negatives, recipe.seed)
        self._questions = RowSampler(questions, passages, negatives, recipe.seed + 2) if questions else None
        inputs = {**asdict(recipe), "base": self.base, "start": fingerprint(str(queries))}
        super().__init__(
            recipe, self.network, [{"params": trainable, "lr": recipe.learning_rate}], folder / CHECKPOINT,
            random_sources=[self._rows, *filter(None, [self._questions]), self._rng],
            inputs={**inputs, **self._teacher_scores.inputs},
        )  # fmt: skip

    def _input_texts(self, row: Row) -> list[str]:
        return self.encoder.input_texts(self.passages.passage(self.passages.number(row)))

    def draw(self) -> list[Row]:
        """Draw rows, and for each one a row of a hard negative passage."""
        return self._rows.draw(self.recipe.batch_size, self._rng)

    def draw_questions(self) -> list[Row]:
        if self._questions is None or not self.recipe.questions:
            return []
        return self._questions.draw(self.recipe.questions, self._rng)

    def next_loss(self) -> Tensor:
        recipe, rows = self.recipe, self.draw()
        level = Granularity.PROPOSITION if self._rng.random() < recipe.propositions else Granularity.SENTENCE
        rows = self._rows.with_siblings(rows, recipe.together, self._rng)
        rows = [self._claim(row) or row if self._rng.random() < recipe.claims else row for row in rows]
        return self.loss(rows, level, self.draw_questions())

    def _claim(self, row: Row) -> Row | None:
        return as_claim(row, self.passages.claims(self.passages.number(row)), self._rng)

    def loss(self, rows: Sequence[Row], level: Granularity, questions: Sequence[Row] = ()) -> Tensor:
        """Rank the positive units above the others, and the passages of the batch as the base does."""
        all_rows, recipe = [*rows, *questions], self.recipe
        numbers = list(dict.fromkeys(self.passages.number(row) for row in all_rows))
        places = [numbers.index(self.passages.number(row)) for row in all_rows]
        tokens = self.encode(numbers)
        units_of = self.passages.sentences if level == Granularity.SENTENCE else self.passages.propositions
        units = [units_of(number) for number in numbers]
        scores = self._scores(all_rows, level, tokens, units)
        labelled = scores[: len(rows)]
        own, positive = (mask.to(self._device) for mask in unit_masks(rows, units, places[: len(rows)]))
        shares = self._shares(all_rows, numbers, places)
        row_weights = torch.tensor([row.weight for row in rows], device=self._device)
        taught_weights, loss = row_weights * 0, scores.new_zeros(())
        if self._teacher_scores:
            scored = torch.tensor([row in self._teacher_scores for row in rows], device=self._device)
            taught_weights = row_weights * scored * recipe.taught
            loss = self._distillation_loss(scores, all_rows, taught_weights, units, places, shares)
        own_shares = shares[range(len(rows)), places[: len(rows)]]
        loss = loss + any_positive_loss(labelled, own, positive, (row_weights - taught_weights) * own_shares)
        # Passages of questions are no negatives: a question's passage may answer other queries too.
        of_labelled = own.any(0).expand_as(own)
        loss = loss + recipe.others * any_positive_loss(labelled, of_labelled, positive, row_weights)
        first = {place: row.query for place, row in zip(reversed(places), reversed(all_rows), strict=True)}
        queries = [first[place] for place in range(len(numbers))]
        return loss + recipe.likeness * self._ranking_loss(queries, numbers, tokens)

    def _shares(self, rows: Sequence[Row], numbers: Sequence[int], places: Sequence[int]) -> Tensor:
        """Return each passage's weight in a row's sentence loss: 1 for its own, or shared with negatives.  (b, p)"""
        own = F.one_hot(torch.tensor(places, device=self._device), len(numbers)).float()
        if not self.recipe.weighed:
            return own
        negatives = [set(self._negatives(row)) for row in rows]
        beside = torch.tensor([[n in group for n in numbers] for group in negatives], device=self._device)
        return passage_shares(self._base_scores([row.query for row in rows], numbers)[0], beside | own.bool())

    def _negatives(self, row: Row) -> Sequence[int]:
        sampler = self._rows if row.positives or self._questions is None else self._questions
        return sampler.negatives(row)

    def _distillation_loss(
        self, scores: Tensor, rows: Sequence[Row], taught_weights: Tensor, units: Sequence[Units],
        places: Sequence[int], shares: Tensor,
    ) -> Tensor:  # fmt: skip
        """Compare the sentence scores in each passage with the teacher's, weighted by the passage's share."""
        pairs = [(i, j) for i, j in shares.nonzero().tolist() if rows[i] in self._teacher_scores]
        if not pairs:
            return scores.new_zeros(())
        of_row, of_passage = [i for i, _ in pairs], [j for _, j in pairs]
        passage_rows = [rows[places.index(j)] for j in of_passage]
        logits, best = self._teacher_scores.sentence_logits(
            [rows[i] for i in of_row], [units[j] for j in of_passage], passage_rows
        )
        logits, best = logits.to(self._device), best.to(self._device)
        num_labelled = len(taught_weights)
        # Questions have no labels; they are weighted by the probability that a sentence of the passage answers.
        weights = torch.stack([taught_weights[i] if i < num_labelled else best[n] for n, i in enumerate(of_row)])
        sentences = unit_sentences(units, of_passage).to(self._device)
        loss = distillation_loss(scores[of_row], sentences, logits, weights * shares[of_row, of_passage])
        return loss * len(pairs) / num_labelled  # the same weight per row as in the loss of labels

    def _scores(
        self, rows: Sequence[Row], level: Granularity, tokens: Sequence[Tensor], units: Sequence[Units]
    ) -> Tensor:
        """Return each row's scores of the units of all passages.  (b, u)"""
        members, lengths = (t.to(self._device) for t in join_units(units, [len(t) for t in tokens]))
        return packed_unit_scores(*self._encode_queries(rows, level), torch.cat(list(tokens)), members, lengths)

    @torch.no_grad()
    def _encode_queries(self, rows: Sequence[Row], level: Granularity) -> tuple[Tensor, Tensor, Tensor]:
        """Return the vectors and weights of all queries without padding, and their sizes.  (m, d), (m,), (b,)"""
        encoded: dict[int, tuple[Tensor, Tensor]] = {}
        for batch in batches_by_length([row.query for row in rows], 4 * TEXTS_PER_BATCH):
            with torch.autocast(self._device.type, torch.bfloat16, enabled=self._autocast):
                vectors, weights = self.queries([rows[i].query for i in batch], level)
            for i, v, w in zip(batch, vectors.float(), weights.float(), strict=True):
                encoded[i] = v[w > 0], w[w > 0]
        ordered = [encoded[i] for i in range(len(rows))]
        sizes = torch.tensor([len(w) for _, w in ordered], device=self._device)
        return torch.cat([v for v, _ in ordered]), torch.cat([w for _, w in ordered]), sizes

    def _ranking_loss(self, queries: Sequence[str], numbers: Sequence[int], tokens: Sequence[Tensor]) -> Tensor:
        """Return the divergence of our ranking of the passages from the base's."""
        target, vectors, lengths = self._base_scores(queries, numbers)
        sizes = torch.tensor([len(t) for t in tokens], device=self._device)
        return ranking_divergence(passage_scores(torch.cat(list(tokens)), sizes, vectors, lengths), target)

    def _base_scores(self, queries: Sequence[str], numbers: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
        """Return the base's scores of the passages (b, p), the queries' vectors (m, d) and their lengths (b,)."""
        encoded = self.encoder.encode_queries(queries)
        vectors = torch.from_numpy(np.concatenate([q.vectors for q in encoded])).to(self._device)
        lengths = torch.tensor([len(q) for q in encoded], device=self._device)
        by_passage = [self.passages.tokens(number).vectors for number in numbers]
        sizes = torch.tensor([len(t) for t in by_passage], device=self._device)
        tokens = torch.from_numpy(np.concatenate(by_passage)).to(self._device)
        return passage_scores(tokens, sizes, vectors, lengths), vectors, lengths

    def encode(self, numbers: Sequence[int]) -> list[Tensor]:
        """Encode passages with the network in training: one unit vector per token."""
        texts = [self.encoder.input_texts(self.passages.passage(number))[0] for number in numbers]
        encoded: dict[int, Tensor] = {}
        for batch in batches_by_length(texts):
            inputs = self._tokenizer([texts[i] for i in batch], padding=True, return_tensors="pt").to(self._device)
            with torch.autocast(self._device.type, torch.bfloat16, enabled=self._autocast):
                states = self.network(**inputs).last_hidden_state
            states = F.normalize(states.float(), dim=-1)
            encoded |= {i: states[row, inputs["attention_mask"][row].bool()] for row, i in enumerate(batch)}
        return [encoded[i] for i in range(len(texts))]

    def trained_weights(self) -> dict[str, Tensor]:
        """Return the network's weights with the recipe's share of the change."""
        return {
            name: self._start[name] + self.recipe.share * (t.cpu() - self._start[name]) if t.is_floating_point() else t
            for name, t in self.network.state_dict().items()
        }

    def save(self, out: Path, info: dict[str, Any]) -> dict[str, Path]:
        """Write a model folder with all networks; for the bundled base also the passages' difference, as a file."""
        paths = {"model": out / "model"}
        trained = self.trained_weights()
        if self.base == bundled_model():
            paths["difference"] = out / "passages.safetensors"
            info = {**info, "reads": READS_PASSAGES, "recipe": asdict(self.recipe)}
            write_network(paths["difference"], self._start, trained, None, info)
        passages, queries = load_with_markers(self.base), load_with_markers(self.base)
        passages.auto_model.load_state_dict(trained)
        queries.auto_model.load_state_dict(self.queries.network.state_dict())
        model = build_routed_model(passages, queries, passage_queries=load_with_markers(self.base))
        write_model(model, self.queries.salience(with_head=True), paths["model"])
        return paths
