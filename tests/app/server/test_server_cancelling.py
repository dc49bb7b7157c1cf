"""Jobs that read documents are cancelled over HTTP, by keys that may add documents there."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx
from serving import parts_with, running_server

from propcite.app.library.store import Scope
from propcite.app.library.store.jobs import CANCELLED
from propcite.app.parts import Parts

WORDS = "The crane of quay {0} lifts {1} tonnes. It was built in 19{0:02}. "


def sent(http: httpx.Client, number: int, sentences: int = 1) -> str:
    files = [
        ("files", (f"{number}-{i}.txt", "".join(WORDS.format(i, one) for one in range(sentences)))) for i in range(100)
    ]
    response = http.post("/v1/documents", files=files, params={"collection": "harbour"})
    assert response.status_code == 202, response.text
    return str(response.json()["id"])


def ended(http: httpx.Client, job_id: str) -> dict[str, Any]:
    while True:
        job: dict[str, Any] = http.get(f"/v1/jobs/{job_id}").json()
        if job["state"] in ("done", "failed"):
            return job
        time.sleep(0.05)


def test_a_job_that_is_read_and_one_that_waits_are_cancelled(open_parts: Callable[..., Parts]) -> None:
    parts = open_parts(judge="none", splitter="rules", collection="harbour")
    with running_server(parts) as address, httpx.Client(base_url=address, timeout=60) as http:
        http.post("/v1/collections", json={"name": "harbour"})
        first, waiting = sent(http, 1, sentences=300), sent(http, 2)
        cancelled = http.post(f"/v1/jobs/{waiting}/cancel")
        assert (cancelled.status_code, cancelled.json()["id"]) == (200, waiting)
        while not http.get(f"/v1/jobs/{first}").json()["done"]:
            time.sleep(0.01)
        assert http.post(f"/v1/jobs/{first}/cancel").status_code == 200
        for job_id, least in ((first, 1), (waiting, 0)):
            job = ended(http, job_id)
            assert (job["state"], job["reason"]) == ("failed", CANCELLED)
            assert least <= job["done"] < 100
        stored = http.get("/v1/documents", params={"collection": "harbour"}).json()["documents"]
        assert len(stored) == ended(http, first)["done"]
        again = http.post(f"/v1/jobs/{first}/cancel").json()
        assert again == ended(http, first)
        missing = http.post("/v1/jobs/nothing/cancel")
        assert (missing.status_code, missing.json()["detail"]) == (
            404,
            "no job 'nothing': POST /v1/documents starts one",
        )


def test_a_key_cancels_where_it_may_add_documents(loaded: dict[str, object]) -> None:
    parts = parts_with(loaded, {"harbour": {}, "other": {}})
    keys = {
        name: {"Authorization": f"Bearer {parts.keys.create(name, scope, [collection])[1]}"}
        for name, scope, collection in (
            ("reader", Scope.READ, "harbour"),
            ("writer", Scope.WRITE, "harbour"),
            ("stranger", Scope.WRITE, "other"),
        )
    }
    with running_server(parts, requires_keys=True) as address, httpx.Client(base_url=address, timeout=60) as http:
        http.headers.update(keys["writer"])
        job_id = sent(http, 1)
        listed = http.get("/v1/jobs", params={"collection": "harbour"}, headers=keys["reader"]).json()
        assert ([job["id"] for job in listed["jobs"]], listed["total"]) == ([job_id], 1)
        strange = http.get("/v1/jobs", params={"collection": "harbour"}, headers=keys["stranger"])
        assert strange.status_code == 404
        assert http.get("/v1/jobs", params={"collection": "other"}, headers=keys["stranger"]).json()["jobs"] == []
        at = f"/v1/jobs/{job_id}/cancel"
        assert http.post(at, headers=keys["reader"]).status_code == 403
        assert http.post(at, headers=keys["stranger"]).status_code == 404
        assert http.post(at).status_code == 200
        assert ended(http, job_id)["state"] in ("done", "failed")
