"""Ranking measures by ir-measures and under its names: nDCG, recall, RR, P and Success of one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from propcite.app.errors import AppError
from propcite.retrieval.extras import install_command

DEPTH = 100  # of a ranking
PASSAGES = ("nDCG@10", "R@5", "R@10", "R@100", "RR@10", "P@1", "Success@5", "Success@10")
ANSWERS = ("Success@1", "Success@5", "Success@20", "Success@100")
SENTENCES = ("P@1", "R@5", "RR")
ANSWERED_SENTENCES = ("P@1", "Success@5")  # of retrieved passages; AGRaME calls the second R@5
NOTHING = {"": 1}  # grades of a query whose answers stand in nothing that was ranked
FACTS = ("Success@1", "R@5", "R@10", "R@20")


def measures_of(depth: int, *, answers: bool = False) -> tuple[str, ...]:
    """Return the measures of rankings of this depth; rankings by answers have Success alone.

    >>> measures_of(1000)[-1], measures_of(20, answers=True)
    ('R@1000', ('Success@1', 'Success@5', 'Success@20'))
    """
    names = ANSWERS if answers else PASSAGES
    within = [name for name in names if int(name.split("@")[1]) <= depth]
    deepest = f"Success@{depth}" if answers else f"R@{depth}"
    return tuple(within) if deepest in names or depth < DEPTH else (*within, deepest)


def import_ir_measures() -> Any:
    try:
        import ir_measures
    except ImportError as error:
        raise AppError(f"ranking measures need ir-measures: {install_command('eval')}") from error
    return ir_measures


def ranking_figures(ranking: Sequence[str], grades: Mapping[str, int], names: Sequence[str]) -> dict[str, float]:
    """Measure one query's ranking, best first, against relevance grades.

    >>> ranking_figures(["b", "a"], {"a": 1, "c": 1}, ["P@1", "R@5", "RR@10"])
    {'P@1': 0.0, 'R@5': 0.5, 'RR@10': 0.5}
    """
    library = import_ir_measures()
    scores = {unit: float(len(ranking) - place) for place, unit in enumerate(ranking)}  # without ties
    measures = [library.parse_measure(name) for name in names]
    metrics = library.evaluator(measures, {"q": dict(grades)}).iter_calc({"q": scores})
    values = {str(metric.measure): float(metric.value) for metric in metrics}
    return {name: values[name] for name in names}
