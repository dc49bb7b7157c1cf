"""How good a ranking is, by ir-measures and under its names: nDCG, recall, RR, P and Success, a query at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from propcite.app.errors import AppError

DEPTH = 100  # units of a ranking that are looked at
PASSAGES = ("nDCG@10", "R@5", "R@10", "R@100", "RR@10", "P@1", "Success@5", "Success@10")
SENTENCES = ("P@1", "R@5", "RR")
FACTS = ("Success@1", "R@5", "R@10", "R@20")


def needs_ir_measures() -> Any:
    """The library, or in one line how to get it."""
    try:
        import ir_measures
    except ImportError as error:
        raise AppError("ranking measures need a package more: pip install 'propcite[eval]'") from error
    return ir_measures


def figures(ranked: Sequence[str], grades: Mapping[str, int], names: Sequence[str]) -> dict[str, float]:
    """One query's ranking, best first, against the grades of what is judged.

    >>> figures(["b", "a"], {"a": 1, "c": 1}, ["P@1", "R@5", "RR@10"])
    {'P@1': 0.0, 'R@5': 0.5, 'RR@10': 0.5}
    """
    library = needs_ir_measures()
    scored = {unit: float(len(ranked) - place) for place, unit in enumerate(ranked)}  # no ties: they are broken already
    measures = [library.parse_measure(name) for name in names]
    told = library.evaluator(measures, {"q": dict(grades)}).iter_calc({"q": scored})
    found = {str(metric.measure): float(metric.value) for metric in told}
    return {name: found[name] for name in names}
