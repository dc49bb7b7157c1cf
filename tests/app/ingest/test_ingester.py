"""Files into a collection: what is added, skipped, replaced, lost and mended, whatever interrupts it."""

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


class House:
    """One collection of letters, with the folder that it is made from."""

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
        """As a new process would."""
        parts = self.open_parts(**settings)
        files, failed = ([], []) if sources else gather([self.folder])
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

    def found(self, words: str, collection: str = "letters") -> str:
        """The file that the best passage comes from, if it holds these words."""
        parts = self.open_parts()
        chosen = parts.library.collection(collection)
        best = parts.pipeline(chosen).search(words, k=1)[0]
        name = {d.id: Path(d.source).name for d in parts.library.documents(chosen)}[best.passage.document_id]
        return name if words in best.text else ""

    def check(self) -> None:
        """The index holds the library's passages, each once, and no part that the manifest does not name."""
        parts = self.open_parts()
        wanted = parts.library.passage_ids(self.collection)
        index = parts.workspace(self.collection).index(parts.encoder)
        assert index.ids() == set(wanted)
        assert len(index) == len(wanted)
        assert len(list(self.index_folder.glob("segment-*.tokens"))) == index.stats().segments

    def cite(self, text: str) -> CitedAnswer:
        return self.open_parts().pipeline(self.collection).cite(text)


@pytest.fixture
def house(open_parts: OpenParts, tmp_path: Path) -> House:
    return House(open_parts, tmp_path / "letters")


def refuse() -> NoReturn:
    raise AssertionError("the encoder was loaded")


def test_a_folder_is_ingested_and_searchable(house: House) -> None:
    house.write("one.txt", "The heron stands in the reeds. It waits.")
    house.write("deep/two.md", "# Birds\n\nThe kingfisher dives.")
    house.write("notes.xyz", "of no kind that can be read")
    outcomes = house.ingest()
    assert [(Path(o.source).name, o.state, o.num_passages) for o in outcomes] == [
        ("two.md", "added", 1),
        ("one.txt", "added", 1),
    ]
    assert house.found("heron stands") == "one.txt"
    assert house.found("kingfisher dives") == "two.md"
    house.check()


def test_a_second_run_changes_nothing_and_loads_no_encoder(house: House) -> None:
    house.write("one.txt", "The heron stands in the reeds.")
    house.write("two.txt", "The kingfisher dives.")
    first = house.ingest()
    parts = house.open_parts()
    files, _ = gather([house.folder])
    ingester = Ingester(parts.library, parts.workspace(house.collection), refuse, passage_words=100, most_bytes=2**20)
    second = list(ingester.ingest(files))
    assert [o.state for o in second] == ["unchanged", "unchanged"]
    assert [(o.document_id, o.title, o.num_passages) for o in first] == [
        (o.document_id, o.title, o.num_passages) for o in second
    ]


def test_a_changed_file_takes_the_place_of_its_old_version(house: House) -> None:
    path = house.write("one.txt", "The heron stands in the reeds.")
    house.write("two.txt", "The kingfisher dives.")
    house.ingest()
    old = house.open_parts().library.passage_ids(house.collection)
    path.write_text("The bittern booms at night.")
    assert house.states() == {"one.txt": "changed", "two.txt": "unchanged"}
    assert house.found("bittern booms") == "one.txt"
    assert house.found("heron stands") == ""
    assert len(house.open_parts().library.passages(old)) == 1
    house.check()
    path.write_text("The heron stands in the reeds.")
    assert house.states()["one.txt"] == "changed"
    assert set(house.open_parts().library.passage_ids(house.collection)) == set(old)
    house.check()


