"""Resumable measurements: a run stores each item as soon as it is done and continues with the same settings only."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, TypeVar

from propcite.app.errors import AppError
from propcite.app.lab.runs.processor_time import processor_seconds
from propcite.app.library.store.runs import DONE, UNFINISHED, RunInfo, RunItem, Runs, as_json
from propcite.app.terminal_progress import counting
from propcite.attribution.llm.usage import measure_usage

Row = TypeVar("Row")
MAX_SHOWN = 60  # characters of a value
NOT_GIVEN = "not given"


def _ignore(_: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Which rows a run measures, whether it is a new run, and where its messages go.

    It measures `limit` rows from `offset` on; a limit of 0 means all.  With `take_over` a finished run with the same
    settings and parts is taken, and one with others that is unfinished is let be.
    """

    limit: int = 0
    offset: int = 0
    new: bool = False
    take_over: bool = False
    report: Callable[[str], None] = _ignore

    def select(self, rows: Sequence[Row]) -> Sequence[Row]:
        if self.offset >= len(rows):
            raise AppError(f"there are {len(rows)} items, none from --offset {self.offset} on: give a smaller one")
        return rows[self.offset : self.offset + self.limit] if self.limit else rows[self.offset :]

    @property
    def settings(self) -> dict[str, int]:
        return {"limit": self.limit, "offset": self.offset}


@dataclass(frozen=True, slots=True)
class Pending(Generic[Row]):
    """A row with the ways by which the run has not measured it yet."""

    row: Row
    key: str
    ways: tuple[str, ...]


def open_run(
    runs: Runs,
    kind: str,
    name: str,
    settings: Mapping[str, Any],
    about: Mapping[str, Any],
    judge: str = "",
    options: RunOptions = RunOptions(),
) -> RunInfo:
    """Return the unfinished run with these settings, or start a new one.

    An unfinished run with other settings is an error, so that it is not forgotten.
    """
    earlier = [] if options.new else runs.find(kind, name)
    current = as_json({**settings, "judge": judge})
    for run in earlier:
        if run.state == UNFINISHED and not differences(_settings(run), current):
            options.report(f"continuing run {run.id}: {run.num_items} items are done{_changed_parts(run, about)}")
            return run
        is_same = run.state == DONE and not differences(_settings(run), current) and not _changed_parts(run, about)
        if options.take_over and is_same:
            options.report(f"run {run.id} is taken over: {run.num_items} items")
            return run
    if earlier and earlier[0].state == UNFINISHED and not options.take_over:
        changed = "; ".join(differences(_settings(earlier[0]), current))
        raise AppError(
            f"run {earlier[0].id} over {name} is unfinished and had other settings ({changed}):"
            " give those to continue it, or --new to start another"
        )
    run = runs.start(kind, name, settings, about, judge)
    options.report(f"run {run.id}: propcite runs show {run.id}")
    return run


def measure(
    runs: Runs,
    run: RunInfo,
    rows: Sequence[Row],
    key: Callable[[Row], str],
    ways: Sequence[str] | Callable[[Row], Sequence[str]],
    work: Callable[[Sequence[Pending[Row]]], Iterable[RunItem]],
    batch_size: int = 1,
    label: str = "measuring",
) -> RunInfo:
    """Measure what the run lacks, `batch_size` rows at once, and store each item as soon as `work` yields it.

    `ways` are those of every row, or a function that returns the ways of one.
    """
    keys = [key(row) for row in rows]
    if (duplicate := _duplicate(keys)) is not None:
        raise AppError(f"two items have the id {duplicate!r}: give each item its own id")
    with runs.lock(run.id):
        pending = _pending(runs, run, zip(rows, keys, strict=True), ways if callable(ways) else lambda _: ways)
        with counting(sum(len(one.ways) for one in pending), label) as advance:
            for first in range(0, len(pending), batch_size):
                for item in work(pending[first : first + batch_size]):
                    runs.add(run.id, [item])
                    advance(label)
        return runs.finish(run.id)


def _pending(
    runs: Runs, run: RunInfo, rows: Iterable[tuple[Row, str]], ways_of: Callable[[Row], Sequence[str]]
) -> list[Pending[Row]]:
    """Return the rows with ways that the run has not measured yet; store how many items it will have."""
    done = runs.item_keys(run.id)
    required = [Pending(row, key, tuple(ways_of(row))) for row, key in rows]
    runs.set_num_expected(run.id, len(done | {(way, one.key) for one in required for way in one.ways}))
    missing = [replace(one, ways=tuple(way for way in one.ways if (way, one.key) not in done)) for one in required]
    return [one for one in missing if one.ways]


@contextmanager
def timed() -> Iterator[dict[str, float]]:
    """Measure the work inside; the dict is filled at its end: seconds, CPU seconds, tokens of language models.

    The CPU seconds are those of all threads, and of programs of others that cite.
    """
    cost: dict[str, float] = {}
    start, cpu_start = time.perf_counter(), processor_seconds()
    with measure_usage() as meter:
        yield cost
    cost["seconds"] = round(time.perf_counter() - start, 6)
    cost["cpu_seconds"] = round(processor_seconds() - cpu_start, 6)
    if meter.usage:
        cost.update(asdict(meter.usage))


def split_cost(cost: Mapping[str, float], count: int) -> dict[str, float]:
    """Return the share of each of `count` items in their common cost."""
    return {name: round(value / max(1, count), 8) for name, value in cost.items()}


def add_costs(a: Mapping[str, float], b: Mapping[str, float]) -> dict[str, float]:
    return {name: round(a.get(name, 0.0) + b.get(name, 0.0), 8) for name in {**a, **b}}


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return each setting that differs, with both values; nested settings have dotted names.

    >>> differences({"context": 5, "threshold": {"judge": 0.5}}, {"context": 10, "threshold": {"judge": 0.5}})
    ['context 5 -> 10']
    """
    old, new = dict(_flatten(before)), dict(_flatten(after))
    names = [name for name in {**old, **new} if old.get(name, NOT_GIVEN) != new.get(name, NOT_GIVEN)]
    return [f"{name} {_shown(old, name)} -> {_shown(new, name)}" for name in names]


def _flatten(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _shown(settings: Mapping[str, Any], name: str) -> str:
    if name not in settings:
        return NOT_GIVEN
    value = settings[name]
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"


def _settings(run: RunInfo) -> dict[str, Any]:
    return {**run.settings, "judge": run.judge}


def _changed_parts(run: RunInfo, about: Mapping[str, Any]) -> str:
    """Return a remark on models or code that changed since the run began, so that its items are not alike."""
    current = as_json(about)
    changed = [
        line
        for part in ("models", "revision", "version")
        if part in run.about and part in current
        for line in differences({part: run.about[part]}, {part: current[part]})
    ]
    return f" (it began with other parts: {'; '.join(changed)})" if changed else ""


def _duplicate(keys: Sequence[str]) -> str | None:
    return next((key for key, count in Counter(keys).items() if count > 1), None)
