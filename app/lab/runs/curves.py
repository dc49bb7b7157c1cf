"""What a run's items show beyond their means: how far a probability can be trusted, precision against recall, parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from propcite.app.lab.runs.aggregates import Aggregate, aggregates
from propcite.app.lab.runs.significance import Floats
from propcite.app.lab.runs.sources import SEVERAL, source_of
from propcite.app.library.store.runs import RunItem

BINS = 10
FEW_VALUES = 6  # up to so many different values each is a part of its own
PARTS = 4
Items = Sequence[RunItem]


@dataclass(frozen=True, slots=True)
class Bin:
    """Judgements of about one probability, and how many of them turned out right."""

    count: int
    probability: float
    right: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Curve:
    """Precision and recall at every threshold, from the highest on."""

    precision: Floats
    recall: Floats
    thresholds: Floats


@dataclass(frozen=True, slots=True)
class Part:
    """Some of a run's items under the name of what they share, and their figures."""

    name: str
    items: int
    figures: Sequence[Aggregate]


def reliability(items: Items) -> list[Bin]:
    """What was judged, in ten equal bins of probability.  The interval is Wilson's."""
    told = [(j["probability"], j["right"]) for item in items for j in _told(item, "judged", "probability")]
    if not told:
        return []
    probabilities, right = (np.array(column, dtype=float) for column in zip(*told, strict=True))
    place = np.minimum((np.clip(probabilities, 0, 1) * BINS).astype(int), BINS - 1)
    return [_bin(probabilities[place == b], right[place == b]) for b in range(BINS) if (place == b).any()]


def _bin(probabilities: Floats, right: Floats) -> Bin:
    n, share, z = len(right), float(right.mean()), 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Bin(n, float(probabilities.mean()), share, float(middle - half), float(middle + half))


def calibration_error(bins: Sequence[Bin]) -> float:
    """How far, on average, a probability is from the share that turned out right.

    >>> calibration_error([Bin(3, 0.75, 0.5, 0.2, 0.8), Bin(1, 0.9, 0.9, 0.5, 1.0)])
    0.1875
    """
    return sum(b.count * abs(b.probability - b.right) for b in bins) / sum(b.count for b in bins)


def precision_recall(items: Items) -> Curve | None:
    """Of what scores at least a threshold, how much is right; and how much of what is wanted that finds."""
    scores, right, wanted = _scored(items)
    if not wanted or not len(scores):
        return None
    order = np.argsort(-scores, kind="stable")
    found, taken = np.cumsum(right[order]), np.arange(1, len(scores) + 1)
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)  # equal scores stand or fall together
    return Curve((found / taken)[last], (found / wanted)[last], scores[order][last])


def _scored(items: Items) -> tuple[Floats, Floats, float]:
    """Scores, whether each is right, and how many right ones there are, found or not."""
    scores: list[float] = []
    right: list[float] = []
    wanted = 0.0
    for item in items:
        told = [(one["score"], one["right"]) for one in _told(item, "scored", "score")]
        told = told or [(one["probability"], one["right"]) for one in _told(item, "judged", "probability")]
        scores += [float(score) for score, _ in told]
        right += [float(is_right) for _, is_right in told]
        given = item.output.get("num_wanted")
        wanted += given if isinstance(given, int | float) else sum(float(is_right) for _, is_right in told)
    return np.array(scores), np.array(right), wanted


def _told(item: RunItem, name: str, number: str) -> Iterator[Mapping[str, Any]]:
    """The entries of a list in an item's output that hold a number and whether it is right."""
    listed = item.output.get(name)
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get(number), int | float) and one.get("right") is not None:
            yield one


def by_length(items: Items) -> list[Part]:
    return _by(items, _length)


def by_citations(items: Items) -> list[Part]:
    return _by(items, _citations)


def by_source(items: Items) -> list[Part]:
    """Where the rows come from, if they come from several."""
    sources = sorted({source_of(item) for item in items} - {""})
    if len(sources) < SEVERAL:
        return []
    return [_part(name, [item for item in items if source_of(item) == name]) for name in sources]


def _length(item: RunItem) -> float | None:
    told = item.measures.get("length")
    if told is None and item.output.get("text"):
        return len(str(item.output["text"]).split())
    return told


def _citations(item: RunItem) -> float | None:
    told, listed = item.measures.get("citations"), item.output.get("citations")
    if told is None and isinstance(listed, list):
        return len(listed)
    return told


def _by(items: Items, value: Callable[[RunItem], float | None]) -> list[Part]:
    """Items in parts of about as many each, by a number that they tell; nothing where it is always the same."""
    known = [(item, told) for item in items if (told := value(item)) is not None]
    different = np.unique([told for _, told in known])
    if len(different) < 2:
        return []
    if len(different) <= FEW_VALUES:
        return [_part(f"{at:g}", [item for item, told in known if told == at]) for at in different]
    edges = np.unique(np.quantile([told for _, told in known], np.linspace(0, 1, PARTS + 1), method="higher"))
    parts = []
    for number, (low, high) in enumerate(pairwise(edges)):
        inside = [i for i, told in known if (low < told or number == 0) and low <= told <= high]
        least = different[different > low][0] if number else low
        parts.append(_part(f"{least:g}–{high:g}" if least < high else f"{high:g}", inside))
    return parts


def _part(name: str, items: Items) -> Part:
    return Part(name, len({item.key for item in items}), aggregates(items))
