"""Training the network that reads passages: its top layers learn to part sentences, and to rank passages as before.

Queries stay as they are: those for sentences with the network that was trained for them, those for passages with the
base, whose own ranking of the passages of a batch is what the learning one must keep.
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

from propcite.retrieval.encoding.checkpoints import bundled_model, fingerprint
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.precision import dtype_of
from propcite.retrieval.encoding.trained_networks import PASSAGES, as_model, with_markers, write, write_model
from propcite.retrieval.text import Granularity
from propcite.retrieval.training.batches import TOGETHER, alike, joined, masks, sentences_of
from propcite.retrieval.training.lessons import Lessons
from propcite.retrieval.training.losses import (
    any_positive,
    passage_scores,
    shares_of_passages,
    side_by_side_scores,
    taught,
    unlike,
)
from propcite.retrieval.training.neighbours import Negatives
from propcite.retrieval.training.network import Queries, layers_of, top_layers
from propcite.retrieval.training.passages import Passages, Units
from propcite.retrieval.training.pool import Pool
from propcite.retrieval.training.rows import Row, as_claim
from propcite.retrieval.training.steps import Steps
from propcite.retrieval.training.teacher import Teacher

CHECKPOINT = "passages.pt"


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that the result depends on beside the data."""

    layers: int = 0  # of the network, from its top: what learns; 0: half of them
    steps: int = 500
    batch_size: int = 24  # half of it drawn, half of it passages near to those
    negatives: Negatives = "index"  # how these are found: by our own index for the question, or by what reads alike
    learning_rate: float = 2e-4
    warmup: int = 40
    propositions: float = 0.3  # share of the steps at their level
    claims: float = 0.3  # share of the rows whose query gives way to a claim of the passage itself
    weighed: bool = False  # by how sure the base is of a row's passage among those near to it: AGRaME's L_sent
    together: int = 3  # rows at most that ask of one passage: it is the reading that takes time
    taught: float = 0.5  # the teacher's share where there is one, beside the labels
    others: float = 0.5  # weight of telling the unit from those of all passages of the batch
    questions: int = 8  # more passages a step, of questions without labels, where some are given
    likeness: float = 1.0  # weight of ranking the batch's passages as the base ranks them
    share: float = 0.75  # of what training changed is kept
    seed: int = 0


