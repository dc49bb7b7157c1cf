"""Files that documents were read from: stored, found again, and removed with their documents."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from propcite.app.errors import NotFoundError
from propcite.app.ingest.sources import File, Source, Upload
from propcite.app.library.backup import create_backup, restore_backup
from propcite.app.library.doctor import Doctor, mend
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

OpenParts = Callable[..., Parts]
TERN, HERON = b"The tern dives for sprats.", b"The heron stands in the reeds for hours."


def add(parts: Parts, *sources: Source, collection: str = "birds") -> list[str]:
    """Ingest sources and return the ids of the documents in their order."""
    outcomes = list(parts.ingester(parts.library.create_collection(collection)).ingest(sources))
    assert all(outcome.state in ("added", "changed", "failed", "unchanged") for outcome in outcomes)
    return [outcome.document_id for outcome in outcomes]


def stored(parts: Parts) -> list[bytes]:
    return sorted(parts.originals.path(sha256).read_bytes() for sha256 in parts.originals.digests())


def archive(**files: bytes) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as written:
        for name, content in files.items():
            written.writestr(f"{name}.txt", content)
    return data.getvalue()


def test_an_upload_is_stored_and_a_file_is_found_in_its_place(open_parts: OpenParts, tmp_path: Path) -> None:
    parts = open_parts()
    own = tmp_path / "heron.txt"
    own.write_bytes(HERON)
    sent, there = add(parts, Upload("tern.txt", TERN), File(own))
    assert stored(parts) == [TERN]
    original = parts.finder.find(sent)
    assert (original.name, original.kind, original.path.read_bytes()) == ("tern.txt", "text", TERN)
    assert parts.finder.find(there).path == own
    assert parts.finder.kinds({sent, there, "nobody"}) == {sent: "text", there: "text"}

    own.write_bytes(HERON + b" It is grey.")
    with pytest.raises(NotFoundError, match=r"heron\.txt.*add it to the library again"):
        parts.finder.find(there)
    assert parts.finder.kinds({there}) == {}
    with pytest.raises(NotFoundError, match="there never was a document"):
        parts.finder.find("nobody")


def test_each_file_of_an_archive_is_stored_separately(open_parts: OpenParts) -> None:
    parts = open_parts()
    ids = add(parts, Upload("birds.zip", archive(tern=TERN, heron=HERON)))
    assert stored(parts) == sorted([TERN, HERON])
    assert [parts.finder.find(id_).name for id_ in ids] == ["heron.txt", "tern.txt"]


@pytest.mark.parametrize(("policy", "number"), [("all", 2), ("sent", 1), ("none", 0)])
def test_a_setting_decides_which_files_are_stored(
    open_parts: OpenParts, tmp_path: Path, policy: str, number: int
) -> None:
    parts = open_parts(originals=policy)
    own = tmp_path / "heron.txt"
    own.write_bytes(HERON)
    add(parts, Upload("tern.txt", TERN), File(own))
    assert len(stored(parts)) == number


def test_a_stored_file_is_removed_with_its_last_document(open_parts: OpenParts) -> None:
    parts = open_parts()
    (first,) = add(parts, Upload("tern.txt", TERN))
    (second,) = add(parts, Upload("seen.txt", TERN), collection="seen")
    parts.ingester(parts.library.collection("birds")).remove(first)
    assert stored(parts) == [TERN]
    parts.ingester(parts.library.collection("seen")).remove(second)
    assert stored(parts) == []

    add(parts, Upload("tern.txt", TERN), Upload("heron.txt", HERON))
    parts.remove_collection(parts.library.collection("birds"))
    assert stored(parts) == []


def test_a_file_that_is_sent_again_is_stored_though_its_document_is_unchanged(
    open_parts: OpenParts, tmp_path: Path
) -> None:
    """As after an update, or when a lost file is sent again from another place, as the error message advises."""
    before = open_parts(originals="none")
    (sent,) = add(before, Upload("tern.txt", TERN))
    own = tmp_path / "heron.txt"
    own.write_bytes(HERON)
    (there,) = add(before, File(own))
    own.unlink()
    parts = open_parts()
    assert parts.finder.kinds({sent, there}) == {}
    ingester = parts.ingester(parts.library.collection("birds"))
    outcomes = list(ingester.ingest([Upload("tern.txt", TERN), Upload("found.txt", HERON)]))
    assert [outcome.state for outcome in outcomes] == ["unchanged", "moved"]
    assert parts.finder.kinds({sent, there}) == {sent: "text", there: "text"}


def test_an_unreadable_file_is_not_stored(open_parts: OpenParts) -> None:
    parts = open_parts()
    add(parts, Upload("tern.pdf", TERN))
    assert stored(parts) == []


def test_a_replaced_file_stays_while_a_stored_answer_cites_it(open_parts: OpenParts) -> None:
    parts = open_parts(splitter="rules", judge="none")
    old, other = add(parts, Upload("tern.txt", TERN), Upload("heron.txt", HERON))
    birds = parts.library.collection("birds")
    answer = parts.pipeline(birds).cite("The tern dives for sprats.")
    assert [c.passage.document_id for c in answer.citations] == [old]
    add(parts, Upload("tern.txt", TERN + b" It is small."), Upload("heron.txt", HERON + b" It is tall."))
    assert stored(parts) == sorted([TERN, TERN + b" It is small.", HERON + b" It is tall."])
    assert parts.finder.find(old).path.read_bytes() == TERN
    with pytest.raises(NotFoundError, match="not stored"):
        parts.finder.find(other)


def test_the_doctor_finds_unused_files(open_parts: OpenParts) -> None:
    parts = open_parts()
    add(parts, Upload("tern.txt", TERN))
    parts.originals.save("0" * 64, b"left by a stopped process")
    assert not list(Doctor(parts)._originals())  # a document may be about to need it
    hours_ago = time.time() - 7200
    os.utime(parts.originals.path("0" * 64), (hours_ago, hours_ago))
    findings = [one for one in Doctor(parts).findings() if "stored files" in one.what]
    assert [one.what for one in findings] == ["1 stored files of documents that are gone"]
    mend(findings)
    assert stored(parts) == [TERN]


def test_a_backup_contains_stored_files(open_parts: OpenParts, tmp_path: Path) -> None:
    parts = open_parts()
    (sent,) = add(parts, Upload("tern.txt", TERN))
    create_backup(parts.library, parts.settings.data_dir, tmp_path / "all.zip")
    into = Parts(load_settings(data_dir=tmp_path / "other"))
    restore_backup(tmp_path / "all.zip", lambda: into.library, into.settings.data_dir)
    assert stored(into) == [TERN]
    assert into.finder.find(sent).path.read_bytes() == TERN
