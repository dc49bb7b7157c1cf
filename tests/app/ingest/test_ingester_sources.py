"""Ingesting files, archives and web pages: moved, copied, changed and removed ones, progress, and watched folders."""

from __future__ import annotations

import os
import random
import shutil
import threading
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from propcite.app.errors import AppError
from propcite.app.ingest.ingester import Ingester
from propcite.app.ingest.outcomes import Outcome, Progress
from propcite.app.ingest.sources import Upload, WebFile, gather
from propcite.app.ingest.watcher import watch
from propcite.app.parts import Parts

OpenParts = Callable[..., Parts]
HERON = "The heron stands in the reeds. It waits for fish."
BITTERN = "The bittern booms at night. Nobody sees it."


class Birds:
    """A collection of the documents in one folder."""

    def __init__(self, open_parts: OpenParts, folder: Path) -> None:
        self.open_parts, self.folder = open_parts, folder
        folder.mkdir()

    def write(self, name: str, words: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(words)
        return path

    @property
    def parts(self) -> Parts:
        return self.open_parts()

    @property
    def ingester(self) -> Ingester:
        parts = self.parts
        return parts.ingester(parts.library.create_collection("birds"))

    def ingest(self) -> list[Outcome]:
        sources, failed = gather([self.folder])
        return failed + list(self.ingester.ingest(sources))

    def states(self) -> dict[str, str]:
        return {str(Path(o.source).relative_to(self.folder)): o.state for o in self.ingest()}

    def sources(self) -> list[str]:
        parts = self.parts
        return [d.source for d in parts.library.documents(parts.library.collection("birds"))]

    def search(self, words: str) -> str:
        """Return the name of the file with these words."""
        parts = self.parts
        collection = parts.library.collection("birds")
        best = parts.pipeline(collection).search(words, k=1)[0]
        assert words in best.text
        return os.path.basename(parts.library.sources([best.passage.document_id])[best.passage.document_id])

    def check(self) -> None:
        parts = self.parts
        assert parts.workspace(parts.library.collection("birds")).faults() == []


@pytest.fixture
def birds(open_parts: OpenParts, tmp_path: Path) -> Birds:
    return Birds(open_parts, tmp_path / "birds")


# Recognized documents


def test_a_moved_file_is_recognized_and_not_read_again(birds: Birds) -> None:
    old = birds.write("heron.txt", HERON)
    first = birds.ingest()[0]
    old.rename(birds.write("deep/other.txt", ""))
    moved = birds.ingest()
    assert [(o.state, o.document_id, o.reason) for o in moved] == [("moved", first.document_id, f"from {old}")]
    assert birds.sources() == [str(birds.folder / "deep/other.txt")]
    assert birds.search("heron stands") == "other.txt"
    assert birds.states() == {"deep/other.txt": "unchanged"}
    birds.check()


def test_a_file_at_the_old_place_of_a_moved_one_is_a_document_of_its_own(birds: Birds) -> None:
    place = birds.write("a.txt", HERON)
    birds.ingest()
    place.rename(birds.folder / "b.txt")
    birds.ingest()
    birds.write("a.txt", BITTERN)
    assert birds.states() == {"a.txt": "added", "b.txt": "unchanged"}
    birds.write("a.txt", HERON)  # its first content, whose id the moved one kept
    assert birds.states() == {"a.txt": "changed", "b.txt": "unchanged"}
    assert len(set(birds.sources())) == 2
    birds.check()


def test_a_copy_is_not_added_again_until_the_other_is_gone(birds: Birds) -> None:
    first = birds.write("a.txt", HERON)
    birds.write("b.txt", HERON)
    outcomes = birds.ingest()
    assert [(o.state, o.reason) for o in outcomes] == [("added", ""), ("duplicate", f"the same as {first}")]
    assert birds.sources() == [str(first)]
    first.write_text(BITTERN)
    assert birds.states() == {"a.txt": "changed", "b.txt": "added"}
    assert birds.search("heron stands") == "b.txt"
    birds.check()


def test_near_duplicates_are_both_added_and_reported(birds: Birds) -> None:
    words = [f"{word}{n}" for n in range(50) for word in ("heron", "reed", "fish", "water")]
    one = birds.write("one.txt", " ".join(words))
    birds.write("two.txt", " ".join([*words[:-2], "at", "dusk"]))
    birds.write("three.txt", BITTERN * 9)
    outcomes = {Path(o.source).name: o for o in birds.ingest()}
    assert {name: o.state for name, o in outcomes.items()} == dict.fromkeys(
        ("one.txt", "two.txt", "three.txt"), "added"
    )
    assert [alike.source for alike in outcomes["two.txt"].alike] == [str(one)]
    assert outcomes["two.txt"].alike[0].share > 0.85
    assert outcomes["three.txt"].alike == outcomes["one.txt"].alike == ()
    birds.write("four.txt", " ".join(["Dusk.", *words]))  # signatures are stored for later runs
    assert {a.source for o in birds.ingest() for a in o.alike} == {str(one), str(birds.folder / "two.txt")}


def test_unchanged_documents_are_read_again_on_request(birds: Birds) -> None:
    birds.write("heron.txt", HERON)
    birds.write("bittern.txt", BITTERN)
    birds.ingest()
    for _ in range(2):
        again = list(birds.ingester.ingest(gather([birds.folder])[0], again=True))
        assert [(o.state, o.reason) for o in again] == [("unchanged", "read again, the same text")] * 2
        assert birds.search("heron stands") == "heron.txt"
        assert len(birds.sources()) == 2
        birds.check()
    assert set(birds.states().values()) == {"unchanged"}


def test_a_legacy_document_in_a_folder_is_reported_and_a_picture_is_not(birds: Birds) -> None:
    for name in ("heron.txt", "heron.doc", "heron.gif", ".hidden.doc"):
        birds.write(name, HERON)
    outcomes = birds.ingest()
    assert {Path(o.source).name: o.state for o in outcomes} == {"heron.txt": "added", "heron.doc": "failed"}
    assert "save it as .docx" in outcomes[0].reason


def test_outcomes_are_in_the_order_of_the_sources(birds: Birds) -> None:
    chance = random.Random(3)
    names = [f"{n:02}.{chance.choice(['txt', 'html', 'csv', 'md'])}" for n in range(30)]
    for n, name in enumerate(names):
        birds.write(name, f"Letter {n} came.\n\nIt was short, and number {n} of all.")
    birds.write("12.txt", "")
    outcomes = birds.ingest()
    assert [Path(o.source).name for o in outcomes] == sorted({*names, "12.txt"})
    assert {o.state for o in outcomes if not o.source.endswith("12.txt")} == {"added"}
    birds.check()


def test_progress_and_timings_are_reported(birds: Birds) -> None:
    for n in range(5):
        birds.write(f"{n}.txt", f"{HERON} {n}")
    reports: list[Progress] = []
    parts = birds.parts
    ingester = parts.ingester(parts.library.create_collection("birds"), progress=reports.append)
    list(ingester.ingest(gather([birds.folder])[0]))
    assert [progress.done for progress in reports] == [1, 2, 3, 4, 5]
    assert {progress.total for progress in reports} == {5}
    shares = [progress.share for progress in reports]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert reports[-1].passages == 5
    assert reports[-1].seconds_left == 0.0
    assert {"parse", "encode", "index", "database"} <= ingester.timer.spent.keys()
    assert min(ingester.timer.spent.values()) >= 0


# Archives and web pages


def test_each_file_of_an_archive_is_a_document_of_its_own(birds: Birds) -> None:
    with zipfile.ZipFile(birds.folder / "papers.zip", "w") as archive:
        archive.writestr("2024/heron.txt", HERON)
        archive.writestr("2024/empty.txt", "")
        archive.writestr("bittern.md", f"# Birds\n\n{BITTERN}")
    place = f"{birds.folder / 'papers.zip'}!/"
    outcomes = {o.source.removeprefix(place): o.state for o in birds.ingest()}
    assert outcomes == {"2024/empty.txt": "failed", "2024/heron.txt": "added", "bittern.md": "added"}
    assert birds.search("heron stands") == "heron.txt"
    assert {o.state for o in birds.ingest()} == {"failed", "unchanged"}
    with zipfile.ZipFile(birds.folder / "papers.zip", "w") as archive:
        archive.writestr("2024/heron.txt", f"{HERON} Again.")
    assert [o.state for o in birds.ingest()] == ["changed"]
    data = (birds.folder / "papers.zip").read_bytes()
    (birds.folder / "papers.zip").unlink()
    assert [o.state for o in birds.ingester.ingest([Upload("sent.zip", data)])] == ["moved"]
    large = Upload("large.zip", b"PK" + bytes(65 * 2**20))
    sent = list(birds.ingester.ingest([large, Upload("tern.txt", b"The tern dives.")]))
    assert [(o.source, o.state) for o in sent] == [("large.zip", "failed"), ("tern.txt", "added")]
    assert "over the limit" in sent[0].reason
    broken = list(birds.ingester.ingest([Upload("broken.zip", data[:40])]))
    assert [o.state for o in broken] == ["failed"]
    assert "broken.zip" in broken[0].reason
    birds.check()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "birds.html").write_text(f"<html><title>Birds</title><p>{HERON}</p></html>")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "site")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_a_web_page_is_a_document_identified_by_its_address(birds: Birds, site: str) -> None:
    sources, failed = gather([f"{site}/birds.html", f"{site}/gone.html"])
    assert failed == []
    added, gone = birds.ingester.ingest(sources)
    assert (added.source, added.state, added.title) == (f"{site}/birds.html", "added", "Birds")
    assert (gone.state, "404" in gone.reason) == ("failed", True)
    assert birds.search("heron stands") == "birds.html"
    assert [o.state for o in birds.ingester.ingest([WebFile(f"{site}/birds.html", private=True)])] == ["unchanged"]
    refused = next(birds.ingester.ingest([WebFile(f"{site}/birds.html")]))
    assert (refused.state, "inside this network" in refused.reason) == ("failed", True)