class PassageTrainer(Steps):
    """Runs a recipe over rows whose passages the base has encoded; `queries` is the file of those for sentences."""

    kept_every = 50  # a step takes seconds

    def __init__(
        self, recipe: Recipe, rows: Sequence[Row], passages: Passages, encoder: Encoder, queries: Path, folder: Path,
        device: str = "", base: str = "", questions: Sequence[Row] = (), precision: str = "auto",
        teacher: Teacher | None = None,
    ) -> None:  # fmt: skip
        """A teacher tells what it thinks of the rows, and of questions, of which nothing else is known."""
        self.passages, self.encoder = passages, encoder
        self.base = base or bundled_model()
        torch.manual_seed(recipe.seed)
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._fast = dtype_of(precision, self._device.type) == torch.bfloat16  # products in half the bits, sums in all
        transformer = with_markers(self.base)
        self._tokenizer = transformer.tokenizer
        self.network: Any = transformer.auto_model.to(self._device).eval()  # no dropout: the base has none either
        self._start = {name: t.cpu().clone() for name, t in self.network.state_dict().items()}
        self.recipe = recipe = replace(recipe, layers=recipe.layers or max(1, len(layers_of(self.network)) // 2))
        learned = top_layers(self.network, recipe.layers)
        self.queries = Queries(with_markers(self.base), torch.ones(len(self._tokenizer)))
        self.queries.begin_with(queries)
        self.queries.to(self._device).eval().requires_grad_(False)
        rows, questions = ([r for r in given if len(self._texts(r)) == 1] for given in (rows, questions))
        self._lessons = Lessons(teacher, [*rows, *questions])
        self._dice = random.Random(recipe.seed + 1)
        negatives = recipe.negatives
        self._rows = Pool(rows, passages, negatives, recipe.seed)  # a passage of several windows is no single reading
        self._questions = Pool(questions, passages, negatives, recipe.seed + 2) if questions else None
        super().__init__(
            recipe, self.network, [{"params": learned, "lr": recipe.learning_rate}], folder / CHECKPOINT,
            dice=[self._rows, *filter(None, [self._questions]), self._dice],
            given={**asdict(recipe), "base": self.base, "start": fingerprint(str(queries)), **self._lessons.given},
        )  # fmt: skip

    def _texts(self, row: Row) -> list[str]:
        return self.encoder.texts_read(self.passages.passage(self.passages.number(row)))

    def draw(self) -> list[Row]:
        """Rows, and beside each one of a passage near to its own: hard to tell apart."""
        return self._rows.draw(self.recipe.batch_size, self._dice)

    def draw_questions(self) -> list[Row]:
        if self._questions is None or not self.recipe.questions:
            return []
        return self._questions.draw(self.recipe.questions, self._dice)

    def next_loss(self) -> Tensor:
        recipe, rows = self.recipe, self.draw()
        level = Granularity.PROPOSITION if self._dice.random() < recipe.propositions else Granularity.SENTENCE
        rows = self._rows.with_siblings(rows, recipe.together, self._dice)
        rows = [self._claim(row) or row if self._dice.random() < recipe.claims else row for row in rows]
        return self.loss(rows, level, self.draw_questions())

    def _claim(self, row: Row) -> Row | None:
        return as_claim(row, self.passages.claims(self.passages.number(row)), self._dice)

    def loss(self, rows: Sequence[Row], level: Granularity, questions: Sequence[Row] = ()) -> Tensor:
        """Tell the positive units from the others, and rank the passages of the batch as the base does."""
        asked, recipe = [*rows, *questions], self.recipe
        numbers = list(dict.fromkeys(self.passages.number(row) for row in asked))
        places = [numbers.index(self.passages.number(row)) for row in asked]
        read = self.read(numbers)
        find = self.passages.sentences if level == Granularity.SENTENCE else self.passages.propositions
        units = [find(number) for number in numbers]
        scores = self._scores(asked, level, read, units)
        labelled = scores[: len(rows)]
        own, positive = (mask.to(self._device) for mask in masks(rows, units, places[: len(rows)]))
        shares = self._shares(asked, numbers, places)
        of_rows = torch.tensor([row.weight for row in rows], device=self._device)
        by_teacher, loss = of_rows * 0, scores.new_zeros(())
        if self._lessons:
            knows = torch.tensor([row in self._lessons for row in rows], device=self._device)
            by_teacher = of_rows * knows * recipe.taught
            loss = self._taught(scores, asked, by_teacher, units, places, shares)
        of_own = shares[range(len(rows)), places[: len(rows)]]
        loss = loss + any_positive(labelled, own, positive, (of_rows - by_teacher) * of_own)
        of_labelled = own.any(0).expand_as(own)  # a question's passage may answer others too
        loss = loss + recipe.others * any_positive(labelled, of_labelled, positive, of_rows)
        first = {place: row.query for place, row in zip(reversed(places), reversed(asked), strict=True)}
        likely = [first[place] for place in range(len(numbers))]
        return loss + recipe.likeness * self._unlike_the_base(likely, numbers, read)

    def _shares(self, asked: Sequence[Row], numbers: Sequence[int], places: Sequence[int]) -> Tensor:
        """What a row's sentences count in each passage: all in its own, or by the passages near to it.  -> (b, p)"""
        own = F.one_hot(torch.tensor(places, device=self._device), len(numbers)).float()
        if not self.recipe.weighed:
            return own
        near = [set(self._near(row)) for row in asked]
        beside = torch.tensor([[n in some for n in numbers] for some in near], device=self._device)
        return shares_of_passages(self._by_the_base([row.query for row in asked], numbers)[0], beside | own.bool())

    def _near(self, row: Row) -> Sequence[int]:
        pool = self._rows if row.positives or self._questions is None else self._questions
        return pool.near(row)

    def _taught(
        self, scores: Tensor, asked: Sequence[Row], by_teacher: Tensor, units: Sequence[Units], places: Sequence[int],
        shares: Tensor,
    ) -> Tensor:  # fmt: skip
        """How far the sentences' scores are from the teacher's, in each passage by its share; a mean over the rows."""
        pairs = [(i, j) for i, j in shares.nonzero().tolist() if asked[i] in self._lessons]
        if not pairs:
            return scores.new_zeros(())
        which, held = [i for i, _ in pairs], [j for _, j in pairs]
        read = [asked[places.index(j)] for j in held]
        logits, sure = self._lessons.of([asked[i] for i in which], [units[j] for j in held], read)
        logits, sure = logits.to(self._device), sure.to(self._device)
        marked = len(by_teacher)  # of questions nothing is known but what the teacher is sure of
        worth = torch.stack([by_teacher[i] if i < marked else sure[n] for n, i in enumerate(which)])
        sentences = sentences_of(units, held).to(self._device)
        loss = taught(scores[which], sentences, logits, worth * shares[which, held])
        return loss * len(pairs) / marked  # the same weight a row as by its labels

    def _scores(
        self, rows: Sequence[Row], level: Granularity, read: Sequence[Tensor], units: Sequence[Units]
    ) -> Tensor:
        """Each row's of the units of all passages.  -> (b, u)"""
        members, lengths = (t.to(self._device) for t in joined(units, [len(t) for t in read]))
        return side_by_side_scores(*self._asked(rows, level), torch.cat(list(read)), members, lengths)

    @torch.no_grad()
    def _asked(self, rows: Sequence[Row], level: Granularity) -> tuple[Tensor, Tensor, Tensor]:
        """The queries' vectors and weights side by side, and how many each has.  -> (m, d), (m,), (b,)"""
        found: dict[int, tuple[Tensor, Tensor]] = {}
        for held in alike([row.query for row in rows], 4 * TOGETHER):
            with torch.autocast(self._device.type, torch.bfloat16, enabled=self._fast):
                vectors, weights = self.queries([rows[i].query for i in held], level)
            for i, v, w in zip(held, vectors.float(), weights.float(), strict=True):
                found[i] = v[w > 0], w[w > 0]
        told = [found[i] for i in range(len(rows))]
        sizes = torch.tensor([len(w) for _, w in told], device=self._device)
        return torch.cat([v for v, _ in told]), torch.cat([w for _, w in told]), sizes

    def _unlike_the_base(self, asked: Sequence[str], numbers: Sequence[int], read: Sequence[Tensor]) -> Tensor:
        wanted, queries, lengths = self._by_the_base(asked, numbers)
        sizes = torch.tensor([len(vectors) for vectors in read], device=self._device)
        return unlike(passage_scores(torch.cat(list(read)), sizes, queries, lengths), wanted)

    def _by_the_base(self, asked: Sequence[str], numbers: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
        """What the base makes of the passages for each query.  -> (b, p); the queries' vectors (m, d), lengths (b,)"""
        encoded = self.encoder.encode_queries(asked)
        queries = torch.from_numpy(np.concatenate([q.vectors for q in encoded])).to(self._device)
        lengths = torch.tensor([len(q) for q in encoded], device=self._device)
        held = [self.passages.tokens(number).vectors for number in numbers]
        sizes = torch.tensor([len(vectors) for vectors in held], device=self._device)
        tokens = torch.from_numpy(np.concatenate(held)).to(self._device)
        return passage_scores(tokens, sizes, queries, lengths), queries, lengths

    def read(self, numbers: Sequence[int]) -> list[Tensor]:
        """Each passage by the network that learns, a unit vector a token."""
        texts = [self.encoder.texts_read(self.passages.passage(number))[0] for number in numbers]
        found: dict[int, Tensor] = {}
        for held in alike(texts):
            given = self._tokenizer([texts[i] for i in held], padding=True, return_tensors="pt").to(self._device)
            with torch.autocast(self._device.type, torch.bfloat16, enabled=self._fast):
                states = self.network(**given).last_hidden_state
            states = F.normalize(states.float(), dim=-1)
            found |= {i: states[row, given["attention_mask"][row].bool()] for row, i in enumerate(held)}
        return [found[i] for i in range(len(texts))]

    def trained(self) -> dict[str, Tensor]:
        """The network's weights, the recipe's share of the change kept."""
        return {
            name: self._start[name] + self.recipe.share * (t.cpu() - self._start[name]) if t.is_floating_point() else t
            for name, t in self.network.state_dict().items()
        }

    def save(self, out: Path, about: dict[str, Any]) -> dict[str, Path]:
        """A model's folder of all networks; of the bundled base also what passages' changed, in a file."""
        made = {"model": out / "model"}
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
        write_model(model, self.queries.salience(with_head=True), made["model"])
        return made
