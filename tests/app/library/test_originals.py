"""The file that a document was read from: kept where it has no place of its own, found again, and gone with it."""

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
    """-> the documents' ids, in their order"""
    outcomes = list(parts.ingester(parts.library.create_collection(collection)).ingest(sources))
    assert all(outcome.state in ("added", "changed", "failed", "unchanged") for outcome in outcomes)
    return [outcome.document_id for outcome in outcomes]


def kept(parts: Parts) -> list[bytes]:
    return sorted(parts.originals.path(sha256).read_bytes() for sha256 in parts.originals.digests())


def archive(**files: bytes) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as written:
        for name, content in files.items():
            written.writestr(f"{name}.txt", content)
    return data.getvalue()


def test_what_was_sent_is_kept_and_a_file_is_found_where_it_lies(open_parts: OpenParts, tmp_path: Path) -> None:
    parts = open_parts()
    own = tmp_path / "heron.txt"
    own.write_bytes(HERON)
    sent, there = add(parts, Upload("tern.txt", TERN), File(own))
    assert kept(parts) == [TERN]
    found = parts.finder.find(sent)
    assert (found.name, found.kind, found.path.read_bytes()) == ("tern.txt", "text", TERN)
    assert parts.finder.find(there).path == own
    assert parts.finder.kinds({sent, there, "nobody"}) == {sent: "text", there: "text"}

    own.write_bytes(HERON + b" It is grey.")
    with pytest.raises(NotFoundError, match=r"heron\.txt.*add it to the library again"):
        parts.finder.find(there)
    assert parts.finder.kinds({there}) == {}
    with pytest.raises(NotFoundError, match="was ever here"):
        parts.finder.find("nobody")


def test_each_file_of_an_archive_is_kept_by_itself(open_parts: OpenParts) -> None:
    parts = open_parts()
    ids = add(parts, Upload("birds.zip", archive(tern=TERN, heron=HERON)))
    assert kept(parts) == sorted([TERN, HERON])
    assert [parts.finder.find(id_).name for id_ in ids] == ["heron.txt", "tern.txt"]


@pytest.mark.parametrize(("keeps", "number"), [("all", 2), ("sent", 1), ("none", 0)])
def test_a_setting_says_what_is_kept(open_parts: OpenParts, tmp_path: Path, keeps: str, number: int) -> None:
    parts = open_parts(originals=keeps)
    own = tmp_path / "heron.txt"
    own.write_bytes(HERON)
    add(parts, Upload("tern.txt", TERN), File(own))
    assert len(kept(parts)) == number


def test_it_goes_with_the_last_document_that_it_was_read_for(open_parts: OpenParts) -> None:
    parts = open_parts()
    (first,) = add(parts, Upload("tern.txt", TERN))
    (second,) = add(parts, Upload("seen.txt", TERN), collection="seen")
    parts.ingester(parts.library.collection("birds")).remove(first)
    assert kept(parts) == [TERN]
    parts.ingester(parts.library.collection("seen")).remove(second)
    assert kept(parts) == []

    add(parts, Upload("tern.txt", TERN), Upload("heron.txt", HERON))
    parts.remove_collection(parts.library.collection("birds"))
    assert kept(parts) == []


def test_what_is_sent_again_is_kept_though_it_is_known(open_parts: OpenParts, tmp_path: Path) -> None:
    """As after an update, and where a file was lost and is sent from elsewhere: that is what is advised."""
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


def test_what_cannot_be_read_is_not_kept(open_parts: OpenParts) -> None:
    parts = open_parts()
    add(parts, Upload("tern.pdf", TERN))
    assert kept(parts) == []


def test_a_replaced_one_stays_as_long_as_a_kept_answer_cites_it(open_parts: OpenParts) -> None:
    parts = open_parts(splitter="rules", judge="none")
    old, other = add(parts, Upload("tern.txt", TERN), Upload("heron.txt", HERON))
    birds = parts.library.collection("birds")
    answer = parts.pipeline(birds).cite("The tern dives for sprats.")
    assert [c.passage.document_id for c in answer.citations] == [old]
    add(parts, Upload("tern.txt", TERN + b" It is small."), Upload("heron.txt", HERON + b" It is tall."))
    assert kept(parts) == sorted([TERN, TERN + b" It is small.", HERON + b" It is tall."])
    assert parts.finder.find(old).path.read_bytes() == TERN
    with pytest.raises(NotFoundError, match="not kept"):
        parts.finder.find(other)


def test_the_doctor_finds_what_is_kept_for_nothing(open_parts: OpenParts) -> None:
    parts = open_parts()
    add(parts, Upload("tern.txt", TERN))
    parts.originals.save("0" * 64, b"left by a stopped process")
    assert not list(Doctor(parts)._originals())  # it may be about to be named
    hours_ago = time.time() - 7200
    os.utime(parts.originals.path("0" * 64), (hours_ago, hours_ago))
    findings = [one for one in Doctor(parts).findings() if "kept files" in one.what]
    assert [one.what for one in findings] == ["1 kept files of documents that are gone"]
    mend(findings)
    assert kept(parts) == [TERN]


def test_a_backup_takes_it_along(open_parts: OpenParts, tmp_path: Path) -> None:
    parts = open_parts()
    (sent,) = add(parts, Upload("tern.txt", TERN))
    create_backup(parts.library, parts.settings.data_dir, tmp_path / "all.zip")
    into = Parts(load_settings(data_dir=tmp_path / "other"))
    restore_backup(tmp_path / "all.zip", lambda: into.library, into.settings.data_dir)
    assert kept(into) == [TERN]
    assert into.finder.find(sent).path.read_bytes() == TERN
