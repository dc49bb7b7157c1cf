"""PostgreSQL goes away under a server that is searched, written to and sent documents, and comes back."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
from postgres_servers import PostgresServer
from serving import PATIENCE_S, wait_until

PAUSE_S = 0.05


@dataclass
class Traffic:
    """What a server at an address was asked, by threads of its own, and what it acknowledged."""

    at: str
    codes: Counter[tuple[str, int]] = field(default_factory=Counter)
    reasons: set[str] = field(default_factory=set)  # of what was refused
    hits: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    jobs: dict[str, str] = field(default_factory=dict)  # the file of each job
    longest: float = 0.0  # seconds of a request that was refused
    _ended: threading.Event = field(default_factory=threading.Event)

    def run(self, during: Callable[[], None]) -> None:
        """Send requests of all kinds as long as the function runs."""
        threads = [threading.Thread(target=self._repeat, args=(one,)) for one in (self._search, self._note, self._send)]
        for thread in threads:
            thread.start()
        try:
            during()
        finally:
            self._ended.set()
            for thread in threads:
                thread.join(2 * PATIENCE_S)

    def count(self, kind: str, code: int) -> int:
        return self.codes[kind, code]

    def _repeat(self, one: Callable[[httpx.Client, int], None]) -> None:
        with httpx.Client(base_url=self.at, timeout=PATIENCE_S) as http:
            number = 0
            while not self._ended.wait(PAUSE_S):
                one(http, number)
                number += 1

    def _call(self, http: httpx.Client, kind: str, path: str, **more: Any) -> httpx.Response:
        begun = time.monotonic()
        answer = http.post(path, **more)
        self.codes[kind, answer.status_code] += 1
        if not answer.is_success:
            self.reasons.add(answer.json()["detail"])
            self.longest = max(self.longest, time.monotonic() - begun)
        return answer

    def _search(self, http: httpx.Client, _: int) -> None:
        answer = self._call(http, "search", "/v1/search", json={"query": "The gate number 3 weighs", "k": 1})
        if answer.is_success:
            self.hits.add(answer.json()["hits"][0]["text"])

    def _note(self, http: httpx.Client, number: int) -> None:
        text = f"Note {number}."
        if self._call(http, "note", "/v1/notes", json={"text": text}).is_success:
            self.notes.append(text)

    def _send(self, http: httpx.Client, number: int) -> None:
        name = f"sent-{number}.txt"
        files = [("files", (name, f"Crane {number} lifts {number + 2} tonnes.".encode()))]
        answer = self._call(http, "send", "/v1/documents", files=files)
        if answer.is_success:
            self.jobs[answer.json()["id"]] = name


def outage(traffic: Traffic, postgres: PostgresServer, seconds: float, before: float = 2.0) -> float:
    """Stop PostgreSQL for so long in the middle of the traffic; return the seconds from its start to the first hits."""
    back: list[float] = []

    def run() -> None:
        time.sleep(before)
        postgres.stop()
        time.sleep(seconds)
        postgres.start()
        started, searched = time.monotonic(), traffic.count("search", 200)
        wait_until(lambda: traffic.count("search", 200) > searched, "nothing is searched again")
        back.append(time.monotonic() - started)
        time.sleep(before)

    traffic.run(run)
    return back[0]


def lost(traffic: Traffic) -> list[str]:
    """Return what was acknowledged and is not there, once all jobs have ended."""
    with httpx.Client(base_url=traffic.at, timeout=PATIENCE_S) as http:

        def job(id_: str) -> Any:
            return http.get(f"/v1/jobs/{id_}").json()

        wait_until(lambda: all(job(id_)["state"] == "done" for id_ in traffic.jobs), "a job does not end")
        stored = [one["source"] for one in http.get("/v1/documents").json()["documents"]]
        notes = [one["text"] for one in http.get("/v1/notes").json()["notes"]]
    twice = [f"{one} twice" for one, number in Counter([*stored, *notes]).items() if number > 1]
    return sorted(({*traffic.jobs.values()} - {*stored}) | ({*traffic.notes} - {*notes})) + twice
