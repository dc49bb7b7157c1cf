"""Ingesting into a collection: documents added, skipped and replaced, and crashes, kills and damage repaired."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import product
from pathlib import Path
from threading import Event
from typing import NoReturn

import pytest
from paths import SUPPORT
from word_encoder import WordEncoder

from propcite.app.errors import AppError, NotFoundError, StoreError
from propcite.app.ingest.ingester import Ingester
from propcite.app.ingest.outcomes import Outcome
from propcite.app.ingest.sources import Upload, gather
from propcite.app.library.store import CollectionInfo
from propcite.app.parts import Parts
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Passage

OpenParts = Callable[..., Parts]


class Letters:
    """A collection of letters, with the folder of their files."""

    def __init__(self, open_parts: OpenParts, folder: Path) -> None:
        self.open_parts = open_parts
        self.folder = folder
        self.folder.mkdir()

    def write(self, name: str, words: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(words)
        return path

    def ingest(self, *sources: Path | Upload, collection: str = "letters", **settings: object) -> list[Outcome]:
        """Ingest as a new process does."""
        parts = self.open_parts(**settings)
        follows = parts.settings.follow_links
        files, failed = ([], []) if sources else gather([self.folder], follow_links=follows)
        target = parts.library.create_collection(collection)
        return failed + list(parts.ingester(target).ingest(sources or files))

    def states(self, *sources: Path | Upload, **settings: object) -> dict[str, str]:
        return {Path(o.source).name: o.state for o in self.ingest(*sources, **settings)}

    @property
    def collection(self) -> CollectionInfo:
        return self.open_parts().library.collection("letters")

    @property
    def index_folder(self) -> Path:
        return self.open_parts().workspace(self.collection).folder

    def search(self, words: str, collection: str = "letters") -> str:
        """Return the file of the best passage if it has these words, else an empty string."""
        parts = self.open_parts()
        info = parts.library.collection(collection)
        best = parts.pipeline(info).search(words, k=1)[0]
        name = {d.id: Path(d.source).name for d in parts.library.documents(info)}[best.passage.document_id]
        return name if words in best.text else ""

    def check(self) -> None:
        """Check that the index has each of the library's passages once, and that the manifest names all its parts."""
        parts = self.open_parts()
        expected = parts.library.passage_ids(self.collection)
        index = parts.workspace(self.collection).index(parts.encoder)
        assert index.ids() == set(expected)
        assert len(index) == len(expected)
        assert len(list(self.index_folder.glob("segment-*.tokens"))) == index.stats().segments

    def cite(self, text: str) -> CitedAnswer:
        return self.open_parts().pipeline(self.collection).cite(text)


@pytest.fixture
def letters(open_parts: OpenParts, tmp_path: Path) -> Letters:
    return Letters(open_parts, tmp_path / "letters")


def refuse() -> NoReturn:
    raise AssertionError("the encoder was loaded")


def test_a_folder_is_ingested_and_searchable(letters: Letters) -> None:
    letters.write("one.txt", "The heron stands in the reeds. It waits.")
    letters.write("deep/two.md", "# Birds\n\nThe kingfisher dives.")
    letters.write("notes.xyz", "an unsupported type")
    outcomes = letters.ingest()
    assert [(Path(o.source).name, o.state, o.num_passages) for o in outcomes] == [
        ("two.md", "added", 1),
        ("one.txt", "added", 1),
    ]
    assert letters.search("heron stands") == "one.txt"
    assert letters.search("kingfisher dives") == "two.md"
    letters.check()


def test_a_second_run_changes_nothing_and_loads_no_encoder(letters: Letters) -> None:
    letters.write("one.txt", "The heron stands in the reeds.")
    letters.write("two.txt", "The kingfisher dives.")
    first = letters.ingest()
    parts = letters.open_parts()
    files, _ = gather([letters.folder])
    ingester = Ingester(parts.library, parts.workspace(letters.collection), refuse, passage_words=100, max_bytes=2**20)
    second = list(ingester.ingest(files))
    assert [o.state for o in second] == ["unchanged", "unchanged"]
    assert [(o.document_id, o.title, o.num_passages) for o in first] == [
        (o.document_id, o.title, o.num_passages) for o in second
    ]


