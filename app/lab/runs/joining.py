"""Runs over parts of the same items as one run: only where nothing that changes a figure differs."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from propcite.app.errors import AppError
from propcite.app.lab.runs.aggregates import OWN_TEST, WHOLE, is_way
from propcite.app.lab.runs.keeping import differences
from propcite.app.lab.runs.tables import notes
from propcite.app.library.store.runs import DONE, EXPECTED, RunInfo, RunItem, Runs, as_json

SHARE = ("limit", "offset")  # the settings by which parts may differ
NAMED = 5  # items that one line of trouble names

Items = dict[tuple[str, str], RunItem]


def join(runs: Runs, names: Sequence[str]) -> RunInfo:
    """One run of all items; the parts stay as they are."""
    parts = list({run.id: run for run in map(runs.run, names)}.values())
    if len(parts) < 2:
        raise AppError("one run alone is joined already: name two or more, as propcite runs list shows them")
    parts.sort(key=lambda run: (run.settings.get("offset", 0), run.started_at))
    for part in parts:
        _check(parts[0], part)
    of_each = {run.id: list(runs.items(run.id)) for run in parts}
    items = _together(of_each)
    runs.keep(_joined(parts, of_each, len(items)), items.values())
    return runs.run(_id(parts))


def _check(first: RunInfo, part: RunInfo) -> None:
    """Whether a run is a part of the same measurement as the first."""
    if part.state != DONE:
        raise AppError(f"run {part.id} is unfinished: give the command that began it again, then join")
    if part.kind == "judge" or any(name not in part.settings for name in SHARE):
        raise AppError(f"run {part.id} ({part.kind}) is no part of several: those that --limit and --offset make are")
    told = differences(_must_agree(first), _must_agree(part))
    if told:
        raise AppError(f"runs {first.id} and {part.id} are no parts of one run: {'; '.join(told)}")


def _must_agree(run: RunInfo) -> dict[str, Any]:
    settings = {name: value for name, value in run.settings.items() if name not in SHARE}
    models = run.about.get("models", {})
    return {"kind": run.kind, "of": run.name, "judge": run.judge, **settings, "models": models}


def _together(of_each: Mapping[str, Sequence[RunItem]]) -> Items:
    """Every item once; what is in two parts must be the same in both."""
    found: Items = {}
    other: list[str] = []
    for item in (item for items in of_each.values() for item in items if item.key != WHOLE):
        known = found.setdefault((item.way, item.key), item)
        if _said(known) != _said(item) and not item.way.startswith(OWN_TEST):  # which tries other pairs in each part
            other.append(f"{item.key} by {item.way}")
    if other:
        told = ", ".join([*other[:NAMED], *["…"][: len(other) > NAMED]])
        raise AppError(f"{len(other)} items are in two of the runs with different outputs ({told}): join others")
    return found


def _said(item: RunItem) -> str:
    return json.dumps([as_json(item.measures), as_json(item.output)], sort_keys=True)


def _joined(parts: Sequence[RunInfo], of_each: Mapping[str, Sequence[RunItem]], num_items: int) -> RunInfo:
    first = parts[0]
    about = {
        **first.about,
        "command": shlex.join(["propcite", "runs", "join", *(run.id for run in parts)]),
        "joined": {run.id: run.about.get("command", "") for run in parts},
        EXPECTED: num_items,
        "notes": list(dict.fromkeys(_notes(parts, of_each))),
    }
    settings = {**{name: value for name, value in first.settings.items() if name not in SHARE}, **_share(parts)}
    began, ended = min(run.started_at for run in parts), max(run.ended_at or run.started_at for run in parts)
    return RunInfo(_id(parts), first.kind, first.name, DONE, settings, about, first.judge, began, ended, num_items)


def _id(parts: Sequence[RunInfo]) -> str:
    """The same parts are the same run."""
    return hashlib.sha256(" ".join(sorted(run.id for run in parts)).encode()).hexdigest()[:12]


def _share(parts: Sequence[RunInfo]) -> dict[str, Any]:
    """Limit and offset of all together; where something is missing between them, the parts as they are."""
    spans = sorted(_span(run) for run in parts)
    if any(start > max(end for _, end in spans[: number + 1]) for number, (start, _) in enumerate(spans[1:])):
        return {"parts": [_shown(span) for span in spans]}
    begin, end = spans[0][0], max(end for _, end in spans)
    return {"limit": 0 if end == float("inf") else int(end - begin), "offset": begin}


def _span(run: RunInfo) -> tuple[int, float]:
    offset, limit = run.settings["offset"], run.settings["limit"]
    return offset, offset + limit if limit else float("inf")


def _shown(span: tuple[int, float]) -> str:
    start, end = span
    return f"from {start} on" if end == float("inf") else f"{start} to {int(end) - 1}"


def _notes(parts: Sequence[RunInfo], of_each: Mapping[str, Sequence[RunItem]]) -> Iterator[str]:
    """What a reader must know: of each part what is not said of all, and what is not in all."""
    for run in parts:
        for line in notes(run):
            yield line if all(line in notes(other) for other in parts) else f"run {run.id}: {line}"
    codes = dict.fromkeys(str(run.about.get("revision") or run.about.get("version") or "") for run in parts)
    if len(codes) > 1:
        yield f"measured by propcite {' and '.join(codes)}"
    if any(item.key == WHOLE for items in of_each.values() for item in items):
        yield f"left out, since it is no mean of parts: what {WHOLE} together are measured by"
    ways = {id_: {item.way for item in items if is_way(item.way)} for id_, items in of_each.items()}
    for way in sorted(set().union(*ways.values())):
        if lacking := [id_ for id_, there in ways.items() if way not in there]:
            yield f"{way} is not in {', '.join(lacking)}"
