"""What a run's items show beyond means: calibration, precision against recall, and figures by group of items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from propcite.app.lab.runs.aggregates import MIN_SOURCES, Aggregate, aggregates, source_of
from propcite.app.lab.runs.significance import Floats
from propcite.app.library.store.runs import RunItem

BINS = 10
MAX_SINGLE_VALUES = 6  # with at most so many different values, each is a group of its own
NUM_GROUPS = 4
Items = Sequence[RunItem]


@dataclass(frozen=True, slots=True)
class Bin:
    """Judgements of about the same probability, and the share of them that turned out right with its interval."""

    count: int
    probability: float
    right: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Curve:
    """Precision and recall at each threshold, the highest first."""

    precision: Floats
    recall: Floats
    thresholds: Floats


@dataclass(frozen=True, slots=True)
class ItemGroup:
    """Items of a run that have something in common, and their figures."""

    name: str
    items: int
    figures: Sequence[Aggregate]


def reliability(items: Items) -> list[Bin]:
    """Return the judgements in ten bins of equal width; the intervals are Wilson's."""
    judged = [(j["probability"], j["right"]) for item in items for j in _entries(item, "judged", "probability")]
    if not judged:
        return []
    probabilities, right = (np.array(column, dtype=float) for column in zip(*judged, strict=True))
    bins = np.minimum((np.clip(probabilities, 0, 1) * BINS).astype(int), BINS - 1)
    return [_bin(probabilities[bins == b], right[bins == b]) for b in range(BINS) if (bins == b).any()]


def _bin(probabilities: Floats, right: Floats) -> Bin:
    n, share, z = len(right), float(right.mean()), 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Bin(n, float(probabilities.mean()), share, float(middle - half), float(middle + half))


def calibration_error(bins: Sequence[Bin]) -> float:
    """Return the mean distance between a probability and the share that turned out right.

    >>> calibration_error([Bin(3, 0.75, 0.5, 0.2, 0.8), Bin(1, 0.9, 0.9, 0.5, 1.0)])
    0.1875
    """
    return sum(b.count * abs(b.probability - b.right) for b in bins) / sum(b.count for b in bins)


def precision_recall(items: Items) -> Curve | None:
    """Return precision and recall at each score as threshold; None without scores or without anything right."""
    scores, right, num_required = _scored(items)
    if not num_required or not len(scores):
        return None
    order = np.argsort(-scores, kind="stable")
    hits, accepted = np.cumsum(right[order]), np.arange(1, len(scores) + 1)
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)  # equal scores have the same threshold
    return Curve((hits / accepted)[last], (hits / num_required)[last], scores[order][last])


def _scored(items: Items) -> tuple[Floats, Floats, float]:
    """Return scores, whether each is right, and how many right ones there are, whether scored or not."""
    scores: list[float] = []
    right: list[float] = []
    num_required = 0.0
    for item in items:
        pairs = [(one["score"], one["right"]) for one in _entries(item, "scored", "score")]
        pairs = pairs or [(one["probability"], one["right"]) for one in _entries(item, "judged", "probability")]
        scores += [float(score) for score, _ in pairs]
        right += [float(is_right) for _, is_right in pairs]
        stored = item.output.get("num_wanted")
        num_required += stored if isinstance(stored, int | float) else sum(float(is_right) for _, is_right in pairs)
    return np.array(scores), np.array(right), num_required


def _entries(item: RunItem, name: str, number: str) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a list in an item's output that have a number and whether it is right."""
    entries = item.output.get(name)
    for one in entries if isinstance(entries, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get(number), int | float) and one.get("right") is not None:
            yield one


def groups_by_length(items: Items) -> list[ItemGroup]:
    return _groups(items, _length)


def groups_by_citations(items: Items) -> list[ItemGroup]:
    return _groups(items, _citations)


def groups_by_source(items: Items) -> list[ItemGroup]:
    """Return one group per source; empty with fewer than two."""
    sources = sorted({source_of(item) for item in items} - {""})
    if len(sources) < MIN_SOURCES:
        return []
    return [_group(name, [item for item in items if source_of(item) == name]) for name in sources]


def _length(item: RunItem) -> float | None:
    length = item.measures.get("length")
    if length is None and item.output.get("text"):
        return len(str(item.output["text"]).split())
    return length


def _citations(item: RunItem) -> float | None:
    count, citations = item.measures.get("citations"), item.output.get("citations")
    return len(citations) if count is None and isinstance(citations, list) else count


def _groups(items: Items, value_of: Callable[[RunItem], float | None]) -> list[ItemGroup]:
    """Return groups of about the same size by a number of the items; empty if all have the same."""
    pairs = [(item, value) for item in items if (value := value_of(item)) is not None]
    different = np.unique([value for _, value in pairs])
    if len(different) < 2:
        return []
    if len(different) <= MAX_SINGLE_VALUES:
        return [_group(f"{at:g}", [item for item, value in pairs if value == at]) for at in different]
    edges = np.unique(np.quantile([value for _, value in pairs], np.linspace(0, 1, NUM_GROUPS + 1), method="higher"))
    groups = []
    for number, (low, high) in enumerate(pairwise(edges)):
        inside = [item for item, value in pairs if (low < value or number == 0) and low <= value <= high]
        lowest = different[different > low][0] if number else low
        groups.append(_group(f"{lowest:g}–{high:g}" if lowest < high else f"{high:g}", inside))
    return groups


def _group(name: str, items: Items) -> ItemGroup:
    return ItemGroup(name, len({item.key for item in items}), aggregates(items))