def test_a_changed_file_replaces_its_old_version(letters: Letters) -> None:
    path = letters.write("one.txt", "The heron stands in the reeds.")
    letters.write("two.txt", "The kingfisher dives.")
    letters.ingest()
    old = letters.open_parts().library.passage_ids(letters.collection)
    path.write_text("The bittern booms at night.")
    assert letters.states() == {"one.txt": "changed", "two.txt": "unchanged"}
    assert letters.search("bittern booms") == "one.txt"
    assert letters.search("heron stands") == ""
    assert len(letters.open_parts().library.passages(old)) == 1
    letters.check()
    path.write_text("The heron stands in the reeds.")
    assert letters.states()["one.txt"] == "changed"
    assert set(letters.open_parts().library.passage_ids(letters.collection)) == set(old)
    letters.check()


def test_a_removed_document_is_not_found(letters: Letters) -> None:
    letters.write("one.txt", "The heron stands in the reeds.")
    letters.write("two.txt", "The kingfisher dives.")
    letters.ingest()
    parts = letters.open_parts()
    pipeline = parts.pipeline(letters.collection)  # opened before the removal, like that of an open page
    assert pipeline.search("heron", k=1)[0].text.startswith("The heron")
    parts.ingester(letters.collection).remove(parts.library.find_document(letters.collection, "one.txt").id)
    assert [hit.text for hit in pipeline.search("heron")] == ["The kingfisher dives."]
    letters.check()
    parts.ingester(letters.collection).remove(parts.library.find_document(letters.collection, "two.txt").id)
    with pytest.raises(NotFoundError, match="is empty: propcite ingest PATH --collection letters"):
        pipeline.search("heron")
    assert set(letters.states().values()) == {"added"}


def test_a_file_that_cannot_be_read_does_not_stop_the_rest(letters: Letters) -> None:
    letters.write("a.txt", "")
    letters.write("b b.pdf", "no pdf at all")
    letters.write("c.txt", "The heron stands.")
    letters.write("d.txt", "x" * 2**20)
    (letters.folder / "e.txt").symlink_to(letters.folder / "gone.txt")
    outcomes = {Path(o.source).name: o for o in letters.ingest(max_file_mb=1)}
    assert {name: o.state for name, o in outcomes.items()} == {
        "a.txt": "failed",
        "b b.pdf": "failed",
        "c.txt": "added",
        "d.txt": "added",
        "e.txt": "failed",
    }
    assert all(o.reason.startswith(name) and "\n" not in o.reason for name, o in outcomes.items() if o.reason)
    letters.write("d.txt", "x" * (2**20 + 1))
    large = letters.ingest(max_file_mb=1)[-1]
    assert "raise PROPCITE_MAX_FILE_MB" in large.reason
    assert len(letters.open_parts().library.documents(letters.collection)) == 2  # the old version stays
    letters.check()


def test_a_path_without_a_readable_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "my notes.xyz").write_text("x")
    (tmp_path / "empty folder").mkdir()
    names = ["my notes.xyz", "not there.txt", "empty folder"]
    files, outcomes = gather([tmp_path / name for name in names])
    assert files == []
    assert [(o.source, o.state) for o in outcomes] == [(str(tmp_path / name), "failed") for name in names]


def test_an_upload_is_identified_by_its_name(letters: Letters) -> None:
    one = Upload("birds.txt", b"The heron stands.")
    other = Upload("birds.txt", b"The bittern booms.")
    assert letters.states(one) == {"birds.txt": "added"}
    assert letters.states(one) == {"birds.txt": "unchanged"}
    assert letters.states(other) == {"birds.txt": "changed"}
    assert letters.search("bittern booms") == "birds.txt"
    assert [o.state for o in letters.ingest(one, one, other, one)] == ["changed", "unchanged", "changed", "changed"]
    letters.check()
    assert letters.states(Upload("birds.exe", b"x")) == {"birds.exe": "failed"}
    large = letters.ingest(Upload("large.txt", b"word " * 2**18), max_file_mb=1)
    assert "over the limit" in large[0].reason


def test_the_same_file_may_be_in_two_collections(letters: Letters) -> None:
    letters.write("one.txt", "The heron stands in the reeds.")
    letters.ingest()
    letters.ingest(collection="archive")
    parts = letters.open_parts()
    parts.ingester(letters.collection).remove(parts.library.documents(letters.collection)[0].id)
    assert letters.search("heron stands", "archive") == "one.txt"
    assert parts.library.documents(letters.collection) == []


@pytest.mark.postgres
def test_the_library_may_be_on_a_server(letters: Letters, postgres: str) -> None:
    server = {"database": postgres.format("postgres")}
    letters.write("one.txt", "The heron stands in the reeds.")
    assert letters.states(**server) == {"one.txt": "added"}
    assert letters.states(**server) == {"one.txt": "unchanged"}
    parts = letters.open_parts(**server)
    pipeline = parts.pipeline(parts.library.collection("letters"))
    answer = pipeline.cite("The heron stands in the reeds.")
    assert answer.citations[0].quote == "The heron stands in the reeds."
    assert parts.library.answer(answer.id) == answer


