"""Metrics of the server for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from propcite.app.turns.turns import Turns
from propcite.app.turns.workers import Asking
from propcite.attribution.judges.remembering import VerdictMemory
from propcite.retrieval import telemetry

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


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
            "propcite_proxied", "Requests passed on to the model server", ["cited", "outcome"], registry=self._registry
        )
        self._running = self._gauge("running", "Requests being worked on")
        self._waiting = self._gauge("waiting", "Requests in line")
        self._clients = self._gauge("waiting_clients", "Keys, people or addresses in line")
        self._seconds = self._gauge("waiting_seconds", "Estimated seconds until all that is in line has been worked on")
        self.admitted = self._counter("admitted", "Requests that were let in", "queue", "route")
        self.refused = self._counter("refused", "Requests refused because they would wait too long", "queue", "route")
        self.waits = Histogram(
            "propcite_wait_seconds",
            "Spent in line, until work began or the client left",
            ["queue", "route", "outcome"],
            buckets=BUCKETS_S,
            registry=self._registry,
        )
        self.estimated = self._counter("estimated_seconds", "That work was estimated to take", "kind")
        self.worked = self._counter("worked_seconds", "That this work took", "kind")

    def watch_verdicts(self, memory: VerdictMemory) -> None:
        """Report how many verdicts came from memory, and how large it is."""
        self._registry.register(MemoryCollector(memory))

    def observer(self, queue: str, turns: Turns) -> QueueObserver:
        """Watch a queue, and return what counts its requests."""
        self._running.labels(queue).set_function(lambda: turns.running)
        self._waiting.labels(queue).set_function(lambda: turns.waiting)
        self._clients.labels(queue).set_function(lambda: turns.clients_waiting)
        self._seconds.labels(queue).set_function(lambda: turns.seconds_waiting)
        return QueueObserver(self, queue)

    def _gauge(self, name: str, about: str) -> Gauge:
        return Gauge(f"propcite_{name}", about, ["queue"], registry=self._registry)

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"propcite_{name}", about, labels, registry=self._registry)

    def count_facts(self, num_facts: int, num_cited: int) -> None:
        telemetry.count_facts(num_facts, num_cited)
        self.facts.labels("yes").inc(num_cited)
        self.facts.labels("no").inc(num_facts - num_cited)

    def text(self) -> bytes:
        return generate_latest(self._registry)


class QueueObserver:
    """Counts what happens to the requests of one queue."""

    def __init__(self, metrics: Metrics, queue: str) -> None:
        self._metrics, self._queue = metrics, queue

    def begun(self, asking: Asking, waited: float) -> None:
        self._metrics.admitted.labels(self._queue, asking.route).inc()
        self._metrics.waits.labels(self._queue, asking.route, "begun").observe(waited)

    def left(self, asking: Asking, waited: float) -> None:
        self._metrics.admitted.labels(self._queue, asking.route).inc()
        self._metrics.waits.labels(self._queue, asking.route, "left").observe(waited)

    def refused(self, asking: Asking) -> None:
        self._metrics.refused.labels(self._queue, asking.route).inc()

    def worked(self, kind: str, estimated: float, took: float) -> None:
        self._metrics.estimated.labels(kind).inc(estimated)
        self._metrics.worked.labels(kind).inc(took)


class MemoryCollector(Collector):
    """Reads the counts of a memory of verdicts when metrics are asked for."""

    def __init__(self, memory: VerdictMemory) -> None:
        self._memory = memory

    def collect(self) -> Iterator[Metric]:
        verdicts = CounterMetricFamily("propcite_verdicts", "Verdicts, by where they come from", labels=["from"])
        verdicts.add_metric(["memory"], self._memory.num_recalled)
        verdicts.add_metric(["judge"], self._memory.num_computed)
        yield verdicts
        yield GaugeMetricFamily("propcite_verdict_memory_bytes", "Size of the verdicts in memory", self._memory.total)
        yield GaugeMetricFamily("propcite_verdict_memory_entries", "Verdicts in memory", len(self._memory))
