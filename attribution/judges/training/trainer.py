"""Train the cross-encoder judge: from files of rows to its weights."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.network import Network, PairPieces, PairTokenizer
from propcite.attribution.judges.training.corpus import counts_by_kind, read_files, training_pairs
from propcite.attribution.judges.training.lexicon import Lexicon
from propcite.attribution.judges.training.pairs import Pair
from propcite.attribution.judges.training.text_pairs import SplitClaims
from propcite.attribution.judges.weights import save
from propcite.retrieval.encoding.bundled import bundled_model
from propcite.retrieval.training.loop import TrainingLoop

CHECKPOINT = "judge.pt"
BATCHES_PER_SORT = 24  # pairs of so many batches are sorted by length together
TARGET_SPREAD = 0.96  # between the targets of a supported and an unsupported pair


@dataclass(frozen=True, slots=True)
class JudgeRecipe:
    """The settings that determine the result, apart from the pairs."""

    steps: int = 2300
    batch_size: int = 32
    learning_rate: float = 1e-4
    head_rate: float = 1e-3
    warmup: int = 150
    seed: int = 0


class JudgeTrainer(TrainingLoop):
    """Trains the network on pairs; checkpoints are in `folder`."""

    error = AttributionError
    min_pace = 0.01

    def __init__(self, recipe: JudgeRecipe, pairs: Sequence[Pair], folder: Path) -> None:
        self.recipe = recipe
        torch.manual_seed(recipe.seed)
        tokenizer = PairTokenizer(bundled_model())
        self.network = Network(bundled_model()).train()
        self._pairs = list(zip(tokenizer.encode([(p.claim, p.evidence, p.context) for p in pairs]),
                               [p.label for p in pairs], strict=True))  # fmt: skip
        groups = [
            {"params": [p for p in self.network.base.parameters() if p.requires_grad], "lr": recipe.learning_rate},
            {"params": list(self.network.head.parameters()), "lr": recipe.head_rate},
        ]
        super().__init__(recipe, self.network, groups, folder / CHECKPOINT, inputs=asdict(recipe))
        self._remaining = enumerate(self._batches())

    def next_loss(self) -> Tensor:
        """Compute the loss of the next batch; the batches of an earlier run are skipped."""
        batch = next(batch for number, batch in self._remaining if number >= self.step)
        targets = torch.tensor([0.5 + TARGET_SPREAD * (label - 0.5) for _, label in batch])
        return F.binary_cross_entropy_with_logits(self.network([pieces for pieces, _ in batch]), targets)

    def _batches(self) -> Iterator[list[tuple[PairPieces, float]]]:
        """Yield the recipe's batches of pairs of similar length; the pairs are repeated in their order."""
        rng, size = random.Random(self.recipe.seed), self.recipe.batch_size
        yielded = at = 0
        while yielded < self.recipe.steps:
            pool = [self._pairs[(at + i) % len(self._pairs)] for i in range(BATCHES_PER_SORT * size)]
            at += len(pool)
            pool.sort(key=lambda pair: len(pair[0][0]))
            groups = [pool[i : i + size] for i in range(0, len(pool), size)]
            rng.shuffle(groups)
            yield from groups[: self.recipe.steps - yielded]
            yielded += len(groups)


def train(
    files: Sequence[Path],
    out: Path,
    folder: Path,
    recipe: JudgeRecipe,
    lexicon: Lexicon,
    split_claims: SplitClaims,
    *,
    resume: bool = False,
    note: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, float], None] = lambda *_: None,
) -> dict[str, Any]:
    """Train on the rows of the files and write the weights to `out`; return the description stored with them."""
    checkpoint = folder / CHECKPOINT
    if checkpoint.exists() and not resume:
        raise AttributionError(f"{folder} has an unfinished training: go on with --resume, or give another --work")
    rows = read_files(files)
    pairs = training_pairs(rows, lexicon, split_claims, recipe.seed)
    note(f"{len(pairs)} pairs of claim and evidence")
    trainer = JudgeTrainer(recipe, pairs, folder)
    if resume and trainer.resume():
        note(f"going on from step {trainer.step}")
    trainer.run(progress)
    info = {
        "recipe": asdict(recipe),
        "pairs": counts_by_kind(pairs),
        "sources": sorted({str(row["source"]) for row in rows if "source" in row}),
        "made": datetime.date.today().isoformat(),
    }
    save(out, trainer.network, info)
    checkpoint.unlink(missing_ok=True)
    return info
