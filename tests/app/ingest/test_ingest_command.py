"""`propcite ingest`: fields and tags, removed files, timings, and a watched folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commanded import Propcite, commanded

from propcite.app import parts as bootstrap
from propcite.retrieval.encoding.encoder import Encoder


@pytest.fixture
def propcite(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], encoder: Encoder, tmp_path: Path
) -> Propcite:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: encoder)
    monkeypatch.setenv("PROPCITE_DATA_DIR", str(tmp_path / "data"))
    return commanded(monkeypatch, capsys)


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    folder = tmp_path / "letters"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.txt").write_text(f"Letter {number} came in March. It was short.")
    return folder


def test_fields_and_tags_are_found_by_conditions(propcite: Propcite, letters: Path) -> None:
    result = propcite("ingest", str(letters / "0.txt"), "--meta", "year=2024", "--meta", "by=Ana", "--tag", "post")
    assert result.code == 0
    assert propcite("ingest", str(letters)).code == 0
    for condition in ("year>=2024", "by=Ana", "tags=post"):
        hits = propcite("search", "letter", "--where", condition, "--json").json
        assert [hit["text"][:8] for hit in hits] == ["Letter 0"]
    assert propcite("ingest", str(letters), "--tag", "old").code == 0  # unchanged documents get it too
    assert len(propcite("search", "letter", "--where", "tags=old", "--json").json) == 3
    refused = propcite("ingest", str(letters), "--meta", "nothing")
    assert (refused.code, "give KEY=VALUE" in refused.err) == (2, True)


def test_documents_whose_files_are_gone_are_removed_on_request(propcite: Propcite, letters: Path) -> None:
    propcite("ingest", str(letters))
    (letters / "1.txt").unlink()
    assert "2 unchanged" in propcite("ingest", str(letters)).err
    result = propcite("ingest", str(letters), "--prune")
    assert "removed" in result.out
    assert "2 unchanged, 1 removed" in result.err
    assert len(propcite("list", "-c", "default", "--json").json) == 2


def test_timings_are_shown(propcite: Propcite, letters: Path) -> None:
    result = propcite("ingest", str(letters), "--timings")
    assert all(step in result.err for step in ("parse", "encode", "index", "database"))


def test_a_watched_folder_is_ingested_as_it_changes_until_an_interrupt(letters: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PROPCITE_DATA_DIR": str(tmp_path / "data")}
    watcher = subprocess.Popen(
        [sys.executable, "-m", "propcite", "ingest", str(letters), "--watch", "--prune", "--json"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert watcher.stdout
    assert watcher.stderr
    try:
        first = [json.loads(watcher.stdout.readline()) for _ in range(3)]
        assert {row["state"] for row in first} == {"added"}
        wait_for_line(watcher.stderr.readline, "interrupt to end")
        (letters / "new.txt").write_text("A new letter came in May.")
        added = json.loads(watcher.stdout.readline())
        assert (Path(added["source"]).name, added["state"]) == ("new.txt", "added")
        (letters / "0.txt").unlink()
        removed = json.loads(watcher.stdout.readline())
        assert (Path(removed["source"]).name, removed["state"]) == ("0.txt", "removed")
        watcher.send_signal(signal.SIGINT)
        assert watcher.wait(timeout=60) in (0, 130)
        assert "Traceback" not in watcher.stderr.read()
    finally:
        watcher.kill()
        watcher.wait()


def wait_for_line(next_line: Callable[[], str], words: str) -> None:
    while words not in (line := next_line()):
        assert line, f"the output ended without {words!r}"
