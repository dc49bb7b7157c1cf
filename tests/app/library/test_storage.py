"""Two machines with disks of their own share a database and an S3 bucket: each answers from what the other reads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from commanded import Propcite, commanded
from object_server import BUCKET
from paths import SUPPORT
from serving import wait_until
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.errors import NotFoundError
from propcite.app.ingest.sources import Upload
from propcite.app.ingest.uploads import Uploads
from propcite.app.library.doctor import Doctor, mend
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.errors import StorageError
from propcite.retrieval.remote.objects import ObjectStore
from propcite.retrieval.remote.published_index import PublishedIndex

QUICK = {"splitter": "rules", "judge": "none", "min_score": 0.8}
GATES = b"The barrier has fourteen gates."
COST = b"The barrier cost 410 million euros."
FERRY = b"The ferry passes the barrier."


@pytest.fixture
def shared(tmp_path: Path, s3: object) -> dict[str, str]:  # noqa: ARG001 - the server
    return {"database": f"sqlite:///{tmp_path}/shared.db", "storage": f"{BUCKET}/{tmp_path.name}"}


@pytest.fixture
def machines(tmp_path: Path, shared: dict[str, str]) -> Iterator[list[Parts]]:
    opened = [machine(tmp_path / name, **shared) for name in ("one", "two")]
    yield opened
    for parts in opened:
        parts.library.close()


def machine(data_dir: Path, **settings: str) -> Parts:
    parts = Parts(load_settings(data_dir=data_dir, **settings, **QUICK))
    parts.__dict__["encoder"] = WordEncoder()
    return parts


def ingest(parts: Parts, **texts: bytes) -> list[str]:
    harbour = parts.library.create_collection("harbour")
    uploads = [Upload(f"{name}.txt", text) for name, text in texts.items()]
    return [outcome.state for outcome in parts.ingester(harbour).ingest(uploads)]


def found(parts: Parts, text: str = "barrier") -> set[str]:
    hits = parts.pipeline(parts.library.collection("harbour")).retriever().search(text, k=20)
    return {hit.passage.text for hit in hits}


def fresh(parts: Parts) -> Parts:
    """Let a machine look for what is new at once, not after a second."""
    PublishedIndex.fetch(parts.workspace(parts.library.collection("harbour")).published)  # type: ignore[arg-type]
    return parts


def test_each_machine_finds_what_the_other_has_read(machines: list[Parts]) -> None:
    one, two = machines
    assert ingest(one, gates=GATES) == ["added"]
    assert found(two) == {GATES.decode()}
    assert ingest(two, gates=GATES, cost=COST) == ["unchanged", "added"]
    assert found(fresh(one)) == {GATES.decode(), COST.decode()}
    harbour = one.library.collection("harbour")
    one.ingester(harbour).remove(one.library.find_document(harbour, "gates.txt").id)
    assert found(fresh(two)) == {COST.decode()}
    assert ingest(two, cost=b"The barrier cost nothing.") == ["changed"]
    assert found(fresh(one)) == {"The barrier cost nothing."}
    assert [parts.workspace(harbour).faults() for parts in machines] == [[], []]
    cited = one.pipeline(harbour).cite("The barrier cost nothing.")
    assert cited.coverage == 1.0


def test_a_kept_file_is_opened_on_the_other_machine_and_goes_from_both(
    machines: list[Parts], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = machines
    ingest(one, gates=GATES, cost=COST)
    harbour = one.library.collection("harbour")
    document = two.library.find_document(harbour, "gates.txt")
    assert two.finder.kinds({document.id}) == {document.id: "text"}
    assert not two.originals.path(document.sha256).exists()
    assert two.finder.find(document.id).path.read_bytes() == GATES
    two.ingester(harbour).remove(document.id)
    assert sorted(two.originals.digests()) == [two.library.find_document(harbour, "cost.txt").sha256]
    monkeypatch.setattr("propcite.app.library.doctor.HOUR_S", -1.0)
    mend([finding for finding in Doctor(one).findings() if "documents that are gone" in finding.what])  # its own copy
    with pytest.raises(NotFoundError):
        one.finder.find(document.id)


def test_what_one_machine_accepts_another_reads(machines: list[Parts], shared: dict[str, str]) -> None:
    accepting, reading = (Uploads(parts) for parts in machines)
    accepting.write("one-job", 0, BytesIO(GATES))
    accepting.accept("one-job", "harbour", ["gates.txt"])
    reading.start()
    wait_until(lambda: (job := accepting.job("one-job")) is not None and job.has_ended, "the job does not end")
    reading.close()
    accepting.close()
    assert [outcome.state for outcome in accepting.outcomes("one-job")] == ["added"]
    assert found(machines[0]) == {GATES.decode()}
    assert ObjectStore(shared["storage"]).names("uploads") == []


def test_a_job_waits_for_a_storage_that_is_away(machines: list[Parts], monkeypatch: pytest.MonkeyPatch) -> None:
    uploads = Uploads(machines[0])
    uploads.write("one-job", 0, BytesIO(GATES))
    uploads.accept("one-job", "harbour", ["gates.txt"])
    tried: list[object] = []

    def refuse(*given: object, **_: object) -> None:
        tried.append(given)
        raise OSError("connection refused")

    with monkeypatch.context() as away:
        away.setattr("s3fs.S3FileSystem.find", refuse)
        uploads.start()
        wait_until(lambda: len(tried) > 1, "the job is not tried again")
        job = uploads.job("one-job")
        assert job
        assert not job.has_ended
    wait_until(lambda: (job := uploads.job("one-job")) is not None and job.has_ended, "the job does not end")
    uploads.close()
    assert [outcome.state for outcome in uploads.outcomes("one-job")] == ["added"]


def test_a_lost_machine_is_replaced_by_an_empty_one(
    machines: list[Parts], tmp_path: Path, shared: dict[str, str]
) -> None:
    ingest(machines[0], gates=GATES)
    third = machine(tmp_path / "three", **shared)
    assert found(third) == {GATES.decode()}
    assert [one for one in Doctor(third).findings() if "index" in one.where or "stored file" in one.what] == []
    third.library.close()


def test_a_removed_collection_leaves_nothing(machines: list[Parts], shared: dict[str, str]) -> None:
    ingest(machines[0], gates=GATES)
    machines[1].remove_collection(machines[1].library.collection("harbour"))
    assert ObjectStore(shared["storage"]).names() == []
    ingest(machines[1], cost=COST)
    assert found(machines[0]) == {COST.decode()}


def test_a_new_collection_with_the_number_of_an_old_one_is_not_mixed_up(machines: list[Parts]) -> None:
    one, two = machines
    ingest(one, gates=GATES)
    assert found(two) == {GATES.decode()}
    one.remove_collection(one.library.collection("harbour"))
    ingest(one, cost=COST)
    assert found(two) == {COST.decode()}


def test_killed_writers_lose_nothing_for_the_other_machine(tmp_path: Path, shared: dict[str, str]) -> None:
    shared["storage"] = f"file://{tmp_path}/objects"  # the writers are forks, which a client of S3 does not survive
    folder = tmp_path / "letters"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.txt").write_text(f"Letter {number} names the barrier.")
    settings = {f"PROPCITE_{name.upper()}": value for name, value in shared.items()}
    command = [sys.executable, str(SUPPORT / "killed_ingests.py"), str(tmp_path / "one"), str(folder), "3"]
    subprocess.run(command, check=True, env={**os.environ, **settings}, capture_output=True)
    two = machine(tmp_path / "two", **shared)
    letters = two.library.collection("letters")
    files = [Upload(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]
    assert len(list(two.ingester(letters).ingest(files))) == 8
    assert two.workspace(letters).faults() == []
    two.library.close()


def test_a_storage_that_goes_away_stops_writing_and_not_reading(
    machines: list[Parts], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = machines
    ingest(one, gates=GATES)
    assert found(two) == {GATES.decode()}
    ingest(one, cost=COST)

    def refuse(*_: object, **__: object) -> None:
        raise OSError("connection refused")

    monkeypatch.setattr("s3fs.S3FileSystem._call_s3", refuse)
    monkeypatch.setattr("propcite.retrieval.remote.published_index._look_from", {})
    assert found(two) == {GATES.decode()}
    assert "is searched" in caplog.text
    with pytest.raises(StorageError, match=r"connection refused\): check the setting storage"):
        ingest(two, ferry=FERRY)
    monkeypatch.undo()
    assert ingest(two, cost=COST, ferry=FERRY) == ["unchanged", "added"]


@pytest.fixture
def propcite(machines: list[Parts], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Propcite:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    for name in ("data_dir", "database", "storage"):
        monkeypatch.setenv(f"PROPCITE_{name.upper()}", str(getattr(machines[1].settings, name)))
    monkeypatch.setenv("PROPCITE_COLLECTION", "harbour")
    return commanded(monkeypatch, capsys)


def test_the_commands_show_bring_and_put(
    machines: list[Parts], propcite: Propcite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: dict[str, str]
) -> None:
    assert "no collection yet" in propcite("storage", "show").err
    ingest(machines[0], gates=GATES, cost=COST)
    [row] = propcite("storage", "show", "--json").json
    assert (row["collection"], row["stored"], row["fetched"]) == ("harbour", 1, 0)
    assert row["bytes"] > 0 < row["objects"]
    assert "2 kept files are on this disk" in propcite("storage", "pull").err
    assert propcite("storage", "show", "--json").json[0]["fetched"] == 1
    assert "harbour" in propcite("storage", "show").out
    assert len(list((tmp_path / "two" / "originals").glob("??/*"))) == 2
    monkeypatch.setenv("PROPCITE_STORAGE", f"{shared['storage']}-new")
    assert propcite("storage", "push", "--json").json == {"indexes": 1, "files": 2}
    third = machine(tmp_path / "three", database=shared["database"], storage=f"{shared['storage']}-new")
    assert found(third) == {GATES.decode(), COST.decode()}
    third.library.close()
    monkeypatch.setenv("PROPCITE_STORAGE", "")
    without = propcite("storage", "show")
    assert (without.code, "there is no storage: set it" in without.err) == (2, True)


def test_a_backup_from_an_empty_machine_has_everything_and_comes_back(
    machines: list[Parts], propcite: Propcite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: dict[str, str]
) -> None:
    ingest(machines[0], gates=GATES, cost=COST)
    file = tmp_path / "saved.propcite"
    assert propcite("backup", str(file), "--json").json["indexes"] == 1
    ingest(machines[0], gates=b"The barrier has no gates.")
    assert propcite("restore", str(file), "--force", "--json").json["without_index"] == []
    assert found(fresh(machines[0])) == {GATES.decode(), COST.decode()}
    harbour = machines[0].library.collection("harbour")
    assert machines[0].workspace(harbour).faults() == []
    monkeypatch.setenv("PROPCITE_STORAGE", f"{shared['storage']}-other")
    monkeypatch.setenv("PROPCITE_DATABASE", "")
    assert propcite("restore", str(file), "--into", str(tmp_path / "elsewhere")).code == 0
    assert len(ObjectStore(f"{shared['storage']}-other").names("originals")) == 2


def test_the_doctor_finds_files_that_nobody_needs_and_lost_ones(
    machines: list[Parts], monkeypatch: pytest.MonkeyPatch, shared: dict[str, str]
) -> None:
    one, _ = machines
    ingest(one, gates=GATES)
    digest = one.library.find_document(one.library.collection("harbour"), "gates.txt").sha256
    ObjectStore(shared["storage"]).write("originals/ab/" + "ab" * 32, b"left")
    assert not [finding for finding in Doctor(one).findings() if "documents that are gone" in finding.what]  # too new
    monkeypatch.setattr("propcite.app.library.doctor.HOUR_S", -1.0)
    [finding] = [finding for finding in Doctor(one).findings() if "documents that are gone" in finding.what]
    mend([finding])
    assert list(one.originals.digests()) == [digest]
    one.originals.path(digest).unlink()
    ObjectStore(shared["storage"]).remove([f"originals/{digest[:2]}/{digest}"])
    assert any("1 stored file is gone" in finding.what for finding in Doctor(one).findings())
