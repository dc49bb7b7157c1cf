"""Links that lead out of a folder that is ingested are read only when they are asked for."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from propcite.app.ingest.sources import gather
from propcite.app.ingest.watcher import watch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file, links to it and to its folder, and three links that lead out."""
    secret, folder = tmp_path / "secret", tmp_path / "shared"
    for place in (secret, folder / "inner"):
        place.mkdir(parents=True)
    (secret / "key.txt").write_text("The key is 1234.")
    (folder / "gates.txt").write_text("The barrier has gates.")
    (folder / "inner" / "back.txt").symlink_to(folder / "gates.txt")
    (folder / "again").symlink_to(folder / "inner")
    (folder / "key.txt").symlink_to(secret / "key.txt")
    (folder / "out").symlink_to(secret)
    (folder / "inner" / "relative.txt").symlink_to(Path("../../secret/key.txt"))
    return folder


def names(folder: Path, **options: bool) -> tuple[list[str], list[str]]:
    lines: list[str] = []
    sources, failed = gather([folder], report=lines.append, **options)
    assert failed == []
    return sorted(Path(source.location).name for source in sources), lines


def test_they_are_left_out_and_counted(folder: Path) -> None:
    found, lines = names(folder)
    assert found == ["gates.txt"]
    (line,) = lines
    assert "3 links lead out of it" in line
    assert "--follow-links" in line


def test_they_are_read_on_request(folder: Path) -> None:
    assert names(folder, follow_links=True) == (["gates.txt", "key.txt"], [])


def test_a_link_that_is_named_itself_is_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "named").symlink_to(folder)
    assert names(tmp_path / "named")[0] == ["gates.txt"]
    assert names(folder / "key.txt") == (["key.txt"], [])


@pytest.mark.parametrize(("follow_links", "expected"), [(False, {"new.txt"}), (True, {"new.txt", "other.txt"})])
def test_a_watch_leaves_them_out_too(folder: Path, tmp_path: Path, follow_links: bool, expected: set[str]) -> None:
    stop, seen = Event(), set[str]()
    for number, changes in enumerate(watch([folder], stop, 50, follow_links=follow_links)):
        if not number:
            (tmp_path / "secret" / "more.txt").write_text("More.")
            (folder / "other.txt").symlink_to(tmp_path / "secret" / "more.txt")
            (folder / "new.txt").write_text("New.")
        seen |= {source.path.name for source in changes.sources}
        if expected <= seen:
            stop.set()
    assert seen >= expected
    assert bool(seen & {"other.txt", "more.txt"}) is follow_links
