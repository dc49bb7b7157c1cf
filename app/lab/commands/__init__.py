"""The commands of the laboratory: evaluate, train, adapt.  A module adds its commands when it is imported."""

from propcite.app.lab.commands import (
    adaptation,
    evaluation,
    evaluation_alce,
    evaluation_history,
    evaluation_ranking,
    runs,
    training,
)

__all__ = [
    "adaptation",
    "evaluation",
    "evaluation_alce",
    "evaluation_history",
    "evaluation_ranking",
    "runs",
    "training",
]
