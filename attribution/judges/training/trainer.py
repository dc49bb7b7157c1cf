"""Train the reader: the network learns which claims are not supported, and which of their words are wrong."""

from __future__ import annotations

import datetime
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from math import sqrt
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges import Case
from propcite.attribution.judges.excerpts import excerpt
from propcite.attribution.judges.reader import MAX_WORDS
from propcite.attribution.judges.reader_files import ABOUT, BASE, load, save, save_changes
from propcite.attribution.judges.reader_network import ReaderNetwork
from propcite.attribution.judges.training.making.example import (
    CONTRADICTED,
    LABELLED,
    SCENES,
    SUPPORTED,
    YES_NO,
    Example,
)
from propcite.attribution.reading.pairs import Pair, PairTokenizer
from propcite.retrieval.encoding.loading import hide_progress_bars, model_folder
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.text import Span
from propcite.retrieval.training.loop import TrainingLoop
from propcite.retrieval.training.lowrank import add_low_rank_changes

CHECKPOINT = "judge.pt"
INFIX = ".parametrizations.weight.0."  # in torch's names of the tensors that change a weight
BATCHES_PER_SORT = 100  # batches whose examples are sorted by length together
SCENES_WEIGHT = 0.4  # of a kind that was made up: there are many, all from templates
MIN_SIZE = 400  # a kind with fewer examples is drawn as often as one with so many
DENIAL_WEIGHT = 0.25  # of the loss that tells denied claims from unsupported ones
NO_BOTH = "training needs supported claims and others: give rows of both kinds"
WRONG_WEIGHT = 4.0  # of a wrong word piece: most pieces are right


@dataclass(frozen=True, slots=True)
class JudgeRecipe:
    """The settings that determine the result, apart from the examples."""

    steps: int = 2500
    batch_pieces: int = 3600
    learning_rate: float = 5e-5
    warmup: int = 60
    title_share: float = 0.6
    dropout: float = 0.0
    marked: float = 0.5  # share of the rows that are of sources whose wrong words people marked, if there are any
    low_rank: int = 0  # of the changes of the upper layers; 0 trains all layers
    seed: int = 0


def base_network(base: str, dropout: float = 0.0) -> tuple[ReaderNetwork, Any]:
    """Return an untrained reader over an encoder, or a trained one from its folder, and the tokenizer."""
    import transformers

    try:
        if (Path(base) / ABOUT).exists():
            network = deepcopy(load(Path(base), "cpu", "float32").network).requires_grad_(True)
        else:
            hide_progress_bars()
            loader: Any = transformers.AutoModel
            network = ReaderNetwork(loader.from_pretrained(model_folder(base), dtype=torch.float32))
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(model_folder(base))
    except AttributionError:
        raise
    except Exception as error:  # the loaders raise the errors of many file formats
        raise AttributionError(f"the model {base} cannot be loaded: {str(error).splitlines()[0]}") from error
    if not tokenizer.is_fast:
        raise AttributionError(f"the tokenizer of {base} reports no word positions: save it as a fast one")
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = dropout
    return network, tokenizer


