"""Log lines of the server: as text, or as JSON with the id of the request that each belongs to."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any, Literal

from propcite.app.errors import AppError
from propcite.retrieval.extras import install_command

LOG_FORMAT = "%(asctime)s %(levelname)s %(message)s"
EXPORTING = [f"OTEL_EXPORTER_OTLP_{name}ENDPOINT" for name in ("", "TRACES_", "METRICS_")]
request_id: ContextVar[str] = ContextVar("request_id", default="")


def set_up_logs(form: Literal["text", "json"], level: int = logging.INFO) -> None:
    """Write this package's lines from `level` on to standard error, and the warnings of others."""
    logging.basicConfig(level=logging.WARNING, format=LOG_FORMAT)
    logging.getLogger("propcite").setLevel(level)
    if form == "json":
        for handler in logging.getLogger().handlers:
            handler.setFormatter(JsonLines())


def prepare_telemetry() -> None:
    """Name this program in what is exported; AppError where the environment asks for that without the extra."""
    if not any(os.environ.get(name) for name in EXPORTING):
        return
    if find_spec("opentelemetry.exporter") is None:
        raise AppError(
            f"OTEL_EXPORTER_OTLP_ENDPOINT needs the extra telemetry: {install_command('telemetry')}, or unset it"
        )
    os.environ.setdefault("OTEL_SERVICE_NAME", "propcite")


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, logger, message, the request's id and trace, and what it was logged with.

    >>> record = logging.LogRecord("propcite", logging.INFO, "", 0, "GET %s", ("/v1",), None)
    >>> json.loads(JsonLines().format(record))["message"]
    'GET /v1'
    """

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if id_ := request_id.get():
            fields["request_id"] = id_
        fields |= _trace()
        more = getattr(record, "fields", None)
        fields |= more if isinstance(more, Mapping) else {}
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False, default=str)


def _trace() -> dict[str, str]:
    """Return the ids of the current trace and span; empty where nothing is traced."""
    if "opentelemetry.trace" not in sys.modules:
        return {}
    from opentelemetry import trace

    span = trace.get_current_span().get_span_context()
    if not span.is_valid:
        return {}
    return {"trace_id": trace.format_trace_id(span.trace_id), "span_id": trace.format_span_id(span.span_id)}
