"""Jobs that are cancelled: one that is being read ends after the document in work, one that waits at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from propcite.app.ingest.uploads import Job, Uploads
from propcite.app.library.store.jobs import CANCELLED
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.encoding.encoder import Encoder

MANY = 700
PATIENCE_S = 120.0


def accepted(uploads: Uploads, job_id: str, number: int) -> Job:
    for place in range(number):
        uploads.write(job_id, place, BytesIO(f"Crane {job_id} {place} lifts {place + 2} tonnes.".encode()))
    return uploads.accept(job_id, "harbour", [f"{job_id}-{place}.txt" for place in range(number)])


def seen(uploads: Uploads, job_id: str) -> Iterator[Job]:
    """Look at a job again and again."""
    deadline = time.monotonic() + PATIENCE_S
    while job := uploads.job(job_id):
        yield job
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ended(uploads: Uploads, job_id: str) -> Job:
    return next(job for job in seen(uploads, job_id) if job.has_ended)


def test_what_was_read_before_a_job_is_cancelled_stays(tmp_path: Path, encoder: Encoder) -> None:
    parts = Parts(load_settings(data_dir=tmp_path, judge="none", splitter="rules"))
    parts.__dict__["encoder"] = encoder
    uploads = Uploads(parts)
    uploads.start()
    accepted(uploads, "1-a", MANY)
    next(job for job in seen(uploads, "1-a") if job.done)
    accepted(uploads, "2-b", 3)
    accepted(uploads, "3-c", 2)
    uploads.cancel("2-b")
    waiting = uploads.job("2-b")
    assert waiting
    assert (waiting.state, waiting.reason, waiting.done, waiting.num_left) == ("failed", CANCELLED, 0, 0)
    uploads.cancel("1-a")
    first, last = ended(uploads, "1-a"), ended(uploads, "3-c")
    assert (first.state, first.reason) == ("failed", CANCELLED)
    assert 0 < first.done < MANY
    assert len(uploads.outcomes("1-a")) == first.done
    assert (last.state, last.reason) == ("done", "")
    assert parts.library.collection("harbour").num_documents == first.done + 2
    uploads.close()
    assert not list((tmp_path / "uploads").glob("*"))
    uploads.cancel("1-a")  # it has ended: nothing happens
    assert uploads.job("1-a") == first
    parts.library.close()
