"""Shared by tests of trainings: rows about a harbour, propositions that are halves, a loss without dropout."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from propcite.retrieval.text import Granularity, Span
from propcite.retrieval.training.rows import Row

if TYPE_CHECKING:
    from propcite.retrieval.training.loop import TrainingLoop
    from propcite.retrieval.training.query_trainer import QueryTrainer

WORDS = ("harbour", "gates", "steel", "spring", "dredged")


def row_about(number: int, template: str = "the {word} was made in {number}{i}, and its {word} are of it") -> Row:
    """Make a row with three sentences and a query with a word that only one of them has."""
    rng = random.Random(number)
    order = rng.sample(WORDS, 3)
    sentences = tuple(template.format(word=word, number=number, i=i) for i, word in enumerate(order))
    positive = rng.randrange(3)
    return Row(f"{order[positive]} made in", f"t{number}", sentences, frozenset({positive}), "made", 1.0)


def halves(texts: Sequence[str]) -> list[list[tuple[Span, ...]]]:
    """Split each text into two propositions."""
    return [[(Span(0, len(t) // 2),), (Span(len(t) // 2, len(t)),)] for t in texts]


def eval_loss(trainer: QueryTrainer, rows: Sequence[Row], level: Granularity = Granularity.SENTENCE) -> float:
    """Return the loss of all rows without dropout, which is random."""
    was_training = trainer.queries.training
    trainer.queries.eval()
    loss = trainer.loss(rows, level).item()
    trainer.queries.train(was_training)
    return loss


def run_until(trainer: TrainingLoop, last: int) -> None:
    """Run the steps up to the last one and stop there as if the process had been killed."""

    class StoppedError(Exception):
        pass

    def stop(step: int, _: float) -> None:
        if step == last:
            raise StoppedError

    with pytest.raises(StoppedError):
        trainer.run(stop)
