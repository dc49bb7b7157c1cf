"""One engine in a process of its own: builds its index, or answers the queries and writes each point as it is measured.

Started by `running`, under the engine's own python where it has one; the job comes as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.index.engines import ENGINES, Engine
from tests.benchmarks.index.measuring import Record, append, cpu_seconds, evaluate, peak_mb
from tests.benchmarks.index.store import Queries, Store
from tests.benchmarks.index.truth import DEPTH, Truth

MISSING, BROKEN = 3, 1  # exit codes; the last line on stdout says more


@dataclass(frozen=True, slots=True)
class Job:
    """What the worker needs to know; paths as texts, since it travels as JSON."""

    engine: str
    build: bool
    store: str
    dimension: int
    tokens: int
    texts: str
    queries: str
    count: int
    truth: str
    index: str
    results: str
    repeats: int
    limit_s: float
    points: list[tuple[str, bool]]


def main() -> None:
    job = Job(**json.loads(sys.argv[1]))
    corpus = Store(Path(job.store), job.dimension).corpus(Path(job.texts)).first(job.tokens)
    try:
        engine = ENGINES[job.engine].make(corpus, Path(job.index))
        version = engine.version()
        _limit_threads()
        if job.build:
            append(Path(job.results), {"kind": "build", "version": version, **_build(engine)})
        else:
            _search(engine, job)
    except ImportError as error:
        print(f"not installed ({error}): {ENGINES[job.engine].install}".rstrip(": "))
        sys.exit(MISSING)
    except Exception as error:  # whatever a peer raises is a line of the table
        print(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
        sys.exit(BROKEN)


def _limit_threads() -> None:
    """One thread; the environment says so too, for libraries that ask only there."""
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)


def _build(engine: Engine) -> Record:
    cpu, wall = cpu_seconds(), time.perf_counter()
    engine.build()
    spent = {"cpu_s": cpu_seconds() - cpu, "wall_s": time.perf_counter() - wall}
    return {**spent, "peak_mb": peak_mb(), "bytes": engine.bytes()}


def _search(engine: Engine, job: Job) -> None:
    queries = Queries.load(Path(job.queries)).first(job.count).each()
    truth = Truth.load(Path(job.truth))
    missing = {(label, sentences) for label, sentences in job.points}
    engine.open()
    for point in engine.points:
        if (point.label, point.sentences) not in missing:
            continue
        wanted = truth.sentences if point.sentences else truth.passages
        measured = evaluate(
            lambda query, point=point: engine.search(query, DEPTH, point),
            queries,
            wanted,
            repeats=job.repeats,
            limit_s=job.limit_s,
        )
        append(Path(job.results), {"kind": "point", "point": point.label, "sentences": point.sentences, **measured})


if __name__ == "__main__":
    main()