def test_a_removed_document_is_not_found(house: House) -> None:
    house.write("one.txt", "The heron stands in the reeds.")
    house.write("two.txt", "The kingfisher dives.")
    house.ingest()
    parts = house.open_parts()
    pipeline = parts.pipeline(house.collection)  # opened before, as a page holds it
    assert pipeline.search("heron", k=1)[0].text.startswith("The heron")
    parts.ingester(house.collection).remove(parts.library.find_document(house.collection, "one.txt").id)
    assert [hit.text for hit in pipeline.search("heron")] == ["The kingfisher dives."]
    house.check()
    parts.ingester(house.collection).remove(parts.library.find_document(house.collection, "two.txt").id)
    with pytest.raises(NotFoundError, match="is empty: propcite ingest PATH --collection letters"):
        pipeline.search("heron")
    assert set(house.states().values()) == {"added"}


def test_a_file_that_cannot_be_read_does_not_stop_the_rest(house: House) -> None:
    house.write("a.txt", "")
    house.write("b b.pdf", "no pdf at all")
    house.write("c.txt", "The heron stands.")
    house.write("d.txt", "x" * 2**20)
    (house.folder / "e.txt").symlink_to(house.folder / "gone.txt")
    outcomes = {Path(o.source).name: o for o in house.ingest(max_file_mb=1)}
    assert {name: o.state for name, o in outcomes.items()} == {
        "a.txt": "failed",
        "b b.pdf": "failed",
        "c.txt": "added",
        "d.txt": "added",
        "e.txt": "failed",
    }
    assert all(o.reason.startswith(name) and "\n" not in o.reason for name, o in outcomes.items() if o.reason)
    house.write("d.txt", "x" * (2**20 + 1))
    large = house.ingest(max_file_mb=1)[-1]
    assert "raise PROPCITE_MAX_FILE_MB" in large.reason
    assert len(house.open_parts().library.documents(house.collection)) == 2  # its old version stays
    house.check()


def test_a_path_that_names_no_file_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "my notes.xyz").write_text("x")
    (tmp_path / "empty folder").mkdir()
    names = ["my notes.xyz", "not there.txt", "empty folder"]
    files, outcomes = gather([tmp_path / name for name in names])
    assert files == []
    assert [(o.source, o.state) for o in outcomes] == [(str(tmp_path / name), "failed") for name in names]


def test_an_upload_is_known_by_its_name(house: House) -> None:
    one = Upload("birds.txt", b"The heron stands.")
    other = Upload("birds.txt", b"The bittern booms.")
    assert house.states(one) == {"birds.txt": "added"}
    assert house.states(one) == {"birds.txt": "unchanged"}
    assert house.states(other) == {"birds.txt": "changed"}
    assert house.found("bittern booms") == "birds.txt"
    assert [o.state for o in house.ingest(one, one, other, one)] == ["changed", "unchanged", "changed", "changed"]
    house.check()
    assert house.states(Upload("birds.exe", b"x")) == {"birds.exe": "failed"}
    large = house.ingest(Upload("large.txt", b"word " * 2**18), max_file_mb=1)
    assert "over the limit" in large[0].reason


def test_the_same_file_may_be_in_two_collections(house: House) -> None:
    house.write("one.txt", "The heron stands in the reeds.")
    house.ingest()
    house.ingest(collection="archive")
    parts = house.open_parts()
    parts.ingester(house.collection).remove(parts.library.documents(house.collection)[0].id)
    assert house.found("heron stands", "archive") == "one.txt"
    assert parts.library.documents(house.collection) == []


@pytest.mark.postgres
def test_the_library_may_be_on_a_server(house: House, postgres: str) -> None:
    server = {"database": postgres.format("postgres")}
    house.write("one.txt", "The heron stands in the reeds.")
    assert house.states(**server) == {"one.txt": "added"}
    assert house.states(**server) == {"one.txt": "unchanged"}
    parts = house.open_parts(**server)
    pipeline = parts.pipeline(parts.library.collection("letters"))
    answer = pipeline.cite("The heron stands in the reeds.")
    assert answer.citations[0].quote == "The heron stands in the reeds."
    assert parts.library.answer(answer.id) == answer