class JudgeTrainer(TrainingLoop):
    """Trains a reader on examples; the checkpoint is in `folder`."""

    error = AttributionError
    checkpoint_every = 100

    def __init__(
        self, recipe: JudgeRecipe, examples: Sequence[Example], network: ReaderNetwork, tokenizer: Any, folder: Path
    ) -> None:
        self.recipe, self.network = recipe, network.train()
        self._tokenizer = PairTokenizer(tokenizer)
        self._examples = draw(examples, recipe.seed, recipe.marked)
        self._rng = random.Random(recipe.seed)
        torch.manual_seed(recipe.seed)
        embeddings = self.network.base.get_input_embeddings()
        embeddings.requires_grad_(False)
        weights = [p for p in network.parameters() if p.requires_grad]
        groups = [{"params": weights, "lr": recipe.learning_rate}]
        inputs = {**asdict(recipe), "examples": len(examples)}
        super().__init__(recipe, network, groups, folder / CHECKPOINT, inputs=inputs)
        self._remaining = enumerate(self._batches())

    def next_loss(self) -> Tensor:
        """Compute the loss of the next batch; the batches of an earlier run are skipped."""
        batch = next(batch for number, batch in self._remaining if number >= self.step)
        device = self.network.piece.weight.device
        with torch.autocast(device.type, torch.bfloat16):
            logits = self.network([pair for _, pair in batch])
        refused = torch.tensor([float(e.label != SUPPORTED) for e, _ in batch], device=device)
        loss = F.binary_cross_entropy_with_logits(logits.refused, refused) + _piece_loss(logits.pieces, batch)
        return loss + DENIAL_WEIGHT * _denial_loss(logits.denied, batch)

    def _batches(self) -> Iterator[list[tuple[Example, Pair]]]:
        """Yield batches of examples of similar length, of at most `batch_pieces` word pieces."""
        while True:
            pool: list[tuple[Example, Pair]] = []
            size = 0
            while size < BATCHES_PER_SORT * self.recipe.batch_pieces:
                drawn = [next(self._examples) for _ in range(64)]
                encoded = self._tokenizer.encode([(e.claim, self._evidence(e)) for e in drawn])
                pool += zip(drawn, encoded, strict=True)
                size += sum(len(pair.pieces) for pair in encoded)
            groups = batches([len(pair.pieces) for _, pair in pool], self.recipe.batch_pieces)
            self._rng.shuffle(groups)
            for group in groups:
                yield [pool[i] for i in group]

    def _evidence(self, example: Example) -> str:
        """Return the evidence after its title, as often as the recipe says: a reader must do with and without it."""
        shows = bool(example.title) and self._rng.random() < self.recipe.title_share
        return f"{example.title}: {example.evidence}" if shows else example.evidence


def batches(lengths: Sequence[int], max_pieces: int) -> list[list[int]]:
    """Group texts of similar length, by their indices, into batches of at most `max_pieces` with padding.

    >>> batches([5, 100, 6, 90], max_pieces=200)
    [[0, 2], [3, 1]]
    """
    groups: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        fits = groups and (len(groups[-1]) + 1) * lengths[i] <= max_pieces
        if fits and lengths[i] <= 2 * lengths[groups[-1][0]]:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _piece_loss(pieces: Tensor, batch: Sequence[tuple[Example, Pair]]) -> Tensor:
    """Return the mean loss of the pieces whose truth is known; those of a supported claim are all right."""
    truth = torch.full(pieces.shape, -1.0)
    for row, (example, pair) in enumerate(batch):
        if example.label == SUPPORTED or example.wrong:
            wrong = [Span(start, end) for start, end in example.wrong or ()]
            values = [float(any(span.overlaps(other) for other in wrong)) for span in pair.spans]
            truth[row, pair.first : pair.first + len(values)] = torch.tensor(values)
    truth = truth.to(pieces.device)
    weights = (truth >= 0).float() * torch.where(truth > 0, WRONG_WEIGHT, 1.0)
    losses = F.binary_cross_entropy_with_logits(pieces, truth.clamp_min(0), reduction="none")
    return (losses * weights).sum() / weights.sum().clamp_min(1.0)


def _denial_loss(logits: Tensor, batch: Sequence[tuple[Example, Pair]]) -> Tensor:
    """Return the mean loss of the wrong claims of which it is known whether the evidence denies them."""
    known = [i for i, (example, _) in enumerate(batch) if example.tells_denial]
    denied = torch.tensor([float(batch[i][0].label == CONTRADICTED) for i in known], device=logits.device)
    losses = F.binary_cross_entropy_with_logits(logits[known], denied, reduction="sum")
    return losses / max(1, len(known))


def as_shown(example: Example) -> Example:
    """Return the example with its evidence cut as the judge cuts it."""
    return replace(example, evidence=excerpt(Case(example.claim, (example.evidence,)), MAX_WORDS))


def draw(examples: Sequence[Example], seed: int, marked: float = 0.0) -> Iterator[Example]:
    """Yield examples without end: both labels equally often, kinds by the square root of their number.

    A kind with few examples is thus drawn more often than its share, and no kind rules the rest.  What people labelled
    is a kind per source; what was made up is drawn less often.  The share `marked` is drawn from the sources in which
    people marked wrong words, if there are any.
    """
    rng = random.Random(seed)
    sources = {example.source for example in examples if example.kind == LABELLED and example.wrong}
    of_marked = _Pool([example for example in examples if example.source in sources], rng) if sources else None
    others = [example for example in examples if example.source not in sources]
    of_others = _Pool(others, rng) if others else None
    while True:
        label = rng.random() < 0.5
        pool = of_marked if of_marked and (of_others is None or rng.random() < marked) else of_others
        if pool is None:
            raise AttributionError(NO_BOTH)
        yield pool.next(label)


