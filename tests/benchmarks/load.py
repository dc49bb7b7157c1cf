"""Many clients of all routes at once, one key of which floods: latency by route and by key, refusals, errors, memory.

    python -m tests.benchmarks.load [--seconds 60] [--flood 30] [--others 4] [--alone 1] [--fresh 0.5]

A server with the demo collection and a model's server with a fixed answer are started in processes of their own.  Each
client sends its next request after the reply to the last one, or when a refusal says so.  `--flood` clients share one
key; four other keys have `--others` clients each, and one key has `--alone`.  A share of the cited answers, `--fresh`,
was never cited before; the others repeat.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from tests.benchmarks.servers import served, started

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
QUESTION = "How high is the flood barrier, and what did it cost?"
COLLECTION = "demo"
ROUTES = ("cite", "search", "chat", "cite", "judge", "cite long", "cite", "ask", "search", "chat streamed")
KEYS = 4  # with `--others` clients each
LONGEST_S = 300.0  # for one response
MAX_BACK_S = 30.0  # that a refused client waits at most
SAMPLES = 12  # of memory
WORK = ("worked", "estimated")


@dataclass
class Figures:
    """What clients saw: seconds by (route, kind of key), and statuses."""

    fresh: float
    answer_id: str = ""
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    statuses: Counter[tuple[str, str]] = field(default_factory=Counter)
    memory: list[tuple[float, float]] = field(default_factory=list)
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1000))

    def answer(self, number: int, times: int = 1) -> str:
        text = " ".join(itertools.islice(itertools.cycle(ANSWERS[number % 3 :] + ANSWERS[: number % 3]), times))
        if random.random() >= self.fresh:
            return text
        own = next(self.numbers)
        return text.replace("gates", f"gates of type {own}").replace("1987", str(own)).replace("6.4", f"6.{own}")

    def request(self, route: str, number: int) -> tuple[str, str, dict[str, Any]]:
        """Return the method, the path and the body of a request."""
        sources: list[dict[str, Any]] = [{"passages": PASSAGES}, {"collection": COLLECTION}]
        source = [*sources, sources[0] | sources[1]][number % 3]
        if route.startswith("cite"):
            return "POST", "/v1/cite", {"answer": self.answer(number, 1 if route == "cite" else 20), **source}
        if route == "search":
            level = ("passage", "sentence", "proposition")[number % 3]
            return "POST", "/v1/search", {"query": QUESTION, "collection": COLLECTION, "granularity": level}
        if route == "ask":
            return "POST", "/v1/ask", {"question": QUESTION, "collection": COLLECTION, "stream": number % 2 == 0}
        if route == "judge":
            return "GET", f"/v1/answers/{self.answer_id}/evidence", {"k": 8}
        extension = {"collection": COLLECTION}
        body = {"model": "m", "messages": [{"role": "user", "content": QUESTION}], "propcite": extension}
        return "POST", "/v1/chat/completions", {**body, "stream": route == "chat streamed", "pace": 0.02}


async def client(http: httpx.AsyncClient, secret: str, kind: str, number: int, until: float, figures: Figures) -> None:
    headers = {"Authorization": f"Bearer {secret}"}
    for turn in itertools.count(number):
        if time.monotonic() > until:
            return
        route = ROUTES[turn % len(ROUTES)]
        method, path, body = figures.request(route, turn // len(ROUTES) + number)
        start, wait = time.perf_counter(), 0.0
        try:
            options = {"json": body} if method == "POST" else {"params": body}
            response = await http.request(method, path, headers=headers, **options)
            status = str(response.status_code)
            if response.status_code == 503:
                wait = float(response.headers["retry-after"])
            elif "event: error" in response.text or '"error":' in response.text:
                status = "error in a stream"
        except httpx.HTTPError as error:
            status = type(error).__name__
        if status == "200":
            figures.seconds[route, kind].append(time.perf_counter() - start)
        figures.statuses[route, status] += 1
        figures.statuses[f"key {kind}", status] += 1
        await asyncio.sleep(min(wait, MAX_BACK_S))


async def watch(figures: Figures, pid: int | None, seconds: float) -> None:
    start = time.monotonic()
    while True:
        figures.memory.append(((time.monotonic() - start) / 60, megabytes(pid)))
        await asyncio.sleep(max(5.0, seconds / SAMPLES))


def megabytes(pid: int | None) -> float:
    """Return a process's resident memory; 0 if it cannot be read."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def make_key(name: str, scope: str) -> str:
    command = [sys.executable, "-m", "propcite", "keys", "create", name, "--scope", scope, "--json"]
    return str(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["key"])