# Removed and changed files


def test_documents_whose_files_are_gone_are_removed_only_on_request(birds: Birds, tmp_path: Path) -> None:
    birds.write("heron.txt", HERON)
    birds.write("bittern.txt", BITTERN)
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text("The tern dives.")
    list(birds.ingester.ingest([*gather([birds.folder, elsewhere])[0], Upload("sent.txt", b"The rail hides.")]))
    (birds.folder / "heron.txt").unlink()
    elsewhere.unlink()
    assert birds.states() == {"bittern.txt": "unchanged"}
    assert len(birds.sources()) == 4
    removed = list(birds.ingester.prune([birds.folder]))
    assert [(Path(o.source).name, o.state) for o in removed] == [("heron.txt", "removed")]
    assert len(birds.sources()) == 3
    shutil.rmtree(birds.folder)  # an unmounted disk must not remove documents
    assert list(birds.ingester.prune([birds.folder])) == []
    birds.check()


def test_changes_in_a_folder_are_reported_once_it_is_quiet(birds: Birds) -> None:
    birds.write("bittern.txt", BITTERN)
    stop = threading.Event()
    batches = watch([birds.folder], stop, quiet_ms=100)
    assert next(batches).sources == []  # the watch has begun
    threading.Timer(0.5, birds.write, ("heron.txt", HERON)).start()
    threading.Timer(0.5, birds.write, ("unsupported.xyz", HERON)).start()
    threading.Timer(0.5, birds.write, (".hidden.txt", HERON)).start()
    first = next(batches)
    assert [source.name for source in first.sources] == ["heron.txt"]
    assert [o.state for o in birds.ingester.ingest(first.sources)] == ["added"]
    threading.Timer(0.5, (birds.folder / "heron.txt").rename, [birds.folder / "moved.txt"]).start()
    second = next(batches)
    assert second.deleted
    assert [source.name for source in second.sources] == ["moved.txt"]
    assert [o.state for o in birds.ingester.ingest(second.sources)] == ["moved"]
    stop.set()
    assert list(batches) == []


def test_a_missing_folder_is_not_watched(tmp_path: Path) -> None:
    with pytest.raises(AppError, match=r"cannot be watched: name files and folders that exist"):
        next(watch([tmp_path / "gone"]))
