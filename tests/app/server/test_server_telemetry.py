"""Seen from outside: traces and metrics by OpenTelemetry, in process and at a collector, and log lines as JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from scripted_llm import ScriptedLlm
from serving import PATIENCE_S, parts_with, running_server, wait_until

from propcite.app.parts import Parts
from propcite.retrieval.extras import install_command

pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry's SDK is not here: install the extra telemetry")

from opentelemetry import metrics, trace
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

HEIGHT = "The flood barrier is 6.4 metres high."
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
CITING = {"propcite.split", "propcite.judge"}
STEPS = {"propcite.retrieve", "propcite.write", "propcite.split", "propcite.judge"}


@pytest.fixture(scope="module")
def exported() -> tuple[InMemorySpanExporter, InMemoryMetricReader]:
    """Set the providers of this process, which may be set once."""
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([reader]))
    return spans, reader


@pytest.fixture(scope="module")
def llm() -> Iterator[ScriptedLlm]:
    with ScriptedLlm(HEIGHT) as llm:
        yield llm


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory, loaded: dict[str, object], llm: ScriptedLlm) -> Iterator[Parts]:
    texts = {"harbour": {"barrier.txt": HEIGHT}}
    folder = tmp_path_factory.mktemp("telemetry")
    given = {"public_address": "https://propcite.example", "llm_url": llm.base_url}
    parts = parts_with(loaded, texts, data_dir=folder, collection="harbour", **given)
    yield parts
    parts.library.close()


@pytest.fixture(scope="module")
def address(parts: Parts, exported: object) -> Iterator[str]:
    assert exported
    with running_server(parts) as address:
        yield address


def spans_of(spans: InMemorySpanExporter, trace_id: str, names: set[str]) -> dict[str, ReadableSpan]:
    """Wait for spans of these names in a trace, and return all of the trace by name."""

    def found() -> dict[str, ReadableSpan]:
        finished = spans.get_finished_spans()
        return {one.name: one for one in finished if trace.format_trace_id(one.context.trace_id) == trace_id}

    wait_until(lambda: names <= found().keys(), f"no spans {names} in {found().keys()}")
    return found()


@pytest.mark.parametrize("stream", [False, True])
def test_each_step_of_an_answer_is_a_span_in_the_callers_trace(
    address: str, exported: tuple[InMemorySpanExporter, InMemoryMetricReader], stream: bool
) -> None:
    exported[0].clear()
    body = {"question": "How high is the flood barrier?", "stream": stream}
    assert httpx.post(f"{address}/v1/ask", json=body, headers=PARENT, timeout=60).is_success
    spans = spans_of(exported[0], TRACE, {"POST /v1/ask", *STEPS})
    request = spans["POST /v1/ask"]
    assert request.parent
    assert trace.format_span_id(request.parent.span_id) == "b7ad6b7169203331"
    for name in STEPS:
        assert spans[name].parent, name
        assert spans[name].parent.span_id == request.context.span_id, name
        assert request.start_time <= spans[name].start_time <= spans[name].end_time


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/chat/completions", {"messages": [{"role": "user", "content": "How high?"}]}),
        ("/responses", {"input": "How high?"}),
        ("/messages", {"messages": [{"role": "user", "content": "How high?"}], "max_tokens": 9}),
    ],
)
def test_the_model_server_goes_on_with_the_trace_of_an_answer_that_it_writes(
    address: str,
    exported: tuple[InMemorySpanExporter, InMemoryMetricReader],
    llm: ScriptedLlm,
    path: str,
    asked: dict[str, Any],
    stream: bool,
) -> None:
    exported[0].clear()
    route = f"/v1/collections/harbour{path}"
    body = {**asked, "model": "m", "stream": stream}
    assert httpx.post(f"{address}{route}", json=body, headers=PARENT, timeout=60).is_success
    name_of_request = f"POST /v1/collections/{{collection}}{path}"
    spans = spans_of(exported[0], TRACE, {name_of_request, *STEPS})
    request = spans[name_of_request]
    for name in STEPS:
        assert spans[name].parent, name
        assert spans[name].parent.span_id == request.context.span_id, name
    writing = trace.format_span_id(spans["propcite.write"].context.span_id)
    assert llm.requests[-1].headers["traceparent"] == f"00-{TRACE}-{writing}-01"


@pytest.mark.parametrize(
    ("path", "body", "steps"),
    [
        ("/v1/cite", {"answer": HEIGHT, "collection": "harbour"}, {"propcite.cite", *CITING}),
        ("/v1/cite", {"answer": f"{HEIGHT} " * 300, "passages": [HEIGHT]}, CITING),
        ("/v1/search", {"query": "How high?"}, {"propcite.retrieve"}),
    ],
)
def test_citing_and_searching_have_spans(
    address: str,
    exported: tuple[InMemorySpanExporter, InMemoryMetricReader],
    path: str,
    body: dict[str, Any],
    steps: set[str],
) -> None:
    exported[0].clear()
    assert httpx.post(f"{address}{path}", json=body, headers=PARENT, timeout=60).is_success
    spans_of(exported[0], TRACE, {f"POST {path}", *steps})


def test_traces_hold_no_texts_and_no_links(
    address: str, exported: tuple[InMemorySpanExporter, InMemoryMetricReader]
) -> None:
    exported[0].clear()
    body = {"answer": HEIGHT, "collection": "harbour"}
    answer = httpx.post(f"{address}/v1/cite", json=body, headers=PARENT).json()
    link = answer["sentences"][0]["citations"][0]["link"].replace("https://propcite.example", address)
    assert httpx.get(link.partition("#")[0], headers=PARENT).is_success
    spans_of(exported[0], TRACE, {"POST /v1/cite"})
    whole = " ".join(span.to_json() for span in exported[0].get_finished_spans())
    assert "/reading" not in whole
    assert "barrier" not in whole


def test_metrics_count_facts_and_time_steps_and_requests(
    address: str, exported: tuple[InMemorySpanExporter, InMemoryMetricReader]
) -> None:
    httpx.post(f"{address}/v1/cite", json={"answer": HEIGHT, "collection": "harbour"})
    data = exported[1].get_metrics_data()
    assert data
    names = {metric.name for one in data.resource_metrics for scope in one.scope_metrics for metric in scope.metrics}
    assert {"propcite.facts", "propcite.step.duration", "http.server.request.duration"} <= names
    assert "propcite_facts_total" in httpx.get(f"{address}/metrics").text  # Prometheus as before


# At a collector


class Collector(ThreadingHTTPServer):
    """Stands in for a collector: it reads what it receives as OTLP."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Receiver)
        self.spans: list[Any] = []
        self.services: set[str] = set()
        self.metrics: set[str] = set()