def test_a_name_that_is_not_utf8_and_a_link_are_kept_as_what_they_are(house: House, tmp_path: Path) -> None:
    with open(bytes(house.folder) + b"/caf\xe9.txt", "w") as file:
        file.write("The heron stands.")
    (tmp_path / "blob").write_text("The bittern booms.")
    (house.folder / "link.txt").symlink_to(tmp_path / "blob")
    assert house.states() == {"caf\\xe9.txt": "added", "blob": "added"}
    assert house.states() == {"caf\\xe9.txt": "unchanged", "blob": "unchanged"}
    assert house.found("bittern booms") == "blob"
    assert {d.title for d in house.open_parts().library.documents(house.collection)} == {"caf\ufffd", "link"}


def test_a_text_without_a_word_harms_nothing(house: House) -> None:
    house.write("a.txt", "…\n\n—\n")
    house.write("b.txt", "The heron stands.")
    assert house.states() == {"a.txt": "added", "b.txt": "added"}
    assert house.states() == {"a.txt": "unchanged", "b.txt": "unchanged"}
    assert house.found("heron") == "b.txt"
    house.check()


def test_only_one_process_may_change_a_collection(house: House) -> None:
    house.write("one.txt", "The heron stands.")
    house.ingest()
    house.write("two.txt", "The kingfisher dives.")
    house.write("three.txt", "The bittern booms.")
    parts = house.open_parts()
    running = parts.ingester(house.collection).ingest(gather([house.folder])[0])
    next(running)
    writes: list[Callable[[], object]] = [
        house.ingest,
        lambda: house.open_parts().workspace(house.collection).rebuild(parts.encoder),
        lambda: house.open_parts().ingester(house.collection).remove("any"),
    ]
    for write in writes:
        with pytest.raises(StoreError, match=r"^another process is changing 'letters': try again when it is done$"):
            write()
    assert house.found("heron stands") == "one.txt"  # reading waits for nobody
    assert len(list(running)) == 2
    assert set(house.states().values()) == {"unchanged"}


def test_a_lost_index_is_told_and_mended_by_the_next_ingest(house: House) -> None:
    house.write("one.txt", "The heron stands.")
    house.ingest()
    for path in house.index_folder.iterdir():
        path.unlink()
    with pytest.raises(AppError, match="run propcite reindex --collection letters"):
        house.found("heron")
    house.index_folder.rmdir()
    assert house.states() == {"one.txt": "unchanged"}
    assert house.found("heron stands") == "one.txt"
    house.check()


