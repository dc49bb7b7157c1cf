"""What the parts of a divided index say to each other while they search.

A search is a generator: it yields a summary of its own part and gets the summary of all parts in return.  So each part
runs the same code, in one process or in many, and together they return what one index would.  An index in one piece
gets its own summaries back.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, Protocol, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats, Ints

T = TypeVar("T")


class Summary(Protocol):
    """What one part says, and what all of them say together."""

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self: ...


S = TypeVar("S", bound=Summary)
Steps = Generator[Summary, Summary, T]  # yields summaries of a part, is sent those of all, and returns a result


def exchanged(own: S) -> Generator[Summary, Summary, S]:
    """Yield the summary of this part, and return the summary of all."""
    of_all = yield own
    return cast("S", of_all)


@dataclass(frozen=True, slots=True)
class Sums:
    """Numbers that are added up, by name."""

    values: dict[str, Any]

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        return cls({name: sum(part.values[name] for part in parts) for name in parts[0].values})

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest `number` values of each row, in no order; a row has fewer where there are no more."""

    rows: tuple[Floats, ...]
    number: int

    @classmethod
    def of(cls, rows: Iterable[Floats], number: int) -> Self:
        """Return the largest finite values of each row."""
        return cls(tuple(_largest(row[np.isfinite(row)], number) for row in rows), number)

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        if len(parts) == 1:
            return parts[0]
        number = parts[0].number
        rows = zip(*(part.rows for part in parts), strict=True)
        return cls(tuple(_largest(np.concatenate(values), number) for values in rows), number)

    def last(self, empty: float) -> Floats:
        """Return the least of each row's values; `empty` for a row without values.  (n,)"""
        return np.array([row.min() if len(row) else empty for row in self.rows], np.float32)


def _largest(values: Floats, number: int) -> Floats:
    if number < 1:
        return values[:0]
    return np.partition(values, len(values) - number)[-number:] if len(values) > number else values


@dataclass(frozen=True, slots=True)
class Several:
    """Summaries that are exchanged at once."""

    each: tuple[Any, ...]

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        return cls(tuple(type(of[0]).merged(of) for of in zip(*(part.each for part in parts), strict=True)))


def best_of_all(scores: Sequence[Floats], num_rows: int, number: int) -> Largest:
    """Return the best `number` scores of each row in a part's segments.  Per segment: scores (n, p)."""
    none = np.zeros((num_rows, 0), np.float32)
    return Largest.of(np.concatenate([none, *scores], axis=1), number)


def among_best(scores: Sequence[Floats], passages: Sequence[Ints], best: Largest) -> list[Ints]:
    """Return the passages of each segment whose score is among the best of some row, ties with the last included.

    Per segment: scores (n, p), passages (p,).
    """
    last = best.last(np.inf)
    chosen: list[npt.NDArray[np.bool_]] = [np.zeros(len(some), bool) for some in passages]
    for mask, own in zip(chosen, scores, strict=True):
        for row, threshold in zip(own, last, strict=False):
            mask |= np.isfinite(row) & (row >= threshold)
    return [some[mask] for some, mask in zip(passages, chosen, strict=True)]


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """What a search returns at its end."""

    value: T


def step(steps: Steps[T], of_all: Summary | None) -> Summary | Result[T]:
    """Run a search until it needs the other parts, or to its end."""
    try:
        with single_thread():
            return next(steps) if of_all is None else steps.send(of_all)
    except StopIteration as end:
        return Result(end.value)


def together(searches: Sequence[Steps[T]], over: Callable[..., Iterable[Any]] = map) -> list[T]:
    """Run the parts of one search, which all take the same steps, and return what each returns.

    `over` applies a function to all parts, as `map` does: one after the other, or in parallel.
    """
    of_all: Summary | None = None
    while True:
        reached = list(over(step, searches, [of_all] * len(searches)))
        if all(isinstance(one, Result) for one in reached):
            return [one.value for one in reached]
        of_all = type(reached[0]).merged(reached)


def single_thread() -> AbstractContextManager[Any]:
    """Limit libraries to one thread: queries run in parallel, and a query's own threads would only wait."""
    limited: AbstractContextManager[Any] = _openmp().limit(limits=1)
    return limited


@lru_cache(maxsize=1)
def _openmp() -> Any:
    import torch  # noqa: F401 - its libraries must be loaded to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="openmp")
