"""Keeps what is measured while it is measured: a run that was stopped goes on, with the same settings only."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic, TypeVar

from propcite.app.errors import AppError
from propcite.app.library.store.runs import UNFINISHED, RunInfo, RunItem, Runs, as_json
from propcite.app.terminal import counting
from propcite.attribution.llm.usage import metered

Row = TypeVar("Row")
LONGEST_SHOWN = 60
NOT_GIVEN = "not given"


@dataclass(frozen=True, slots=True)
class Todo(Generic[Row]):
    """A row of a file, and the ways by which the run has not measured it yet."""

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
    *,
    new: bool = False,
    say: Callable[[str], None],
) -> RunInfo:
    """The unfinished run of these settings, or a new one; one that was left with other settings is told, not lost."""
    earlier = [] if new else runs.of(kind, name)
    wanted = as_json({**settings, "judge": judge})
    for run in earlier:
        if run.state == UNFINISHED and not differences(_settings(run), wanted):
            say(f"going on with run {run.id}: {run.num_items} items are done{_changed(run, about)}")
            return run
    if earlier and earlier[0].state == UNFINISHED:
        told = "; ".join(differences(_settings(earlier[0]), wanted))
        raise AppError(
            f"run {earlier[0].id} over {name} is unfinished and had other settings ({told}):"
            " give those to go on, or --new to start another"
        )
    run = runs.start(kind, name, settings, about, judge)
    say(f"run {run.id}: propcite runs show {run.id}")
    return run


def measure(
    runs: Runs,
    run: RunInfo,
    rows: Sequence[Row],
    key: Callable[[Row], str],
    ways: Sequence[str] | Callable[[Row], Sequence[str]],
    work: Callable[[Sequence[Todo[Row]]], Iterable[RunItem]],
    together: int = 1,
    what: str = "measuring",
) -> RunInfo:
    """Measure what the run lacks, `together` rows at once, and keep each item as soon as `work` gives it.

    `ways` are those of every row, or tell the ways of one.
    """
    keys = [key(row) for row in rows]
    if (twice := _twice(keys)) is not None:
        raise AppError(f"two items have the id {twice!r}: give each an id of its own")
    with runs.measuring(run.id):
        todo = _lacking(runs, run, zip(rows, keys, strict=True), ways if callable(ways) else lambda _: ways)
        with counting(sum(len(one.ways) for one in todo), what) as advance:
            for first in range(0, len(todo), together):
                for item in work(todo[first : first + together]):
                    runs.add(run.id, [item])
                    advance(what)
        return runs.finish(run.id)


def _lacking(
    runs: Runs, run: RunInfo, rows: Iterable[tuple[Row, str]], of: Callable[[Row], Sequence[str]]
) -> list[Todo[Row]]:
    """What the run has not measured yet; how many items it will have stands with it."""
    known = runs.known(run.id)
    wanted = [Todo(row, key, tuple(of(row))) for row, key in rows]
    runs.expect(run.id, len(known | {(way, one.key) for one in wanted for way in one.ways}))
    lacking = [replace(one, ways=tuple(way for way in one.ways if (way, one.key) not in known)) for one in wanted]
    return [one for one in lacking if one.ways]


@contextmanager
def clocked() -> Iterator[dict[str, float]]:
    """What the work inside costs: seconds, seconds of all processors, tokens of language models, once it is done."""
    cost: dict[str, float] = {}
    began, used = time.perf_counter(), time.process_time()
    with metered() as meter:
        yield cost
    cost["seconds"] = round(time.perf_counter() - began, 6)
    cost["cpu_seconds"] = round(time.process_time() - used, 6)
    if meter.usage:
        cost.update(asdict(meter.usage))


def portion(cost: Mapping[str, float], among: int) -> dict[str, float]:
    """What each of so many bears of a cost that they had together."""
    return {name: round(value / max(1, among), 8) for name, value in cost.items()}


def added(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """What two pieces of work cost together."""
    return {name: round(one.get(name, 0.0) + other.get(name, 0.0), 8) for name in {**one, **other}}


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Each setting that differs, with both values; a setting inside another is named by both.

    >>> differences({"context": 5, "threshold": {"judge": 0.5}}, {"context": 10, "threshold": {"judge": 0.5}})
    ['context 5 -> 10']
    """
    before, after = dict(_flat(then)), dict(_flat(now))
    names = [name for name in {**before, **after} if before.get(name, NOT_GIVEN) != after.get(name, NOT_GIVEN)]
    return [f"{name} {_shown(before, name)} -> {_shown(after, name)}" for name in names]


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _shown(settings: Mapping[str, Any], name: str) -> str:
    if name not in settings:
        return NOT_GIVEN
    value = settings[name]
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def _settings(run: RunInfo) -> dict[str, Any]:
    return {**run.settings, "judge": run.judge}


def _changed(run: RunInfo, about: Mapping[str, Any]) -> str:
    """Models or code that are no longer those with which the run began: its items are no longer of one kind."""
    now = as_json(about)
    told = [
        line
        for part in ("models", "revision", "version")
        if part in run.about and part in now
        for line in differences({part: run.about[part]}, {part: now[part]})
    ]
    return f" (it began with other parts: {'; '.join(told)})" if told else ""


def _twice(keys: Sequence[str]) -> str | None:
    return next((key for key, count in Counter(keys).items() if count > 1), None)
