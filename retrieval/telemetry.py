"""Traces and metrics of steps through OpenTelemetry's API, for a process that has loaded it; others pay nothing."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter, Histogram
    from opentelemetry.trace import Span, Tracer

API = "opentelemetry.trace"
NAME = "propcite"
# The steps of an answer and of a search; what is timed inside them gets no span of its own.
STEPS = frozenset(
    ("understand", "retrieve", "write", "cite", "split", "score", "judge", "encode passages", "search the collection")
)


@dataclass(frozen=True, slots=True)
class _Instruments:
    tracer: Tracer
    seconds: Histogram
    facts: Counter


def begin_span(step: str) -> Span | None:
    """Begin the span of a step in the current trace; None where nothing traces it."""
    if API not in sys.modules or step not in STEPS:
        return None
    return _instruments().tracer.start_span(f"{NAME}.{step.replace(' ', '_')}")


def end_span(span: Span | None, step: str, ms: float) -> None:
    """End a span, and record how long its step took."""
    if span is not None:
        span.end()
        _instruments().seconds.record(ms / 1000, {"step": step})


def trace_headers(span: Span | None) -> dict[str, str]:
    """Return the headers by which another server goes on with the trace; empty where nothing traces it."""
    headers: dict[str, str] = {}
    if span is not None:
        from opentelemetry import propagate, trace

        propagate.inject(headers, trace.set_span_in_context(span))
    return headers


def count_facts(num_facts: int, num_cited: int) -> None:
    """Count the facts of an answer, with and without citations."""
    if API in sys.modules:
        counter = _instruments().facts
        counter.add(num_cited, {"cited": "yes"})
        counter.add(num_facts - num_cited, {"cited": "no"})


@cache
def _instruments() -> _Instruments:
    """Return instruments that follow the providers of the process, also those that are set later."""
    from opentelemetry import metrics, trace

    meter = metrics.get_meter(NAME)
    return _Instruments(
        trace.get_tracer(NAME),
        meter.create_histogram("propcite.step.duration", "s", "Time of a step of an answer"),
        meter.create_counter("propcite.facts", "{fact}", "Facts of cited answers"),
    )
