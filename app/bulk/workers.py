"""Lines answered by several processes, of this machine or of a cluster, in the order of the lines."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import cycle
from multiprocessing import get_context
from typing import Any, Protocol

from propcite.app.bulk.tasks import LineWork, Task
from propcite.app.errors import AppError

AHEAD = 2  # chunks that wait or are in work, per process


class Pending(Protocol):
    """Lines that are being answered."""

    def result(self) -> list[str]: ...


def answered_chunks(
    task: Task, chunks: Iterable[Sequence[str]], workers: int, cluster: str = ""
) -> Iterator[list[str]]:
    """Yield the answers to each chunk of lines, in order; closing the iterator ends the processes.

    One worker is this process.  With a cluster the workers are processes there, spread over its machines.
    """
    if cluster:
        return _over_cluster(task, chunks, workers, cluster)
    return _over_processes(task, chunks, workers) if workers > 1 else map(task.open(), chunks)


def _in_order(
    begin: Callable[[Sequence[str]], Pending], chunks: Iterable[Sequence[str]], workers: int
) -> Iterator[list[str]]:
    pending: deque[Pending] = deque()
    for chunk in chunks:
        pending.append(begin(chunk))
        if len(pending) >= AHEAD * workers:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


# Processes of this machine

_work: LineWork | None = None  # of a worker process


def _open(task: Task, threads: int) -> None:
    """Prepare a worker process; an interrupt is its parent's to handle."""
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = str(threads)
    import torch

    torch.set_num_threads(threads)
    _work = task.open()


def _answer(lines: Sequence[str]) -> list[str]:
    assert _work
    return _work(lines)


def _over_processes(task: Task, chunks: Iterable[Sequence[str]], workers: int) -> Iterator[list[str]]:
    threads = max(1, (os.cpu_count() or 1) // workers)
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _open, (task, threads))
    try:
        yield from _in_order(lambda chunk: pool.submit(_answer, chunk), chunks, workers)
    except BrokenProcessPool as error:
        raise AppError(
            "a worker process ended, perhaps for want of memory: run the same command again, it goes on; with fewer "
            "--workers if it ends again"
        ) from error
    finally:
        for process in list(pool._processes.values()) if pool._processes else []:
            process.terminate()  # what is in work is not waited for
        pool.shutdown(wait=True, cancel_futures=True)


# Processes of a cluster


class LineWorker:
    """Answers lines in a process of a cluster."""

    def __init__(self, task: Task) -> None:
        self._work = task.open()

    def answer(self, lines: Sequence[str]) -> list[str]:
        return self._work(lines)


class _Remote:
    def __init__(self, reference: Any) -> None:
        self._reference = reference

    def result(self) -> list[str]:
        import ray
        from ray.exceptions import RayActorError, RayTaskError

        try:
            answers: list[str] = ray.get(self._reference)
        except RayTaskError as error:
            raise error.cause from None
        except RayActorError as error:
            raise AppError("a worker of the cluster ended: run the same command again, it goes on") from error
        return answers


def _over_cluster(task: Task, chunks: Iterable[Sequence[str]], workers: int, cluster: str) -> Iterator[list[str]]:
    import ray

    from propcite.retrieval.sharding.hosts import connect

    connect(cluster)
    processors = ray.cluster_resources().get("CPU", 1)  # type: ignore[no-untyped-call]
    number = max(1, min(workers, int(processors)))
    # A worker that dies is started again, and what it had in work is done again: an answer depends on its lines alone.
    options: dict[str, Any] = {
        "num_cpus": 1,
        "max_restarts": -1,
        "max_task_retries": -1,
        "scheduling_strategy": "SPREAD",
    }
    actors: list[Any] = [ray.remote(LineWorker).options(**options).remote(task) for _ in range(number)]
    next_actor = cycle(actors)
    try:
        yield from _in_order(lambda chunk: _Remote(next(next_actor).answer.remote(chunk)), chunks, number)
    finally:
        for actor in actors:
            ray.kill(actor)