class _Pool:
    """Examples by label and kind, each kind in an order of its own."""

    def __init__(self, examples: Sequence[Example], rng: random.Random) -> None:
        kinds: dict[bool, dict[str, list[Example]]] = {True: defaultdict(list), False: defaultdict(list)}
        for example in examples:
            is_own = example.source == SCENES or example.kind in (LABELLED, YES_NO)
            kind = f"{example.source} {example.kind}" if is_own else example.kind
            kinds[example.label == SUPPORTED][kind].append(example)
        if not (kinds[True] and kinds[False]):
            raise AttributionError(NO_BOTH)
        for of_label in kinds.values():
            for own in of_label.values():
                rng.shuffle(own)
        self._rng, self._kinds = rng, kinds
        self._shares = {label: [_share(own) for own in of_label.values()] for label, of_label in kinds.items()}
        self._position: Counter[tuple[bool, str]] = Counter()

    def next(self, label: bool) -> Example:
        [name] = self._rng.choices(list(self._kinds[label]), self._shares[label])
        own = self._kinds[label][name]
        self._position[label, name] += 1
        return own[(self._position[label, name] - 1) % len(own)]


def _share(examples: Sequence[Example]) -> float:
    weight = SCENES_WEIGHT if examples[0].source == SCENES else 1.0
    return weight * sqrt(max(len(examples), MIN_SIZE))


def prepare_low_rank(network: ReaderNetwork, rank: int) -> None:
    """Freeze the base's weights but for changes of low rank in the upper layers; the heads are trained too."""
    network.base.requires_grad_(False)
    for layer in network.upper_layers:
        add_low_rank_changes(layer, rank)


def learned_changes(network: ReaderNetwork) -> dict[str, Tensor]:
    """Return what a training of low rank learned, under the names that a reader's folder has for it."""
    state = network.state_dict()
    thin = {name.replace(INFIX, ".weight/"): t for name, t in state.items() if INFIX in name}
    return thin | {name: t for name, t in state.items() if not name.startswith(BASE)}


def check_start(base: str, folder: Path, recipe: JudgeRecipe, *, resume: bool) -> None:
    """Raise what would stop a training before its first step: an unfinished one in this folder, or no such base."""
    if recipe.low_rank and not (Path(base) / ABOUT).exists():
        raise AttributionError(
            f"{base} is no trained reader, which changes of low rank need: give the folder of one as base"
        )
    if (folder / CHECKPOINT).exists() and not resume:
        raise AttributionError(f"{folder} has an unfinished training: go on with --resume, or give another --work")
    try:
        model_folder(base)
    except RetrievalError as error:
        raise AttributionError(str(error)) from error


def train(
    examples: Sequence[Example],
    base: str,
    out: Path,
    folder: Path,
    recipe: JudgeRecipe,
    *,
    device: str = "",
    resume: bool = False,
    note: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, float], None] = lambda *_: None,
) -> dict[str, Any]:
    """Train on the examples and write the reader to the folder `out`; return the description stored with it."""
    check_start(base, folder, recipe, resume=resume)
    shown = [as_shown(example) for example in examples]
    network, tokenizer = base_network(base, recipe.dropout)
    if recipe.low_rank:
        prepare_low_rank(network, recipe.low_rank)
    network.to(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    trainer = JudgeTrainer(recipe, shown, network, tokenizer, folder)
    if resume and trainer.resume():
        note(f"going on from step {trainer.step}")
    trainer.run(progress)
    about = {
        "base": Path(base).name,
        "recipe": asdict(recipe),
        "examples": dict(Counter(f"{e.source} {e.kind} {e.label}" for e in examples).most_common()),
        "made": datetime.date.today().isoformat(),
    }
    if recipe.low_rank:
        save_changes(out, Path(base), learned_changes(network), about, recipe.low_rank)
    else:
        save(out, network, tokenizer, about)
    (folder / CHECKPOINT).unlink(missing_ok=True)
    return about
