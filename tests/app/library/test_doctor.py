"""The doctor reports each problem in one line with its remedy, and repairs it."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commanded import Propcite, commanded
from sqlalchemy import text
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.ingest.sources import Upload
from propcite.app.library.doctor import Doctor, mend
from propcite.app.library.finding import Finding
from propcite.app.parts import Parts
from propcite.attribution import propositions
from propcite.attribution.judges import reader_files
from propcite.retrieval.encoding import bundled

OpenParts = Callable[..., Parts]
LETTERS = {"a.txt": "The heron stands in the reeds.", "b.txt": "The kingfisher dives for 3 fish."}


@pytest.fixture
def parts(open_parts: OpenParts) -> Parts:
    parts = open_parts(splitter="rules", judge="none")
    add(parts, LETTERS)
    parts.pipeline(parts.library.collection("letters")).cite("The heron stands in the reeds. It eats 9 fish.")
    return parts


def add(parts: Parts, texts: dict[str, str]) -> None:
    target = parts.library.create_collection("letters")
    list(parts.ingester(target).ingest([Upload(name, words.encode()) for name, words in texts.items()]))


def findings_of(parts: Parts, *, deep: bool = True) -> list[Finding]:
    """Return the findings that do not depend on the machine that runs the test."""
    return [one for one in Doctor(parts, deep=deep).findings() if not one.where.startswith("disk")]


def change(parts: Parts, statement: str) -> None:
    with parts.library.engine.begin() as connection:
        connection.execute(text(statement))


def lose_the_index(parts: Parts) -> None:
    for path in (parts.settings.data_dir / "indexes" / "1").glob("segment-*"):
        path.unlink()


def lose_a_document(parts: Parts) -> None:
    change(parts, "DELETE FROM documents WHERE source = 'a.txt'")


def leave_a_segment(parts: Parts) -> None:
    (parts.settings.data_dir / "indexes" / "1" / "segment-0123456789ab.tokens").write_bytes(b"x" * 2000)


def leave_an_index(parts: Parts) -> None:
    folder = parts.settings.data_dir / "indexes" / "77"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")


def leave_a_backup(parts: Parts) -> None:
    folder = parts.settings.data_dir / ".backup-x"
    folder.mkdir()
    os.utime(folder, (time.time() - 9000,) * 2)


def leave_uploads(parts: Parts) -> None:
    folder = parts.settings.data_dir / "uploads" / "1-a"
    folder.mkdir(parents=True)
    os.utime(folder, (time.time() - 9000,) * 2)


def leave_a_lock(parts: Parts) -> None:
    folder = parts.settings.data_dir / "runs"
    folder.mkdir()
    (folder / "nothing.lock").touch()


def lose_citations(parts: Parts) -> None:
    change(parts, "DELETE FROM citations")


def count_wrongly(parts: Parts) -> None:
    change(parts, "UPDATE answers SET num_facts = 7")


def orphan_rows(parts: Parts) -> None:
    with sqlite3.connect(parts.library.engine.url.database or "") as loose:  # which does not check foreign keys
        loose.execute(
            "INSERT INTO feedback VALUES ('f', 'no such answer', '', '', 'right', NULL, '', '', '2024-01-01 00:00:00')"
        )


PROBLEMS = [
    (lose_the_index, "damaged, missing", "propcite index check --repair -c letters, or --mend"),
    (lose_a_document, "1 passages are not in the library", "or --mend"),
    (leave_a_segment, "a stopped writer left 1 files (0.0 MB)", "--mend removes them"),
    (leave_an_index, "is the index of no collection", "--mend removes it"),
    (leave_a_backup, "was left by a stopped backup", "--mend removes it"),
    (leave_uploads, "was left by a stopped server", "--mend removes it"),
    (leave_a_lock, "1 lock files of runs that were removed", "--mend removes them"),
    (lose_citations, "its index columns differ", "--mend writes them again"),
    (count_wrongly, "its index columns differ", "--mend writes them again"),
    (orphan_rows, "1 rows of feedback refer to rows that do not exist", "--mend removes them"),
]


@pytest.mark.parametrize(("harm", "what", "remedy"), PROBLEMS)
def test_a_problem_is_reported_and_repaired(
    parts: Parts, harm: Callable[[Parts], None], what: str, remedy: str
) -> None:
    assert findings_of(parts) == []
    harm(parts)
    findings = findings_of(parts)
    assert what in findings[0].line
    assert remedy in findings[0].line
    assert all("\n" not in one.line for one in findings)
    done, left = mend(findings)
    assert (len(done), left) == (len(findings), [])
    assert findings_of(parts) == []
    assert parts.library.answers()
    assert parts.pipeline(parts.library.collection("letters")).search("kingfisher dives", k=1)


def test_an_unreadable_answer_is_reported_and_never_removed(parts: Parts) -> None:
    change(parts, "UPDATE answers SET body = '{}'")
    [finding] = findings_of(parts)
    assert "cannot be read" in finding.line
    assert "restore it from a backup" in finding.line
    assert mend([finding]) == ([], [finding])
    assert findings_of(parts, deep=False) == []
    assert len(parts.library.answers()) == 1


def test_a_collection_that_another_process_changes_is_not_checked(parts: Parts, open_parts: OpenParts) -> None:
    with open_parts().workspace(parts.library.collection("letters")).write_lock():
        [finding] = findings_of(parts)
    assert "is being changed by another process" in finding.line
    assert finding.fix is None
    assert findings_of(parts) == []


@pytest.mark.usefixtures("parts")
def test_indexes_of_another_database_are_left_alone(open_parts: OpenParts, tmp_path: Path) -> None:
    other = open_parts(database=f"sqlite:///{tmp_path / 'other.sqlite'}")
    [finding] = findings_of(other)
    assert "remove it by hand if no other database uses it" in finding.line
    assert mend([finding]) == ([], [finding])


def test_documents_that_a_stopped_server_accepted_are_never_removed(parts: Parts) -> None:
    job = parts.settings.data_dir / "uploads" / "0123" / "job"
    job.mkdir(parents=True)
    (job / "job.json").write_text("{}")
    [finding] = findings_of(parts)
    assert finding.remedy == "propcite serve reads them"
    assert mend([finding])[0] == []


def test_the_database_of_a_server_is_checked_too(open_parts: OpenParts, database_url: str) -> None:
    parts = open_parts(database=database_url, splitter="rules", judge="none")
    add(parts, LETTERS)
    assert findings_of(parts) == []
    lose_the_index(parts)
    assert findings_of(parts)


def test_a_missing_folder_of_a_model_is_reported(open_parts: OpenParts) -> None:
    [finding] = findings_of(open_parts(judge_model="/nowhere/judge"))
    assert finding.line == "settings: judge_model is /nowhere/judge, which does not exist: set PROPCITE_JUDGE_MODEL"


def test_damaged_and_missing_bundled_weights_are_reported(
    open_parts: OpenParts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = open_parts()
    assert findings_of(parts) == []
    for module, name in ((bundled, "QUERIES_FILE"), (bundled, "PASSAGES_FILE"), (propositions, "SPLITTER_WEIGHTS")):
        cut_short = tmp_path / f"{name}.safetensors"
        cut_short.write_bytes(getattr(module, name).read_bytes()[:-1000])
        monkeypatch.setattr(module, name, cut_short)
    monkeypatch.setattr(reader_files, "READER", tmp_path / "nothing")
    findings = findings_of(parts)
    assert [one.where for one in findings] == ["models"] * 5
    for one, name in zip(findings, ("QUERIES", "PASSAGES", "SPLITTER", "nothing", "questions"), strict=True):
        assert name in one.what
        assert "damaged or missing" in one.what
        assert one.remedy == "install PropCite again"


def test_the_command_prints_lines_and_sets_exit_codes(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    monkeypatch.setattr("propcite.app.library.doctor.MIN_FREE_BYTES", 0)
    propcite: Propcite = commanded(monkeypatch, capsys)
    assert propcite("doctor").code == 0
    lose_the_index(parts)
    leave_an_index(parts)
    result = propcite("doctor")
    assert (result.code, result.out) == (1, "")
    assert "collection letters: " in result.err
    only = propcite("doctor", "-c", "letters", "--json")
    assert (only.code, len(only.json["findings"])) == (1, result.err.count("\n") - 2)
    assert propcite("doctor", "-c", "nowhere").code == 2
    mended = propcite("doctor", "--mend")
    assert mended.code == 0
    assert mended.err.count("mended: ") == result.err.count("\n") - 1
    assert propcite("doctor", "--quick").err.splitlines()[0] == "everything is as it should be"
    parts.library.close()
    Path(parts.library.engine.url.database or "").write_bytes(b"no database " * 500)
    assert propcite("doctor").code == 2
