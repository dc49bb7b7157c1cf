"""Servers of the benchmarks: PropCite over the demo collection, each in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@contextmanager
def served(url: str, *options: str) -> Iterator[tuple[str, int | None]]:
    """Give this address, or start a server with the demo collection.  -> address, process id"""
    if url:
        yield url, None
        return
    port = free_port()
    subprocess.run([sys.executable, "-m", "propcite", "demo"], check=True, stdout=subprocess.DEVNULL)
    command = [sys.executable, "-m", "propcite", "serve", "--port", str(port), *options]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ)
    try:
        wait_for(f"http://127.0.0.1:{port}/readyz")
        yield f"http://127.0.0.1:{port}", server.pid
    finally:
        server.terminate()
        server.wait()


@contextmanager
def started(app: str) -> Iterator[str]:
    """Start an ASGI application, as `module:name`, and yield its address."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", app, "--port", str(port), "--log-level", "warning", "--lifespan", "off"]
    server = subprocess.Popen(command)
    try:
        wait_for(f"http://127.0.0.1:{port}/")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def wait_for(url: str) -> None:
    for _ in range(240):
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.5)
    sys.exit(f"{url} did not start")
