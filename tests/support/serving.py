"""A running server for tests: uvicorn on a free port of this machine, in a thread of its own."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import httpx
import uvicorn
from fastapi import FastAPI

from propcite.app.ingest.sources import Upload
from propcite.app.parts import Parts
from propcite.app.server.application import create_app
from propcite.app.settings import load_settings
from propcite.attribution.propcite import PropCite

PATIENCE_S = 60.0  # for the models to load, beside whatever else runs


def loaded_from(propcite: PropCite) -> dict[str, object]:
    """Models that are loaded already, as `parts_with` takes them."""
    return {
        "propcite": propcite,
        **{name: getattr(propcite, name) for name in ("encoder", "splitter", "judge")},
    }


def parts_with(loaded: Mapping[str, object], documents: Mapping[str, Mapping[str, str]], **settings: object) -> Parts:
    """Parts whose models are loaded already, with these collections of texts by their file names."""
    parts = Parts(load_settings(**settings))
    parts.__dict__.update(loaded)  # in the place where the cached properties keep them
    for name, texts in documents.items():
        ingester = parts.ingester(parts.library.create_collection(name))
        list(ingester.ingest([Upload(file, text.encode()) for file, text in texts.items()]))
    return parts


@contextmanager
def running_server(parts: Parts, *, requires_keys: bool = False, ready: bool = True) -> Iterator[str]:
    """The base address, `http://127.0.0.1:PORT`, of a server over these parts; it ends with the block."""
    with serving(create_app(parts, requires_keys=requires_keys)) as address:
        if ready:
            wait_until(lambda: httpx.get(f"{address}/readyz").status_code == 200, "the models did not load")
        yield address


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # as `propcite serve` does
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive(), "the server did not start")
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        listening.close()


def wait_until(holds: Callable[[], bool], trouble: str) -> None:
    """What a server notes of a request comes after its answer."""
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until, trouble
        time.sleep(0.01)
