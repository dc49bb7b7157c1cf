"""Run a server for tests: uvicorn on a free port of this machine, in its own thread."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import httpx
import uvicorn
from fastapi import FastAPI
from new_tables import put_tables

from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.server.application import create_app
from propcite.app.server.connections import server_config
from propcite.app.settings import Settings, load_settings
from propcite.attribution.propcite import PropCite

PATIENCE_S = 60.0  # for the models to load on a busy machine


def loaded_from(propcite: PropCite) -> dict[str, object]:
    """Return loaded models as `parts_with` takes them."""
    return {
        "propcite": propcite,
        **{name: getattr(propcite, name) for name in ("encoder", "splitter", "judge")},
    }


def parts_with(loaded: Mapping[str, object], documents: Mapping[str, Mapping[str, str]], **settings: object) -> Parts:
    """Build parts with loaded models, and collections with the texts by their file names."""
    parts = Parts(load_settings(**settings))
    put_tables(parts.settings)
    parts.__dict__.update(loaded)  # where the cached properties store them
    for name, texts in documents.items():
        ingester = parts.ingester(parts.library.create_collection(name))
        list(ingester.ingest([Upload(file, text.encode()) for file, text in texts.items()]))
    return parts


@contextmanager
def running_server(parts: Parts, *, requires_keys: bool = False, ready: bool = True, port: int = 0) -> Iterator[str]:
    """Start a server that ends with the block, and yield its base address, `http://127.0.0.1:PORT`."""
    with serving(create_app(parts, requires_keys=requires_keys), parts.settings, port) as address:
        if ready:
            ready_at = f"{address}/readyz"
            wait_until(lambda: httpx.get(ready_at, timeout=PATIENCE_S).is_success, "the models did not load")
        yield address


@contextmanager
def serving(app: FastAPI, settings: Settings, port: int = 0) -> Iterator[str]:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # as `propcite serve` does
    listening.bind(("127.0.0.1", port))
    config = server_config(app, settings)
    config.timeout_graceful_shutdown = 2
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive(), "the server did not start")
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        listening.close()


def wait_until(holds: Callable[[], bool], message: str) -> None:
    """Wait for a condition, such as metrics of a request, which are written after its response."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, message
        time.sleep(0.01)