class Receiver(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            import gzip

            body = gzip.decompress(body)
        if self.path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.server.services |= {
                    one.value.string_value for one in resource.resource.attributes if one.key == "service.name"
                }
                for scope in resource.scope_spans:
                    self.server.spans.extend(scope.spans)
        else:
            for one in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.server.metrics |= {metric.name for scope in one.scope_metrics for metric in scope.metrics}
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_a_collector_receives_traces_and_metrics_and_the_log_is_json(
    collector: Collector, open_parts: Callable[..., Parts], tmp_path: Path
) -> None:
    port = 8600 + os.getpid() % 1000
    environment = {
        **os.environ,
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_address[1]}",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        "PROPCITE_LOG_FORMAT": "json",
    }
    log = tmp_path / "log"
    open_parts().library.create_collection("default")
    with log.open("w") as errors:
        words = [sys.executable, "-m", "propcite", "serve", "--port", str(port)]
        process = subprocess.Popen(words, env=environment, stderr=errors)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: is_ready(address), "the server did not get ready")
        response = httpx.post(f"{address}/v1/cite", json={"answer": HEIGHT, "passages": [HEIGHT]}, headers=PARENT)
        refused = httpx.post(f"{address}/v1/cite", json={}, headers=PARENT)
        wait_until(lambda: {"POST /v1/cite", "propcite.judge"} <= {s.name for s in collector.spans}, "no spans came")
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
    assert {span.trace_id.hex() for span in collector.spans if span.name == "propcite.judge"} >= {TRACE}
    assert collector.services == {"propcite"}
    assert "propcite.facts" in collector.metrics  # sent when the server stops
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    by_id = {line["request_id"]: line for line in lines if line.get("path") == "/v1/cite"}
    first = by_id[response.headers["x-request-id"]]
    assert (first["status"], first["method"], first["level"], first["trace_id"]) == (200, "POST", "info", TRACE)
    assert by_id[refused.headers["x-request-id"]]["refusal"].startswith("answer: ")


def is_ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/readyz").is_success
    except httpx.TransportError:
        time.sleep(0.1)
        return False


def test_exporting_without_the_extra_names_it(tmp_path: Path) -> None:
    """In a process that finds no exporter."""
    hidden = tmp_path / "hidden"
    code = (
        "import importlib.util as u, sys; find = u.find_spec;"
        "u.find_spec = lambda name, *a: None if name == 'opentelemetry.exporter' else find(name, *a);"
        "sys.argv = ['propcite', 'serve', '--port', '8698']; from propcite.__main__ import main; main()"
    )
    environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "PROPCITE_DATA_DIR": str(hidden)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert install_command("telemetry") in done.stderr


def test_the_library_alone_loads_no_telemetry() -> None:
    code = (
        "import sys; from propcite import PropCite; PropCite.default().cite('It rained.', ['It rained.']);"
        "sys.exit('opentelemetry.trace' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