def test_a_name_that_is_not_utf8_and_a_link(letters: Letters, tmp_path: Path) -> None:
    with open(bytes(letters.folder) + b"/caf\xe9.txt", "w") as file:
        file.write("The heron stands.")
    (tmp_path / "blob").write_text("The bittern booms.")
    (letters.folder / "link.txt").symlink_to(tmp_path / "blob")
    assert letters.states() == {"caf\\xe9.txt": "added"}
    assert letters.states(follow_links=True) == {"caf\\xe9.txt": "unchanged", "blob": "added"}
    assert letters.states(follow_links=True) == {"caf\\xe9.txt": "unchanged", "blob": "unchanged"}
    assert letters.search("bittern booms") == "blob"
    assert {d.title for d in letters.open_parts().library.documents(letters.collection)} == {"caf\ufffd", "link"}


def test_a_text_without_words_is_added(letters: Letters) -> None:
    letters.write("a.txt", "…\n\n—\n")
    letters.write("b.txt", "The heron stands.")
    assert letters.states() == {"a.txt": "added", "b.txt": "added"}
    assert letters.states() == {"a.txt": "unchanged", "b.txt": "unchanged"}
    assert letters.search("heron") == "b.txt"
    letters.check()


def test_only_one_process_may_change_a_collection(letters: Letters) -> None:
    letters.write("one.txt", "The heron stands.")
    letters.ingest()
    letters.write("two.txt", "The kingfisher dives.")
    letters.write("three.txt", "The bittern booms.")
    parts = letters.open_parts()
    running = parts.ingester(letters.collection).ingest(gather([letters.folder])[0])
    next(running)
    writes: list[Callable[[], object]] = [
        letters.ingest,
        lambda: letters.open_parts().workspace(letters.collection).rebuild(parts.encoder),
        lambda: letters.open_parts().ingester(letters.collection).remove("any"),
    ]
    for write in writes:
        with pytest.raises(StoreError, match=r"^another process is changing 'letters': try again when it is done$"):
            write()
    assert letters.search("heron stands") == "one.txt"  # readers do not wait for the writer
    assert len(list(running)) == 2
    assert set(letters.states().values()) == {"unchanged"}


def test_a_lost_index_is_reported_and_rebuilt_by_the_next_ingest(letters: Letters) -> None:
    letters.write("one.txt", "The heron stands.")
    letters.ingest()
    for path in letters.index_folder.iterdir():
        path.unlink()
    with pytest.raises(AppError, match="run propcite reindex --collection letters"):
        letters.search("heron")
    letters.index_folder.rmdir()
    assert letters.states() == {"one.txt": "unchanged"}
    assert letters.search("heron stands") == "one.txt"
    letters.check()


