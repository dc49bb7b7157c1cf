"""What a process measures of itself: processor time, memory, files, and an engine's queries against the truth."""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

FEWEST = 20  # queries that are asked however slow a point is
WARMING = 3  # queries asked before any is measured

Record = dict[str, Any]


def cpu_seconds() -> float:
    """Processor time of this process, its threads and the processes it started."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def peak_mb() -> float:
    """The most memory that this process held, pages of mapped files that it read included."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss begins with what the starting process held
        for line in status.read_text("utf-8").splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def bytes_in(folder: Path) -> int:
    """What the files of a folder take."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def append(path: Path, record: Record) -> None:
    """Add a line to a file of records; the line before may have been cut off in the middle."""
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps(record))


def read_records(path: Path) -> list[Record]:
    """The last record of each thing, without lines that were cut off."""
    records: dict[tuple[object, ...], Record] = {}
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        try:
            record: Record = json.loads(line)
        except json.JSONDecodeError:
            continue
        records[record["kind"], record.get("point"), record.get("sentences")] = record
    return list(records.values())


def evaluate(
    search: Callable[[npt.NDArray[Any]], Sequence[int]],
    queries: Sequence[npt.NDArray[Any]],
    truth: npt.NDArray[np.int64],
    *,
    repeats: int,
    limit_s: float,
) -> Record:
    """Each query's least time over the repeats, and how much of the truth's first 10 and 100 is found.

    Once `limit_s` has passed no repeat begins, and the first one ends after FEWEST queries.
    """
    for query in queries[:WARMING]:
        search(query)
    cpu = np.full((repeats, len(queries)), np.inf)
    wall = np.full((repeats, len(queries)), np.inf)
    recalls: list[tuple[float, float]] = []
    began, complete = time.perf_counter(), 0
    for repeat in range(repeats):
        if repeat and time.perf_counter() - began > limit_s:
            break
        for number, query in enumerate(queries[: len(recalls)] if repeat else queries):
            if not repeat and number >= FEWEST and time.perf_counter() - began > limit_s:
                break
            started, worked = time.perf_counter(), time.process_time()
            found = search(query)
            cpu[repeat, number] = time.process_time() - worked
            wall[repeat, number] = time.perf_counter() - started
            if not repeat:
                recalls.append((_recall(found, truth[number], 10), _recall(found, truth[number], 100)))
        complete += 1
    asked = len(recalls)
    least, least_wall = cpu[:, :asked].min(axis=0), wall[:, :asked].min(axis=0)
    return {
        "queries": asked,
        "repeats": complete,
        "cut_short": asked < len(queries),
        "cpu_ms": float(np.median(least)) * 1000,
        "cpu_ms_p95": float(np.percentile(least, 95)) * 1000,
        "wall_ms": float(np.median(least_wall)) * 1000,
        "recall_10": float(np.mean([r[0] for r in recalls])),
        "recall_100": float(np.mean([r[1] for r in recalls])),
        "peak_mb": peak_mb(),
    }


def _recall(found: Sequence[int], truth: npt.NDArray[np.int64], depth: int) -> float:
    wanted = set(truth[:depth].tolist())
    return len(wanted & set(found[:depth])) / len(wanted)
