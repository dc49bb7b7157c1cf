"""What tests of trainings share: rows about a harbour, propositions that are halves, a loss without dropout."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from propcite.retrieval.text import Granularity, Span
from propcite.retrieval.training.rows import Row

if TYPE_CHECKING:
    from propcite.retrieval.training.steps import Steps
    from propcite.retrieval.training.trainer import Trainer

WORDS = ("harbour", "gates", "steel", "spring", "dredged")


def row_about(number: int, said: str = "the {word} was made in {number}{i}, and its {word} are of it") -> Row:
    """A passage of three sentences, a query that asks for one of them by a word that the others lack."""
    dice = random.Random(number)
    order = dice.sample(WORDS, 3)
    sentences = tuple(said.format(word=word, number=number, i=i) for i, word in enumerate(order))
    wanted = dice.randrange(3)
    return Row(f"{order[wanted]} made in", f"t{number}", sentences, frozenset({wanted}), "made", 1.0)


def halves(texts: Sequence[str]) -> list[list[tuple[Span, ...]]]:
    """Each text as two propositions."""
    return [[(Span(0, len(t) // 2),), (Span(len(t) // 2, len(t)),)] for t in texts]


def measured(trainer: Trainer, rows: Sequence[Row], level: Granularity = Granularity.SENTENCE) -> float:
    """The loss of all rows as the network is used: what dropout makes of it is another number each time."""
    learning = trainer.queries.training
    trainer.queries.eval()
    loss = trainer.loss(rows, level).item()
    trainer.queries.train(learning)
    return loss


def stopped(trainer: Steps, last: int) -> None:
    """Runs the steps up to the last one, after which the process might have been killed."""

    class StoppedError(Exception):
        pass

    def stop(step: int, _: float) -> None:
        if step == last:
            raise StoppedError

    with pytest.raises(StoppedError):
        trainer.run(stop)
