"""Join runs over parts of the same file into one run, if they have the same settings, models and judge."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from propcite.app.errors import AppError
from propcite.app.lab.runs.aggregates import ALL_ANSWERS, JUDGE_TEST, is_way
from propcite.app.lab.runs.runner import differences
from propcite.app.lab.runs.tables import notes
from propcite.app.library.store.runs import DONE, EXPECTED, RunInfo, RunItem, Runs, as_json

PART_SETTINGS = ("limit", "offset")  # the settings by which parts may differ
MAX_LISTED = 5  # items in one message

Items = dict[tuple[str, str], RunItem]


def join_runs(runs: Runs, names: Sequence[str]) -> RunInfo:
    """Store one run of all items and return it; the parts stay as they are."""
    parts = list({run.id: run for run in map(runs.run, names)}.values())
    if len(parts) < 2:
        raise AppError("one run cannot be joined: name two or more, as propcite runs list shows them")
    parts.sort(key=lambda run: (run.settings.get("offset", 0), run.started_at))
    for part in parts:
        _check(parts[0], part)
    items_by_run = {run.id: list(runs.items(run.id)) for run in parts}
    items = _all_items(items_by_run)
    runs.import_run(_joined(parts, items_by_run, len(items)), items.values())
    return runs.run(_joined_id(parts))


def _check(first: RunInfo, part: RunInfo) -> None:
    """Raise if a run is not a part of the same measurement as the first."""
    if part.state != DONE:
        raise AppError(f"run {part.id} is unfinished: continue it with the command that began it, then join")
    if part.kind == "judge" or any(name not in part.settings for name in PART_SETTINGS):
        raise AppError(f"run {part.id} ({part.kind}) cannot be a part: join runs that --limit and --offset made")
    if changed := differences(_common_settings(first), _common_settings(part)):
        raise AppError(f"runs {first.id} and {part.id} are not parts of one run: {'; '.join(changed)}")


def _common_settings(run: RunInfo) -> dict[str, Any]:
    settings = {name: value for name, value in run.settings.items() if name not in PART_SETTINGS}
    models = run.about.get("models", {})
    return {"kind": run.kind, "of": run.name, "judge": run.judge, **settings, "models": models}


def _all_items(items_by_run: Mapping[str, Sequence[RunItem]]) -> Items:
    """Return every item once; an item of two parts must be the same in both."""
    by_key: Items = {}
    conflicts: list[str] = []
    for item in (item for items in items_by_run.values() for item in items if item.key != ALL_ANSWERS):
        first = by_key.setdefault((item.way, item.key), item)
        if _content(first) != _content(item) and not item.way.startswith(JUDGE_TEST):  # each part tests other pairs
            conflicts.append(f"{item.key} by {item.way}")
    if conflicts:
        listed = ", ".join([*conflicts[:MAX_LISTED], *["…"][: len(conflicts) > MAX_LISTED]])
        raise AppError(f"{len(conflicts)} items differ between two of the runs ({listed}): join other runs")
    return by_key


def _content(item: RunItem) -> str:
    return json.dumps([as_json(item.measures), as_json(item.output)], sort_keys=True)


def _joined(parts: Sequence[RunInfo], items_by_run: Mapping[str, Sequence[RunItem]], num_items: int) -> RunInfo:
    first = parts[0]
    about = {
        **first.about,
        "command": shlex.join(["propcite", "runs", "join", *(run.id for run in parts)]),
        "joined": {run.id: run.about.get("command", "") for run in parts},
        EXPECTED: num_items,
        "notes": list(dict.fromkeys(_notes(parts, items_by_run))),
    }
    settings = {name: value for name, value in first.settings.items() if name not in PART_SETTINGS}
    settings |= _joined_range(parts)
    start, end = min(run.started_at for run in parts), max(run.ended_at or run.started_at for run in parts)
    return RunInfo(_joined_id(parts), first.kind, first.name, DONE, settings, about, first.judge, start, end, num_items)


def _joined_id(parts: Sequence[RunInfo]) -> str:
    """Return the id of the joined run: the same parts give the same id."""
    return hashlib.sha256(" ".join(sorted(run.id for run in parts)).encode()).hexdigest()[:12]


def _joined_range(parts: Sequence[RunInfo]) -> dict[str, Any]:
    """Return limit and offset of all parts together; the list of their ranges if there are gaps."""
    ranges = sorted(_range(run) for run in parts)
    if any(start > max(end for _, end in ranges[: number + 1]) for number, (start, _) in enumerate(ranges[1:])):
        return {"parts": [_range_text(*one) for one in ranges]}
    start, end = ranges[0][0], max(end for _, end in ranges)
    return {"limit": 0 if end == float("inf") else int(end - start), "offset": start}


def _range(run: RunInfo) -> tuple[int, float]:
    offset, limit = run.settings["offset"], run.settings["limit"]
    return offset, offset + limit if limit else float("inf")


def _range_text(start: int, end: float) -> str:
    return f"from {start} on" if end == float("inf") else f"{start} to {int(end) - 1}"


def _notes(parts: Sequence[RunInfo], items_by_run: Mapping[str, Sequence[RunItem]]) -> Iterator[str]:
    """Yield the parts' notes, each with its run unless all have it, and what the parts do not have in common."""
    for run in parts:
        for line in notes(run):
            yield line if all(line in notes(other) for other in parts) else f"run {run.id}: {line}"
    codes = dict.fromkeys(str(run.about.get("revision") or run.about.get("version") or "") for run in parts)
    if len(codes) > 1:
        yield f"measured by propcite {' and '.join(codes)}"
    if any(item.key == ALL_ANSWERS for items in items_by_run.values() for item in items):
        yield f"left out, since it is not a mean of parts: measures of {ALL_ANSWERS} together"
    ways = {id_: {item.way for item in items if is_way(item.way)} for id_, items in items_by_run.items()}
    for way in sorted(set().union(*ways.values())):
        if missing := [id_ for id_, present in ways.items() if way not in present]:
            yield f"{way} is not in {', '.join(missing)}"