async def load(url: str, pid: int | None, options: argparse.Namespace, admin: str, keys: dict[str, list[str]]) -> None:
    figures = Figures(options.fresh)
    clients = {"flood": options.flood, "others": options.others, "alone": options.alone}
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=LONGEST_S, limits=limits) as http:
        own = {"Authorization": f"Bearer {admin}"}
        kept = await http.post(
            "/v1/cite", headers=own, json={"answer": ANSWERS[2], "collection": COLLECTION, "keep": True}
        )
        figures.answer_id = kept.json()["id"]
        until = time.monotonic() + options.seconds
        watching = asyncio.create_task(watch(figures, pid, options.seconds))
        tasks = [
            client(http, secret, kind, number, until, figures)
            for kind, secrets in keys.items()
            for secret in secrets
            for number in range(clients[kind])
        ]
        await asyncio.gather(*tasks)
        watching.cancel()
        metrics = (await http.get("/metrics", headers=own)).text
    report(figures, len(tasks), metrics)


def report(figures: Figures, num_clients: int, metrics: str) -> None:
    print(f"{num_clients} clients\n\n| route | answered | refused | errors | p50 | p95 | longest |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for route in dict.fromkeys(ROUTES):
        row(route, figures, [s for (r, _), times in figures.seconds.items() if r == route for s in times])
    for kind in ("flood", "others", "alone"):
        row(f"key {kind}", figures, [s for (_, k), times in figures.seconds.items() if k == kind for s in times])
        row(f"key {kind}: cite", figures, figures.seconds["cite", kind], counts=False)
    print("\nmemory, MB after minutes: " + ", ".join(f"{mb:.0f} ({at:.1f})" for at, mb in figures.memory))
    for line in metrics.splitlines():
        if line.startswith(("propcite_verdict", "propcite_cited_together_sum", "propcite_cited_together_count")):
            print(line)
    seconds = {name: dict(re.findall(rf'propcite_{name}_seconds_total{{kind="(.*)"}} (.*)', metrics)) for name in WORK}
    ratios = {kind: float(worked) / float(seconds[WORK[1]][kind]) for kind, worked in seconds[WORK[0]].items()}
    print("worked / estimated: " + ", ".join(f"{kind} {ratio:.2f}" for kind, ratio in ratios.items()))


def row(name: str, figures: Figures, seconds: list[float], *, counts: bool = True) -> None:
    seen = {status: num for (what, status), num in figures.statuses.items() if what == name} if counts else {}
    refused = seen.pop("503", 0)
    answered = seen.pop("200", 0) if counts else len(seconds)
    errors = ", ".join(f"{num} × {status}" for status, num in seen.items()) or 0
    seconds = sorted(seconds) or [0.0]
    p50, p95 = (seconds[int(share * len(seconds))] for share in (0.5, 0.95))
    cells = f"{answered} | {refused} | {errors}" if counts else f"{answered} | |"
    print(f"| {name} | {cells} | {p50:.2f} s | {p95:.2f} s | {seconds[-1]:.2f} s |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--flood", type=int, default=30, help="clients of the key that floods")
    parser.add_argument("--others", type=int, default=4, help="clients of each of four other keys")
    parser.add_argument("--alone", type=int, default=1, help="clients of one more key")
    parser.add_argument("--fresh", type=float, default=0.5, help="share of answers that nobody cited before")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, started("tests.benchmarks.proxy:model_server") as model:
        os.environ.update(PROPCITE_DATA_DIR=folder, PROPCITE_LLM_URL=f"{model}/v1")
        admin = make_key("admin", "admin")
        names = {"flood": ["flood"], "others": [f"other {n}" for n in range(KEYS)], "alone": ["alone"]}
        keys = {kind: [make_key(name, "read") for name in row] for kind, row in names.items()}
        with served("", "--keys") as (url, pid):
            asyncio.run(load(url, pid, options, admin, keys))


if __name__ == "__main__":
    main()