def damage_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"format": 1, "segments": [')


def cut_a_part(folder: Path) -> None:
    path = next(folder.glob("*.tokens"))
    path.write_bytes(path.read_bytes()[:-7])


def cut_a_part_to_its_beginning(folder: Path) -> None:
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


DAMAGES = [damage_manifest, cut_a_part, cut_a_part_to_its_beginning, lose_a_part]


@pytest.mark.parametrize(
    ("damage", "repair"), [*product(DAMAGES, [False, True]), (change_a_number, True), (use_another_encoder, False)]
)
def test_a_damaged_index_is_told_and_mended_and_answers_stay(
    house: House, damage: Callable[[Path], None], repair: bool
) -> None:
    house.write("one.txt", "The heron stands in the reeds. It eats 5 fish.")
    house.ingest()
    house.write("two.txt", "The kingfisher dives for 3 fish.")
    house.ingest()
    answer = house.cite("The heron stands in the reeds.")
    assert answer.citations
    assert house.open_parts().workspace(house.collection).faults() == []
    damage(house.index_folder)
    house.write("three.txt", "The bittern booms.")
    if damage is not change_a_number:  # which is among the numbers that only a check reads
        for use in (lambda: house.found("heron"), house.ingest):
            with pytest.raises(
                IndexFormatError, match=r"run propcite (reindex|index check --repair) --collection letters"
            ):
                use()
    parts = house.open_parts()
    workspace = parts.workspace(house.collection)
    if repair:
        assert workspace.faults()
        assert workspace.repair(lambda: parts.encoder) == (2 if damage is damage_manifest else 1)
        assert workspace.faults() == []
    else:
        assert workspace.rebuild(parts.encoder) == 2
    assert house.found("heron stands") == "one.txt"
    assert house.open_parts().library.answer(answer.id) == answer
    assert house.cite("The heron stands in the reeds.").citations == answer.citations
    assert house.states() == {"one.txt": "unchanged", "three.txt": "added", "two.txt": "unchanged"}
    house.check()


class FailingEncoder(WordEncoder):
    """Stands for anything that stops a run between two batches."""

    def __init__(self, after: int) -> None:
        self.left = after

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().encode_passages(passages)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_stopped_rebuild_and_a_stopped_large_file_are_finished_by_the_next_run(
    house: House, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("propcite.app.library.workspace.BATCH", 2)
    monkeypatch.setattr("propcite.app.ingest.run.BATCH", 2)
    house.write("large.txt", "\n\n".join(f"The heron number {n} stands alone. " * 4 for n in range(9)))
    parts = house.open_parts(passage_words=20)
    parts.__dict__["encoder"] = FailingEncoder(after)
    target = parts.library.create_collection("letters")
    with pytest.raises(KeyboardInterrupt):
        list(parts.ingester(target).ingest(gather([house.folder])[0]))
    assert house.open_parts().library.documents(target) == []  # whole or not at all
    with suppress(NotFoundError):  # before the first batch there is no index at all
        assert house.open_parts().pipeline(target).search("heron") == []
    assert house.ingest(passage_words=20)[0].num_passages > 4
    house.check()
    with pytest.raises(KeyboardInterrupt):
        house.open_parts().workspace(target).rebuild(FailingEncoder(after))
    assert house.states() == {"large.txt": "unchanged"}
    house.check()


def test_a_killed_ingest_loses_and_doubles_nothing(house: House, tmp_path: Path) -> None:
    """kill -9 at many moments; what is on disk then is what the next process starts from."""
    for version in ("first", "second"):
        for number in range(16):
            house.write(f"{number}.txt", f"Letter{number} in its {version} version. It was written by author{number}.")
        killed = subprocess.run(
            [sys.executable, SUPPORT / "killed_ingests.py", tmp_path / "data", house.folder, version],
            env={},
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert killed.returncode == 0, killed.stderr
        assert int(killed.stdout) > 1
        assert set(house.states().values()) == {"unchanged"}
        house.write("after.txt", f"What was written after the {version} version.")
        assert house.states()["after.txt"] in ("added", "changed")  # a writer sweeps what a kill left unnamed
        assert len(house.open_parts().library.documents(house.collection)) == 17
        house.check()
        assert [house.found(f"Letter{n} in its {version}") for n in (0, 7, 15)] == ["0.txt", "7.txt", "15.txt"]


def test_a_reader_sees_a_whole_index_while_it_grows_and_shrinks(house: House) -> None:
    """The parts of an index are joined and removed under the reader's hands."""
    parts, reader = house.open_parts(), house.open_parts()
    target = parts.library.create_collection("letters")
    names = [f"{n % 20}.txt" for n in range(60)]
    letters = [Upload(name, f"The heron stands, {n}.".encode()) for n, name in enumerate(names)]
    found: list[int] = []
    ended = Event()

    def read() -> None:
        while not ended.is_set():
            found.append(len(reader.pipeline(target).search("heron", k=100)))

    list(parts.ingester(target).ingest(letters[:1]))
    reader.pipeline(target).search("heron")  # PyTorch is loaded now
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(read)
        list(parts.ingester(target).ingest(letters[1:]))
        ended.set()
        reading.result()
    assert min(found) > 0
    assert len(found) > 10
    assert len(reader.pipeline(target).search("heron", k=100)) == 20
    house.check()
