"""Many concurrent clients of `POST /v1/cite` on the demo collection: errors, throughput, latency, memory.

python -m tests.benchmarks.load [--clients 50] [--seconds 60] [--url http://127.0.0.1:8600]

Without --url a server is started.  Each client sends its next request after the reply to the last one.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

PASSAGES = [
    {"id": "a", "text": "The tidal barrier protects the old town. It has fourteen steel gates, each of 300 tonnes."},
    {"id": "b", "text": "The barrier cost 410 million euros. The state paid two thirds of it."},
    {"id": "c", "text": "The maritime museum opened in 1987. It stands in an old rope factory."},
    {"id": "d", "text": "Herring spawn in the bay in April. Fishing with trawls is forbidden there until June."},
]
ANSWERS = (
    "The barrier has fourteen steel gates. It cost 410 million euros, and the state paid two thirds.",
    "The museum opened in 1987 in an old rope factory. Trawls are forbidden in the bay until June.",
    "The Lantern Point flood barrier is 6.4 metres high. It was finished on 18 October 2024.",
)


def bodies(collection: str) -> list[dict[str, object]]:
    """Return requests over passages, over the collection, and over both."""
    sources = ({"passages": PASSAGES}, {"collection": collection}, {"passages": PASSAGES, "collection": collection})
    return [{"answer": answer, **source} for source in sources for answer in ANSWERS]


async def client(
    http: httpx.AsyncClient, number: int, until: float, waits: list[float], statuses: Counter[int]
) -> None:
    for body in itertools.islice(itertools.cycle(bodies("demo")), number, None):
        if time.monotonic() > until:
            return
        start = time.perf_counter()
        response = await http.post("/v1/cite", json=body)
        waits.append(time.perf_counter() - start)
        statuses[response.status_code] += 1
        if response.status_code == 503:
            await asyncio.sleep(float(response.headers["retry-after"]))


async def load(url: str, clients: int, seconds: float, pid: int | None) -> None:
    waits: list[float] = []
    statuses: Counter[int] = Counter()
    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits) as http:
        start, before = time.monotonic(), megabytes(pid)
        tasks = [client(http, number, start + seconds, waits, statuses) for number in range(clients)]
        middle = asyncio.create_task(megabytes_later(seconds / 2, pid))
        await asyncio.gather(*tasks)
        spent, half, after = time.monotonic() - start, await middle, megabytes(pid)
        metrics = (await http.get("/metrics")).text
    waits.sort()
    batches = dict(re.findall(r"propcite_cited_together_(sum|count) ([\d.]+)", metrics))
    print(f"{clients} clients, {spent:.0f} s: {dict(statuses)}")
    print(
        f"{len(waits) / spent:.1f} answers per second, {float(batches['sum']) / float(batches['count']):.1f} per batch"
    )
    print(
        f"median {1000 * statistics.median(waits):.0f} ms, p95 {1000 * waits[int(0.95 * len(waits))]:.0f} ms, "
        f"max {1000 * waits[-1]:.0f} ms"
    )
    if pid:
        print(f"memory {before:.0f} MB before, {half:.0f} MB at half time, {after:.0f} MB at the end")


async def megabytes_later(seconds: float, pid: int | None) -> float:
    await asyncio.sleep(seconds)
    return megabytes(pid)


def megabytes(pid: int | None) -> float:
    """Return a process's resident memory; 0 if it cannot be read."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@contextmanager
def served(url: str) -> Iterator[tuple[str, int | None]]:
    """Give this address, or start a server with the demo collection.  -> address, process id"""
    if url:
        yield url, None
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    subprocess.run([sys.executable, "-m", "propcite", "demo"], check=True, stdout=subprocess.DEVNULL)
    command = [sys.executable, "-m", "propcite", "serve", "--port", str(port)]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ)
    try:
        wait_for(f"http://127.0.0.1:{port}/readyz")
        yield f"http://127.0.0.1:{port}", server.pid
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--url", default="")
    options = parser.parse_args()
    with served(options.url) as (url, pid):
        asyncio.run(load(url, options.clients, options.seconds, pid))


if __name__ == "__main__":
    main()
