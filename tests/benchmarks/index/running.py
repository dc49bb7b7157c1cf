"""Starts an engine's processes, kills what takes too long, and keeps what was measured so that a run goes on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rich.console import Console
from tests.benchmarks.index.engines import ENGINES, Entry
from tests.benchmarks.index.measuring import Record, append, read_records
from tests.benchmarks.index.store import Corpus
from tests.benchmarks.index.worker import Job

ROOT = Path(__file__).resolve().parents[3]
THREADS = ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "RAYON", "NUMBA")
ENVIRONMENT = {
    **{f"{library}_NUM_THREADS": "1" for library in THREADS},
    "LANCE_CPU_THREADS": "1",  # its threads that only wait stay as they are: with one of them it waits for ever
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONPATH": str(ROOT),
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a corpus, its queries and truth lie, and where indexes and results go."""

    store: Path
    queries: Path
    truth: Path
    indexes: Path
    results: Path


@dataclass(frozen=True, slots=True)
class Settings:
    """How long things may take, how often they are repeated, and what is measured or kept although it need not be."""

    queries: int
    repeats: int
    build_s: float
    point_s: float
    plaid_python: Path
    again: frozenset[str]
    keep: bool


def measure(name: str, corpus: Corpus, place: Place, settings: Settings, console: Console) -> list[Record]:
    """All records of one engine over one corpus: those kept from before, and those measured now."""
    entry, index, results = ENGINES[name], place.indexes / name, place.results / f"{name}.jsonl"
    built = place.indexes / f"{name}.built"
    if name in settings.again:
        _forget(index, built, results)
    records = read_records(results)
    done = {(r["point"], r["sentences"]) for r in records if r["kind"] == "point"}
    points = [(point.label, point.sentences) for point in entry.make(corpus, index).points]
    missing = [point for point in points if point not in done]
    known_slow = any(r["kind"] == "failed" and r["limit_s"] >= settings.build_s for r in records)
    if not missing or known_slow:
        return records
    python = settings.plaid_python if entry.own_python else Path(sys.executable)
    refused = _refused(entry, corpus, python)
    if refused:
        return [_failure(refused)]
    place.results.mkdir(parents=True, exist_ok=True)
    job = _job(name, corpus, place, settings, missing)
    if not built.exists():
        _forget(index, results)
        index.mkdir(parents=True)
        console.print(f"  {name}: building")
        why = _run(python, job, settings.build_s)
        if why:
            console.print(f"  {name}: {why}; what it printed is in {results.with_suffix('.log')}", soft_wrap=True)
            _forget(index)
            if why == _late(settings.build_s):  # another run would wait as long in vain
                append(results, _failure(why, settings.build_s))
            return [_failure(why)]
        built.touch()
    console.print(f"  {name}: {len(missing)} points")
    why = _run(python, replace(job, build=False), None)
    if why:
        return [*read_records(results), _failure(why)]
    if not settings.keep:
        _forget(index, built)
    return read_records(results)


def _refused(entry: Entry, corpus: Corpus, python: Path) -> str:
    """Why the engine is not even started, or nothing."""
    if corpus.tokens > entry.most_tokens:
        return f"left out beyond {entry.most_tokens / 1e6:g} million tokens"
    return "" if python.exists() else f"not installed: {entry.install}"


def _job(name: str, corpus: Corpus, place: Place, settings: Settings, points: list[tuple[str, bool]]) -> Job:
    return Job(
        engine=name,
        build=True,
        store=str(place.store),
        dimension=corpus.dimension,
        tokens=corpus.tokens,
        texts=str(corpus.texts),
        queries=str(place.queries),
        count=settings.queries,
        truth=str(place.truth),
        index=str(place.indexes / name),
        results=str(place.results / f"{name}.jsonl"),
        repeats=settings.repeats,
        limit_s=settings.point_s,
        points=points,
    )


def _run(python: Path, job: Job, limit_s: float | None) -> str:
    """Wait for the worker.  -> why it failed, or nothing"""
    command = [str(python), "-m", "tests.benchmarks.index.worker", json.dumps(asdict(job))]
    log = Path(job.results).with_suffix(".log")
    with log.open("a", encoding="utf-8") as errors:
        worker = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **ENVIRONMENT},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,  # so that what it started ends with it
        )
        try:
            said, _ = worker.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return _late(limit_s or 0)
        finally:
            if worker.poll() is None:
                os.killpg(worker.pid, signal.SIGKILL)
                worker.wait()
    if worker.returncode == 0:
        return ""
    if worker.returncode < 0:
        return f"ended by {signal.Signals(-worker.returncode).name}"
    return next(iter(said.strip().splitlines()[::-1]), f"ended with exit code {worker.returncode}")


def _late(limit_s: float) -> str:
    return f"did not finish in {limit_s:g} s"


def _failure(reason: str, limit_s: float = 0.0) -> Record:
    return {"kind": "failed", "reason": reason, "limit_s": limit_s}


def _forget(*paths: Path) -> None:
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