def damage_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"format": 1, "segments": [')


def truncate_a_part(folder: Path) -> None:
    path = next(folder.glob("*.tokens"))
    path.write_bytes(path.read_bytes()[:-7])


def truncate_a_part_to_its_header(folder: Path) -> None:
    path = next(folder.glob("*.tokens"))
    path.write_bytes(path.read_bytes()[:100])


def lose_a_part(folder: Path) -> None:
    next(folder.glob("*.tokens")).unlink()


def change_a_number(folder: Path) -> None:
    path = next(folder.glob("*.tokens"))
    content = bytearray(path.read_bytes())
    content[100] ^= 0x55
    path.write_bytes(content)


def use_another_encoder(folder: Path) -> None:
    index = TokenIndex.load(folder)
    index.encoder = "letters@2"
    index.save(folder)


DAMAGES = [damage_manifest, truncate_a_part, truncate_a_part_to_its_header, lose_a_part]


@pytest.mark.parametrize(
    ("damage", "repair"), [*product(DAMAGES, [False, True]), (change_a_number, True), (use_another_encoder, False)]
)
def test_a_damaged_index_is_reported_and_repaired_and_answers_stay(
    letters: Letters, damage: Callable[[Path], None], repair: bool
) -> None:
    letters.write("one.txt", "The heron stands in the reeds. It eats 5 fish.")
    letters.ingest()
    letters.write("two.txt", "The kingfisher dives for 3 fish.")
    letters.ingest()
    answer = letters.cite("The heron stands in the reeds.")
    assert answer.citations
    assert letters.open_parts().workspace(letters.collection).faults() == []
    damage(letters.index_folder)
    letters.write("three.txt", "The bittern booms.")
    if damage is not change_a_number:  # only a check of the checksums notices this
        for use in (lambda: letters.search("heron"), letters.ingest):
            with pytest.raises(
                IndexFormatError, match=r"run propcite (reindex|index check --repair) --collection letters"
            ):
                use()
    parts = letters.open_parts()
    workspace = parts.workspace(letters.collection)
    if repair:
        assert workspace.faults()
        assert workspace.repair(lambda: parts.encoder) == (2 if damage is damage_manifest else 1)
        assert workspace.faults() == []
    else:
        assert workspace.rebuild(parts.encoder) == 2
    assert letters.search("heron stands") == "one.txt"
    assert letters.open_parts().library.answer(answer.id) == answer
    assert letters.cite("The heron stands in the reeds.").citations == answer.citations
    assert letters.states() == {"one.txt": "unchanged", "three.txt": "added", "two.txt": "unchanged"}
    letters.check()


class FailingEncoder(WordEncoder):
    """Interrupts a run between two batches."""

    def __init__(self, after: int) -> None:
        self.left = after

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().encode_passages(passages)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_stopped_rebuild_and_a_stopped_large_file_are_finished_by_the_next_run(
    letters: Letters, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("propcite.app.library.workspace.BATCH", 2)
    monkeypatch.setattr("propcite.app.ingest.ingester.BATCH", 2)
    letters.write("large.txt", "\n\n".join(f"The heron number {n} stands alone. " * 4 for n in range(9)))
    parts = letters.open_parts(passage_words=20)
    parts.__dict__["encoder"] = FailingEncoder(after)
    target = parts.library.create_collection("letters")
    with pytest.raises(KeyboardInterrupt):
        list(parts.ingester(target).ingest(gather([letters.folder])[0]))
    assert letters.open_parts().library.documents(target) == []  # whole or not at all
    with suppress(NotFoundError):  # before the first batch there is no index
        assert letters.open_parts().pipeline(target).search("heron") == []
    assert letters.ingest(passage_words=20)[0].num_passages > 4
    letters.check()
    with pytest.raises(KeyboardInterrupt):
        letters.open_parts().workspace(target).rebuild(FailingEncoder(after))
    assert letters.states() == {"large.txt": "unchanged"}
    letters.check()


def test_a_killed_ingest_loses_and_duplicates_nothing(letters: Letters, tmp_path: Path) -> None:
    """Kill processes at many moments; each next process starts from the files on disk."""
    for version in ("first", "second"):
        for number in range(16):
            letters.write(
                f"{number}.txt", f"Letter{number} in its {version} version. It was written by author{number}."
            )
        killed = subprocess.run(
            [sys.executable, SUPPORT / "killed_ingests.py", tmp_path / "data", letters.folder, version],
            env={},
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert killed.returncode == 0, killed.stderr
        assert int(killed.stdout) > 1
        assert set(letters.states().values()) == {"unchanged"}
        letters.write("after.txt", f"A letter that was written after the {version} version.")
        assert letters.states()["after.txt"] in (
            "added",
            "changed",
        )  # a writer deletes what a kill left behind
        assert len(letters.open_parts().library.documents(letters.collection)) == 17
        letters.check()
        assert [letters.search(f"Letter{n} in its {version}") for n in (0, 7, 15)] == ["0.txt", "7.txt", "15.txt"]


def test_a_reader_sees_a_whole_index_while_it_grows_and_shrinks(letters: Letters) -> None:
    """Parts of the index are merged and removed while the reader uses them."""
    parts, reader = letters.open_parts(), letters.open_parts()
    target = parts.library.create_collection("letters")
    names = [f"{n % 20}.txt" for n in range(60)]
    uploads = [Upload(name, f"The heron stands, {n}.".encode()) for n, name in enumerate(names)]
    counts: list[int] = []
    ended = Event()

    def read() -> None:
        while not ended.is_set():
            counts.append(len(reader.pipeline(target).search("heron", k=100)))

    list(parts.ingester(target).ingest(uploads[:1]))
    reader.pipeline(target).search("heron")  # PyTorch is loaded now
    with ThreadPoolExecutor() as pool:
        reader_result = pool.submit(read)
        list(parts.ingester(target).ingest(uploads[1:]))
        ended.set()
        reader_result.result()
    assert min(counts) > 0
    assert len(counts) > 10
    assert len(reader.pipeline(target).search("heron", k=100)) == 20
    letters.check()
