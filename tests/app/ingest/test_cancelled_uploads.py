"""Jobs that are cancelled: one that is being read ends after the document in work, one that waits at once."""

from __future__ import annotations

from pathlib import Path

from propcite.app.ingest.uploads import CANCELLED, Job, Uploads
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.encoding.encoder import Encoder

MANY = 700
PATIENCE_S = 120.0


def accepted(uploads: Uploads, job_id: str, number: int) -> Job:
    for place in range(number):
        uploads.path_of(job_id, place).write_text(f"Crane {job_id} {place} lifts {place + 2} tonnes.")
    return uploads.accept(job_id, "harbour", [f"{job_id}-{place}.txt" for place in range(number)])


def test_what_was_read_before_a_job_is_cancelled_stays(tmp_path: Path, encoder: Encoder) -> None:
    parts = Parts(load_settings(data_dir=tmp_path, judge="none", splitter="rules"))
    parts.__dict__["encoder"] = encoder
    uploads = Uploads(parts)
    first, waiting, last = accepted(uploads, "1-a", MANY), accepted(uploads, "2-b", 3), accepted(uploads, "3-c", 2)
    uploads.cancel(waiting.id)
    assert waiting.ended.is_set()
    assert (waiting.state, waiting.reason, waiting.outcomes, waiting.num_left) == ("failed", CANCELLED, [], 0)
    while not first.outcomes:
        assert not first.ended.wait(0.01)
    uploads.cancel(first.id)
    assert first.ended.wait(PATIENCE_S)
    assert last.ended.wait(PATIENCE_S)
    assert (first.state, first.reason) == ("failed", CANCELLED)
    assert 0 < len(first.outcomes) < MANY
    assert (last.state, last.reason) == ("done", "")
    assert parts.library.collection("harbour").num_documents == len(first.outcomes) + 2
    assert not list(uploads.folder.glob("*-*"))
    uploads.cancel("1-a")  # it has ended: nothing happens
    uploads.close()
    parts.library.close()
