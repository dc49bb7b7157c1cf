"""What tracing costs: a step of an answer untraced, with OpenTelemetry's API alone, and with its SDK.

    python -m tests.benchmarks.telemetry

Each is timed in a process of its own; the steps of an answer are counted from one real answer.
"""

from __future__ import annotations

import subprocess
import sys
import time

NUM_STEPS = 100_000
SET_UP = {
    "API not loaded": "",
    "API loaded, nothing set up": "import opentelemetry.trace",
    "SDK, spans dropped after their end": (
        "from opentelemetry import metrics, trace; from opentelemetry.sdk.trace import TracerProvider;"
        "from opentelemetry.sdk.metrics import MeterProvider;"
        "trace.set_tracer_provider(TracerProvider()); metrics.set_meter_provider(MeterProvider())"
    ),
}


def seconds_of_steps() -> float:
    """Return the time of many steps in this process."""
    from propcite.retrieval.timing import Timer

    begun = time.perf_counter()
    for _ in range(NUM_STEPS):
        with Timer()("judge"):
            pass
    return time.perf_counter() - begun


def steps_of_an_answer() -> tuple[int, float]:
    """Return the traced steps of citing a text of five facts over ten passages, and its seconds."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from propcite import PropCite

    passages = [f"Gate {number} is {number + 3} metres high. It was built in {1990 + number}." for number in range(10)]
    text = " ".join(f"Gate {number} is {number + 3} metres high." for number in range(5))
    propcite = PropCite.default()
    propcite.cite(text, passages)
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    begun = time.perf_counter()
    propcite.cite(text, passages)
    return len(exporter.get_finished_spans()), time.perf_counter() - begun


def main() -> None:
    if sys.argv[1:] == ["steps"]:
        print(seconds_of_steps())
        return
    num_steps, seconds = steps_of_an_answer()
    print(f"an answer: {num_steps} steps in {1000 * seconds:.0f} ms")
    for name, code in SET_UP.items():
        run = f"{code}\nimport sys; sys.argv = ['', 'steps']; from tests.benchmarks.telemetry import main; main()"
        done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
        each = float(done.stdout) / NUM_STEPS
        print(f"{name:36} {1e6 * each:6.2f} µs a step, {100 * num_steps * each / seconds:.4f}% of the answer")


if __name__ == "__main__":
    main()
