"""Stored files that someone alters or deletes: never served, found by the doctor, restored from a backup."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from attacking import opened_again, small_library
from serving import running_server

from propcite.app.errors import NotFoundError
from propcite.app.ingest.sources import File
from propcite.app.library.backup import create_backup
from propcite.app.library.doctor import Doctor, mend
from propcite.app.parts import Parts
from propcite.app.viewing.viewer import Viewer


def alter(path: Path) -> None:
    """Change one letter and keep size and times, as somebody would who wants to be unseen."""
    before, data = path.stat(), path.read_bytes()
    path.write_bytes(data.replace(b"fourteen", b"fifteen!").replace(b"410", b"999"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def documents(parts: Parts) -> dict[str, str]:
    return {info.source: info.id for info in parts.library.documents(parts.library.collection("harbour"))}


def stored_file(parts: Parts, name: str) -> Path:
    return parts.originals.path(parts.library.source_file(documents(parts)[name]).sha256)


def lost(parts: Parts, backup: Path | None = None) -> list[str]:
    return [finding.what for finding in Doctor(parts, backup=backup).findings() if "stored file" in finding.what]


def test_altered_bytes_are_never_served(tmp_path: Path) -> None:
    parts = small_library(tmp_path / "data")
    id_ = documents(parts)["gates.txt"]
    with running_server(parts) as address:
        place = f"{address}/v1/documents/{id_}"
        assert httpx.get(f"{place}/file").status_code == 200
        alter(stored_file(parts, "gates.txt"))
        served = httpx.get(f"{place}/file")
        assert served.status_code == 404
        assert "was altered: propcite doctor --mend --backup FILE" in served.json()["detail"]
        assert "fifteen" not in httpx.get(f"{place}/reading").text
    with pytest.raises(NotFoundError, match="was altered"):
        Viewer(parts).file(id_)  # what the page serves


@pytest.mark.parametrize(("attack", "state"), [(alter, "altered"), (Path.unlink, "gone")])
def test_the_doctor_finds_what_was_altered_and_restores_it_from_a_backup(
    tmp_path: Path, attack: Callable[[Path], object], state: str
) -> None:
    parts = small_library(tmp_path / "data")
    create_backup(parts.library, tmp_path / "data", tmp_path / "backup")
    path = stored_file(parts, "gates.txt")
    before = path.read_bytes()
    assert lost(parts) == []
    attack(path)
    parts = opened_again(parts)
    assert lost(parts) == [f"1 stored file is {state}: gates.txt"]
    (without,) = [finding for finding in Doctor(parts).findings() if "stored file" in finding.what]
    assert without.fix is None
    assert "--backup FILE" in without.line
    done, left = mend(list(Doctor(parts, backup=tmp_path / "backup").findings()))
    assert (len(done), left) == (1, [])
    assert path.read_bytes() == before
    assert lost(parts) == []


def test_a_file_that_is_in_no_backup_is_reported_as_left(tmp_path: Path) -> None:
    parts = small_library(tmp_path / "data", {"gates.txt": "The barrier has gates."})
    create_backup(parts.library, tmp_path / "data", tmp_path / "backup")
    parts = small_library(tmp_path / "data", {"cost.txt": "The barrier cost 410 million euros."})
    stored_file(parts, "cost.txt").unlink()
    _, left = mend(list(Doctor(parts, backup=tmp_path / "backup").findings()))
    assert ["1 of 1 are in no file" in finding.line for finding in left] == [True]


def test_an_altered_copy_is_mended_from_the_users_own_file(tmp_path: Path) -> None:
    parts = small_library(tmp_path / "data", originals="all")
    own = tmp_path / "own.txt"
    own.write_text("The fourteen gates were painted in 2021.")
    list(parts.ingester(parts.library.collection("harbour")).ingest([File(own)]))
    path = stored_file(parts, str(own))
    alter(path)
    _, left = mend(list(Doctor(parts).findings()))
    assert left == []
    assert path.read_bytes() == own.read_bytes()


def test_a_file_that_is_sent_again_replaces_an_altered_one(tmp_path: Path) -> None:
    parts = small_library(tmp_path / "data")
    path = stored_file(parts, "gates.txt")
    before = path.read_bytes()
    alter(path)
    small_library(tmp_path / "data")
    assert path.read_bytes() == before
