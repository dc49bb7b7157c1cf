"""The commands of the laboratory: evaluate, train, adapt.  A module adds its commands when it is imported."""

from propcite.app.lab.commands import (
    adapting,
    evaluating,
    evaluating_alce,
    evaluating_history,
    evaluating_ranking,
    models,
    runs,
)

__all__ = [
    "adapting",
    "evaluating",
    "evaluating_alce",
    "evaluating_history",
    "evaluating_ranking",
    "models",
    "runs",
]
