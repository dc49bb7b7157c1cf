"""Two servers and workers, each a process of its own, over one PostgreSQL: any of them may be asked, or killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from postgres_servers import PostgresServer
from serving import wait_until

from propcite.app.library.doctor import Doctor
from propcite.app.library.store.jobs import CANCELLED
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

pytestmark = pytest.mark.postgres
WORDS = "The crane of quay {0} lifts {1} tonnes. Harbour {2} built it in 19{0:02}. "
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def settings(tmp_path: Path, postgres_server: PostgresServer) -> dict[str, object]:
    """What all processes share."""
    return {
        "database": postgres_server.new_database(),
        "data_dir": tmp_path / "shared",
        "judge": "none",
        "splitter": "rules",
        "collection": "harbour",
        "serve_reads": False,
    }


@pytest.fixture
def start(settings: dict[str, object]) -> Iterator[Start]:
    env = {**os.environ, **{f"PROPCITE_{name.upper()}": str(value) for name, value in settings.items()}}
    with ExitStack() as running:

        def propcite(*words: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", "propcite", *words]
            process = running.enter_context(subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL))
            running.callback(process.kill)
            return process

        yield propcite


def server(start: Start) -> httpx.Client:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start("serve", "--port", str(port))
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)


def is_ready(http: httpx.Client) -> bool:
    with suppress(httpx.HTTPError):
        return http.get("/readyz").is_success
    return False


def send(http: httpx.Client, number: int, sentences: int) -> str:
    """Upload 60 documents and return where their job is."""
    texts = ["".join(WORDS.format(i, one, number) for one in range(sentences)) for i in range(60)]
    files = [("files", (f"{number}-{i}.txt", words.encode())) for i, words in enumerate(texts)]
    sent = http.post("/v1/documents", files=files)
    assert sent.status_code == 202, sent.text
    return sent.headers["location"]


def ended(http: httpx.Client, place: str) -> dict[str, Any]:
    deadline = time.monotonic() + 120
    while (job := http.get(place).json())["state"] not in ("done", "failed"):
        assert time.monotonic() < deadline, job
        time.sleep(0.1)
    return dict(job)


def test_a_job_is_sent_followed_and_cancelled_at_any_server_and_outlives_its_worker(
    start: Start, settings: dict[str, object]
) -> None:
    one, other = server(start), server(start)
    wait_until(lambda: is_ready(one) and is_ready(other), "the servers do not start")
    place = send(one, 1, sentences=30)
    waiting = send(other, 2, sentences=1)
    cancelled = send(one, 3, sentences=1)
    assert other.get(place).json()["state"] == "waiting"
    assert other.post(f"{cancelled}/cancel").json()["reason"] == CANCELLED
    assert one.get(cancelled).json()["state"] == "failed"

    killed = start("worker")
    wait_until(lambda: other.get(place).json()["done"] > 0, "nothing is read")
    killed.send_signal(signal.SIGKILL)
    before = other.get(place).json()
    assert (before["state"], before["done"] < 60) == ("reading", True)
    following = start("worker")
    job = ended(other, place)
    assert (job["state"], job["done"], job["total"], job["reason"]) == ("done", 60, 60, "")
    assert job["outcomes"][: before["done"]] == before["outcomes"]
    assert sorted(outcome["source"] for outcome in job["outcomes"]) == sorted(f"1-{i}.txt" for i in range(60))
    assert {outcome["state"] for outcome in job["outcomes"]} <= {"added", "unchanged"}
    assert [outcome["state"] for outcome in ended(one, waiting)["outcomes"]] == ["added"] * 60

    last = send(other, 4, sentences=30)
    wait_until(lambda: one.get(last).json()["done"] > 0, "nothing is read")
    assert one.post(f"{last}/cancel").json()["state"] in ("reading", "failed")
    job = ended(other, last)
    assert (job["state"], job["reason"], job["done"] < 60) == ("failed", CANCELLED, True)
    following.send_signal(signal.SIGTERM)
    assert following.wait(60) == 0

    parts = Parts(load_settings(**settings))
    assert parts.library.collection("harbour").num_documents == 120 + job["done"]
    assert parts.jobs.unfinished() == []
    assert not list((parts.settings.data_dir / "uploads").glob("*"))
    assert list(Doctor(parts, parts.library.collections()).findings()) == []
    parts.library.close()
