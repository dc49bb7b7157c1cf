"""Backups that are taken while other processes write, and restored into either database."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from commanded import Propcite, commanded
from sqlalchemy import Connection, MetaData, Table, select
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.errors import AppError, StoreError
from propcite.app.ingest.sources import Upload
from propcite.app.library.backup import BackupSummary, RestoreSummary, create_backup, restore_backup
from propcite.app.library.backup.rows import TABLES, snapshot_connection, table_rows
from propcite.app.library.doctor import Doctor
from propcite.app.library.store import DetailsChange, Feedback, Opinion, Scope
from propcite.app.library.store.database import aware, upgrade
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

Letters = dict[str, str]
LETTERS = {f"{n}.txt": f"The heron number {n} stands in the reeds. It eats {n} fish." for n in range(4)}


@pytest.fixture
def open_at(tmp_path: Path) -> Iterator[Callable[..., Parts]]:
    """Open parts over a data directory of this name, and over a database of their own if one is given."""
    opened: list[Parts] = []

    def open_them(name: str, database: str = "") -> Parts:
        parts = Parts(load_settings(data_dir=tmp_path / name, database=database, splitter="rules", judge="none"))
        parts.__dict__["encoder"] = WordEncoder()
        opened.append(parts)
        return parts

    yield open_them
    for parts in opened:
        parts.library.close()


def add(parts: Parts, texts: Letters, collection: str = "letters") -> None:
    target = parts.library.create_collection(collection)
    list(parts.ingester(target).ingest([Upload(name, text.encode()) for name, text in texts.items()]))


def filled(parts: Parts) -> Parts:
    """Store something of every kind in the library."""
    add(parts, LETTERS)
    add(parts, {"a.txt": "The kingfisher dives."}, "notes")
    library = parts.library
    letters = library.collection("letters")
    library.set_owner(letters, "zoë")
    library.note_failures(letters, {"bad.pdf": "it is locked"})
    library.describe([library.find_document(letters, "1.txt").id], DetailsChange({"year": 2024}, ["birds 🐦"]))
    answer = parts.pipeline(letters).cite("The heron number 2 stands in the reeds. It eats 9 fish.")
    parts.feedback.save(Feedback(answer.id, answer.facts[0].id, "", Opinion.WRONG, note="no"))
    add(parts, {"3.txt": "The bittern booms."})  # replaces another version
    parts.keys.create("for a friend", Scope.READ, ["letters"])
    return parts


def saved(parts: Parts, path: Path, **options: bool) -> BackupSummary:
    return create_backup(parts.library, parts.settings.data_dir, path, **options)


def restored(path: Path, parts: Parts, collection: str = "", *, force: bool = False) -> RestoreSummary:
    return restore_backup(path, lambda: parts.library, parts.settings.data_dir, collection=collection, force=force)


def content(parts: Parts) -> dict[str, list[str]]:
    """Return all rows without numeric ids, which the database assigns, or what each library names by itself."""
    with snapshot_connection(parts.library.engine) as connection:
        return {table.name: sorted(map(comparable, table_rows(connection, table))) for table in TABLES}


def comparable(row: dict[str, object]) -> str:
    values = {name: aware(v).astimezone(UTC) if isinstance(v, datetime) else v for name, v in row.items()}
    own = {"collection_id", "history", "index_versions", *(["id"] if isinstance(values.get("id"), int) else [])}
    return str({k: v for k, v in values.items() if k not in own})


def heron_hits(parts: Parts) -> list[tuple[str, float]]:
    hits = parts.pipeline(parts.library.collection("letters")).search("which heron eats 2 fish", k=9)
    return [(hit.passage.id, round(hit.score, 5)) for hit in hits]


def faults(parts: Parts) -> list[str]:
    return [finding.line for finding in Doctor(parts).findings() if "are free" not in finding.what]


DATA_FILES = {"propcite.sqlite", "indexes", "originals"}


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*") if "sqlite-" not in path.name}


def test_a_restored_library_is_equal_and_gives_the_same_answers(
    open_at: Callable[..., Parts], database_url: str, tmp_path: Path
) -> None:
    parts = filled(open_at("one", database_url))
    done = saved(parts, tmp_path / "b.zip")
    assert (done.collections, done.documents, done.indexes, done.notes) == (2, 5, 2, ())
    other = open_at("two")
    back = restored(tmp_path / "b.zip", other)
    assert (back.collections, back.documents, back.without_index) == (("letters", "notes"), 5, ())
    assert content(other) == content(parts)
    assert heron_hits(other) == heron_hits(parts) != []
    assert faults(other) == []
    assert names_in(tmp_path / "two") == DATA_FILES
    add(other, {"new.txt": "The heron is new."})
    assert len(heron_hits(other)) == len(heron_hits(parts)) + 1


def test_a_backup_of_one_kind_of_database_is_restored_into_the_other(
    open_at: Callable[..., Parts], database_url: str, tmp_path: Path
) -> None:
    parts = filled(open_at("one"))
    saved(parts, tmp_path / "b.zip")
    other = open_at("two", database_url if "postgres" in database_url else "")
    restored(tmp_path / "b.zip", other)
    assert content(other) == content(parts)
    assert heron_hits(other) == heron_hits(parts)
    saved(other, tmp_path / "c.zip")
    third = open_at("three")
    restored(tmp_path / "c.zip", third)
    assert content(third) == content(parts)
    filled(open_at("four", database_url) if "sqlite" in database_url else other)  # ids continue after the restored ones


def test_one_collection_is_restored_beside_others(open_at: Callable[..., Parts], tmp_path: Path) -> None:
    parts = filled(open_at("one"))
    saved(parts, tmp_path / "b.zip")
    other = open_at("two")
    add(other, {"x.txt": "The otter sleeps."}, "mammals")
    with pytest.raises(AppError, match=r"is not empty \(it holds mammals\): restore --into .* or --force"):
        restored(tmp_path / "b.zip", other)
    assert restored(tmp_path / "b.zip", other, "letters").collections == ("letters",)
    assert heron_hits(other) == heron_hits(parts)
    assert [c.name for c in other.library.collections()] == ["letters", "mammals"]
    assert other.keys.all() == []
    assert len(other.feedback.all()) == 1
    assert faults(other) == []
    with pytest.raises(AppError, match=r"there is a collection 'letters' already: --force"):
        restored(tmp_path / "b.zip", other, "letters")
    add(other, {"0.txt": "Another text."})
    restored(tmp_path / "b.zip", other, "letters", force=True)
    assert heron_hits(other) == heron_hits(parts)
    assert faults(other) == []
    with pytest.raises(AppError, match=r"has no collection 'mammals': there is letters, notes"):
        restored(tmp_path / "b.zip", other, "mammals")
    restored(tmp_path / "b.zip", other, force=True)
    assert content(other) == content(parts)
    assert faults(other) == []


def test_a_backup_without_indexes_is_smaller_and_the_doctor_rebuilds_them(
    open_at: Callable[..., Parts], tmp_path: Path
) -> None:
    parts = filled(open_at("one"))
    whole, small = saved(parts, tmp_path / "b.zip"), saved(parts, tmp_path / "c.zip", with_index=False)
    assert small.bytes < whole.bytes
    other = open_at("two")
    assert restored(tmp_path / "c.zip", other).without_index == ("letters", "notes")
    findings = list(Doctor(other).findings())
    assert any("passages of the library are missing" in finding.what for finding in findings)
    for finding in findings:
        if finding.fix:
            finding.fix()
    assert faults(other) == []
    assert heron_hits(other) == heron_hits(parts)


def test_a_backup_is_consistent_while_documents_are_added_changed_and_removed(
    open_at: Callable[..., Parts], database_url: str, tmp_path: Path
) -> None:
    parts, other = filled(open_at("one", database_url)), open_at("one", database_url)
    ended = Event()

    def change() -> None:
        for turn in range(1000):
            if ended.is_set():
                return
            add(other, {f"{n}.txt": f"The heron number {n} of turn {turn} stands." for n in range(3)})
            answer = other.pipeline(other.library.collection("letters")).cite(f"The heron number 1 of turn {turn}.")
            assert answer.id

    with ThreadPoolExecutor() as pool:
        changing = pool.submit(change)
        backups = [saved(parts, tmp_path / f"{n}.zip") for n in range(4)]
        ended.set()
        changing.result()
    for number, backup in enumerate(backups):
        assert backup.notes == ()
        again = open_at(f"again{number}")
        assert restored(backup.path, again).without_index == ()
        assert faults(again) == []
        hits = again.pipeline(again.library.collection("letters")).search("heron", k=9)
        assert {hit.passage.document_id for hit in hits} <= {
            d.id for d in again.library.documents(again.library.collection("letters"))
        }
    assert names_in(tmp_path / "one") <= DATA_FILES


def cut_its_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def cut_its_middle(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def change_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0xFF
    path.write_bytes(data)


def empty_it(path: Path) -> None:
    path.write_bytes(b"")


def write_a_letter(path: Path) -> None:
    path.write_text("Dear reader, " * 100)


def zip_a_letter(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("letter.txt", "Dear reader")


def forge_a_checksum(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    about = json.loads(parts["about.json"])
    about["files"]["rows/documents.jsonl"]["sha256"] = "0" * 64
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**parts, "about.json": json.dumps(about).encode()}.items():
            archive.writestr(name, data)


def name_a_file_outside(path: Path) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        about = json.loads(archive.read("about.json"))
        about["files"]["../climbed"] = {"sha256": "", "bytes": 1}
        archive.writestr("../climbed", "x")
        archive.writestr("about.json", json.dumps(about))


DAMAGES = [cut_its_end, cut_its_middle, change_a_byte, empty_it, write_a_letter, zip_a_letter, forge_a_checksum]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("damage", [*DAMAGES, name_a_file_outside])
def test_a_damaged_backup_is_refused_in_one_line_and_nothing_is_restored(
    open_at: Callable[..., Parts], tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    saved(filled(open_at("one")), tmp_path / "b.zip")
    damage(tmp_path / "b.zip")
    with pytest.raises(AppError) as caught:
        restored(tmp_path / "b.zip", open_at("two"))
    assert str(tmp_path / "b.zip") in str(caught.value)
    assert "give another one" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "two").exists()
    assert not (tmp_path / "climbed").exists()


def test_a_backup_of_a_newer_version_is_refused_and_an_older_one_is_migrated(
    open_at: Callable[..., Parts], tmp_path: Path
) -> None:
    parts = filled(open_at("one"))
    saved(parts, tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    about = json.loads(files["about.json"])
    newer = {**files, "about.json": json.dumps({**about, "schema": "9999"}).encode()}
    write_zip(tmp_path / "newer.zip", newer)
    with pytest.raises(StoreError, match="schema 9999, newer than this version knows"):
        restored(tmp_path / "newer.zip", open_at("two"))
    with parts.library.engine.begin() as connection:
        upgrade(connection, "0009")  # as it was in that version, with its columns
        older = {name: list(old_rows(connection, name)) for name in ("collections", "documents", "answers", "keys")}
    lost = {"versions"}
    for name, rows in older.items():
        files[f"rows/{name}.jsonl"] = b"".join(json.dumps(row, default=str).encode() + b"\n" for row in rows)
    files = {name: data for name, data in files.items() if name.split("/")[-1].split(".")[0] not in lost}
    write_zip(tmp_path / "older.zip", files, schema="0009")
    other = open_at("three")
    assert restored(tmp_path / "older.zip", other).documents == 5
    assert heron_hits(other) != []
    assert [a.num_facts for a in other.library.answers()] == [2]
    assert faults(other) == []


def old_rows(connection: Connection, name: str) -> Iterator[dict[str, Any]]:
    for row in connection.execute(select(Table(name, MetaData(), autoload_with=connection))).mappings():
        yield dict(row)


def write_zip(path: Path, files: dict[str, bytes], schema: str = "") -> None:
    import hashlib

    about = json.loads(files["about.json"])
    about["files"] = {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in files.items()
        if name != "about.json"
    }
    about["schema"] = schema or about["schema"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**files, "about.json": json.dumps(about).encode()}.items():
            archive.writestr(name, data)


def test_an_interrupted_restore_leaves_the_library_as_it_was(
    open_at: Callable[..., Parts], database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(filled(open_at("one")), tmp_path / "b.zip")
    other = open_at("two", database_url)
    add(other, {"x.txt": "The otter sleeps."}, "mammals")
    before = content(other)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    for place in (
        "propcite.app.library.backup.rows._without_number",
        "propcite.app.library.backup.archive.BackupReader.extract",
    ):
        with monkeypatch.context() as patched:
            patched.setattr(place, stop)
            with pytest.raises(KeyboardInterrupt):
                restored(tmp_path / "b.zip", other, force=True)
        assert content(other) == before
        assert faults(other) == []
        assert names_in(tmp_path / "two") <= DATA_FILES
    assert other.pipeline(other.library.collection("mammals")).search("otter", k=1)


def test_an_interrupted_backup_leaves_the_old_file(
    open_at: Callable[..., Parts], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = filled(open_at("one"))
    path = tmp_path / "b.zip"
    saved(parts, path)
    before = path.read_bytes()
    with pytest.raises(AppError, match="exists already: give another name, or --force"):
        saved(parts, path)
    monkeypatch.setattr("propcite.app.library.backup.rows.json.dumps", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        saved(parts, path, force=True)
    assert path.read_bytes() == before
    assert names_in(tmp_path) == {"one", "b.zip"}
    assert names_in(tmp_path / "one") == DATA_FILES


def test_the_commands_report_what_was_backed_up_and_restored(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], open_at: Callable[..., Parts]
) -> None:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    filled(open_at("data")).library.close()
    propcite: Propcite = commanded(monkeypatch, capsys)
    result = propcite("backup", "b.zip")
    assert (result.code, result.out) == (0, "")
    assert "b.zip: 2 collections, 5 documents, 1 answers, 2 indexes" in result.err
    assert propcite("backup", "b.zip").code == 2
    assert "name a file in a folder that exists" in propcite("backup", "nowhere/b.zip").err
    assert propcite("restore", "b.zip").err.startswith("propcite: the library is not empty (it holds letters, notes)")
    back = propcite("restore", "b.zip", "--into", "two", "--json").json
    assert back == {"collections": ["letters", "notes"], "documents": 5, "passages": 5, "without_index": []}
    assert "give a file that propcite backup has written" in propcite("restore", "c.zip").err
    shutil.rmtree("two")
    assert propcite("restore", "b.zip", "--into", "two", "-c", "notes").code == 0
    assert propcite("doctor").err.splitlines()[0] == "everything is as it should be"
