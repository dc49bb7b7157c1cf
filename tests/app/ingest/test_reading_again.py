"""Documents that an earlier version of the readers read are found and read again; what says the same stays as it is."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from commanded import Propcite
from sqlalchemy import text

from propcite.app.ingest.readers.kinds import READING_VERSIONS
from propcite.app.ingest.sources import Upload, gather
from propcite.app.library.rereading import sources_to_read_again
from propcite.app.library.store import DocumentInfo
from propcite.app.parts import Parts
from propcite.attribution.formats.cited_documents import REPLACED

OpenParts = Callable[..., Parts]
HERON = "The heron stands in the reeds. " * 30
BITTERN = "The bittern booms at dusk. " * 30


def add(parts: Parts, *sources: Path | Upload, again: bool = False) -> list[str]:
    target = parts.library.create_collection("birds")
    return [outcome.state for outcome in parts.ingester(target).ingest(sources, again=again)]


def documents(parts: Parts) -> dict[str, DocumentInfo]:
    return {Path(d.source).name: d for d in parts.library.documents(parts.library.collection("birds"))}


def as_read_before(parts: Parts, words: str = "") -> None:
    """Make the documents look as if an earlier version had read them, and had read other words if given."""
    with parts.library.engine.begin() as connection:
        connection.execute(text("UPDATE documents SET read_with = 1"))
        if words:
            connection.execute(text("UPDATE passages SET text = replace(text, 'reeds', :words)"), {"words": words})


def read_again(propcite: Propcite) -> dict[str, str]:
    rows = propcite("ingest", "--again", "-c", "birds", "--json").rows
    return {Path(row["source"]).name: row["state"] for row in rows}


def test_a_document_notes_the_version_that_read_it(open_parts: OpenParts, tmp_path: Path) -> None:
    (tmp_path / "heron.txt").write_text(HERON)
    (tmp_path / "birds.csv").write_text("bird,number\nheron,3\nbittern,4\n")
    parts = open_parts()
    add(parts, tmp_path / "heron.txt", tmp_path / "birds.csv")
    read_with = {name: info.read_with for name, info in documents(parts).items()}
    assert read_with == {"heron.txt": READING_VERSIONS["text"], "birds.csv": READING_VERSIONS.get("csv", 1)}


def test_only_what_was_read_before_is_read_again_and_the_same_text_stays(
    open_parts: OpenParts, propcite: Propcite, tmp_path: Path
) -> None:
    (tmp_path / "heron.txt").write_text(HERON)
    parts = open_parts()
    add(parts, tmp_path / "heron.txt", Upload("bittern.txt", BITTERN.encode()))
    before = documents(parts)
    as_read_before(parts)
    assert read_again(propcite) == {"heron.txt": "unchanged", "bittern.txt": "unchanged"}
    assert documents(parts) == before
    assert not parts.library.versions(parts.library.collection("birds"))
    said = propcite("ingest", "--again", "-c", "birds")
    assert (said.code, said.out) == (0, "")
    assert said.err == "birds: nothing was read by an earlier version of the readers\n"


def test_what_holds_html_is_read_again_when_html_is_read_better(
    open_parts: OpenParts, propcite: Propcite, tmp_path: Path
) -> None:
    page = f"<dl><dt>heron</dt><dd>{HERON}</dd></dl>"
    (tmp_path / "mail.eml").write_text(f"From: ana@example.org\nContent-Type: text/html\n\n{page}")
    (tmp_path / "note.md").write_text(f"# Birds\n\n{page}\n")
    parts = open_parts()
    add(parts, tmp_path / "mail.eml", tmp_path / "note.md")
    with parts.library.engine.begin() as connection:
        connection.execute(text("UPDATE documents SET read_with = 2"))
    assert read_again(propcite) == {"mail.eml": "unchanged", "note.md": "unchanged"}


def test_what_reads_differently_becomes_a_new_version_and_old_answers_say_so(
    open_parts: OpenParts, tmp_path: Path
) -> None:
    (tmp_path / "heron.txt").write_text(HERON)
    parts = open_parts(judge="none", splitter="rules")
    add(parts, tmp_path / "heron.txt")
    answer = parts.pipeline(parts.library.collection("birds")).cite("The heron stands in the reeds.")
    as_read_before(parts, "weeds")
    birds = parts.library.collection("birds")
    sources, _ = sources_to_read_again(parts.originals, birds, 2**20)
    assert [outcome.state for outcome in parts.ingester(birds).ingest(sources, again=True)] == ["changed"]
    new = documents(parts)["heron.txt"]
    assert parts.library.document(new.id).text == HERON
    assert [d.status for d in parts.library.cited_documents(answer).values()] == [REPLACED]
    assert not parts.workspace(birds).differs_from_library()


def test_the_id_of_a_former_reading_never_comes_back_with_other_words(open_parts: OpenParts, tmp_path: Path) -> None:
    note = tmp_path / "heron.txt"
    note.write_text(HERON)
    ids = []
    for words in (100, 20, 40, 60):
        parts = open_parts(passage_words=words)
        add(parts, note, again=True)
        ids.append(documents(parts)["heron.txt"].id)
    assert len(set(ids)) == 4
    note.write_text(BITTERN)
    parts = open_parts()
    add(parts, note)
    with parts.library.engine.begin() as connection:
        connection.execute(text("UPDATE versions SET read_with = 1"))
    note.write_text(HERON)
    add(parts, note)
    assert documents(parts)["heron.txt"].id not in ids


def test_members_of_archives_and_what_is_gone(open_parts: OpenParts, propcite: Propcite, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "birds.zip", "w") as archive:
        archive.writestr("heron.txt", HERON)
        archive.writestr("bittern.txt", BITTERN)
    (tmp_path / "note.txt").write_text("The tern dives for fish.")
    parts = open_parts(originals="none")
    add(parts, tmp_path / "birds.zip", tmp_path / "note.txt")
    parts.ingester(parts.library.collection("birds")).remove(documents(parts)["bittern.txt"].id)
    as_read_before(parts)
    (tmp_path / "note.txt").unlink()
    said = propcite("ingest", "--again", "-c", "birds")
    assert said.code == 1
    assert "note.txt" not in said.out
    assert "its file is gone and no copy is kept" in said.err
    assert said.out.count("heron.txt") == 1
    assert set(documents(parts)) == {"heron.txt", "note.txt"}
    assert not parts.library.failures(parts.library.collection("birds"))


def test_an_interrupted_run_is_continued_by_the_next(open_parts: OpenParts, tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"{number}.txt").write_text(f"{number} herons. {HERON}")
    parts = open_parts()
    add(parts, *(tmp_path / f"{number}.txt" for number in range(6)))
    as_read_before(parts)
    birds = parts.library.collection("birds")
    first, _ = sources_to_read_again(parts.originals, birds, 2**20)
    running = parts.ingester(birds).ingest(first, again=True)
    next(running)
    next(running)
    running.close()
    rest, _ = sources_to_read_again(parts.originals, birds, 2**20)
    assert len(rest) == 4
    assert {source.location for source in rest} < {source.location for source in first}


@pytest.mark.parametrize("words", [(), ("--again", "--prune"), ("--watch",)])
def test_paths_may_be_left_out_only_to_read_a_collection_again(propcite: Propcite, words: tuple[str, ...]) -> None:
    said = propcite("ingest", *words)
    assert said.code == 2
    assert "name a file, a folder or a web address" in said.err


def test_paths_and_again_still_read_those_paths(open_parts: OpenParts, tmp_path: Path) -> None:
    (tmp_path / "heron.txt").write_text(HERON)
    parts = open_parts()
    add(parts, tmp_path / "heron.txt")
    assert [source.location for source in gather([tmp_path / "heron.txt"])[0]] == [str(tmp_path / "heron.txt")]
    assert add(parts, tmp_path / "heron.txt", again=True) == ["unchanged"]
