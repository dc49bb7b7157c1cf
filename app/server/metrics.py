"""Metrics of the server for Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from propcite.retrieval import telemetry

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class JobCounts(Protocol):
    """The numbers of jobs that run and wait."""

    @property
    def running(self) -> int: ...
    @property
    def waiting(self) -> int: ...


class Metrics:
    """The metrics of one server; several servers in one process do not share them."""

    media_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "propcite_requests", "Requests answered", ["method", "route", "status"], registry=self._registry
        )
        self.seconds = Histogram(
            "propcite_request_seconds",
            "From a request to the end of its answer",
            ["route"],
            buckets=BUCKETS_S,
            registry=self._registry,
        )
        self.batches = Histogram(
            "propcite_cited_together", "Answers cited in one batch", buckets=(1, 2, 4, 8, 16), registry=self._registry
        )
        self.facts = Counter("propcite_facts", "Facts of cited answers", ["cited"], registry=self._registry)
        self.proxied = Counter(
            "propcite_proxied", "Chat completions passed on", ["cited", "outcome"], registry=self._registry
        )
        self._running = Gauge("propcite_running", "Jobs being worked on", ["kind"], registry=self._registry)
        self._waiting = Gauge("propcite_waiting", "Jobs in line", ["kind"], registry=self._registry)

    def watch(self, kind: str, jobs: JobCounts) -> None:
        self._running.labels(kind).set_function(lambda: jobs.running)
        self.watch_waiting(kind, lambda: jobs.waiting)

    def watch_waiting(self, kind: str, num_waiting: Callable[[], float]) -> None:
        self._waiting.labels(kind).set_function(num_waiting)

    def count_facts(self, num_facts: int, num_cited: int) -> None:
        telemetry.count_facts(num_facts, num_cited)
        self.facts.labels("yes").inc(num_cited)
        self.facts.labels("no").inc(num_facts - num_cited)

    def text(self) -> bytes:
        return generate_latest(self._registry)
