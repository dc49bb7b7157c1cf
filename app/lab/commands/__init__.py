"""Commands of the laboratory: eval, runs, train and adapt.  Importing a module adds its commands."""

from propcite.app.lab.commands import (
    adaptation,
    evaluation,
    evaluation_alce,
    evaluation_history,
    evaluation_ranking,
    runs,
    training,
    training_judge,
    training_questions,
    training_splitter,
)

__all__ = [
    "adaptation",
    "evaluation",
    "evaluation_alce",
    "evaluation_history",
    "evaluation_ranking",
    "runs",
    "training",
    "training_judge",
    "training_questions",
    "training_splitter",
]
