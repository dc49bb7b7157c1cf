"""Large files are read part by part, their passages wait on disk, and an interrupted ingest of one goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from word_encoder import WordEncoder

from propcite.app.ingest.passage_spool import BATCH, SPOOL_FROM, PassageSpool, spooled
from propcite.app.ingest.readers import document_from_bytes, document_parts
from propcite.app.ingest.readers import files as reading
from propcite.app.parts import Parts
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.text import Document, Passage

OpenParts = Callable[..., Parts]


def table(rows: int) -> bytes:
    lines = [f"{n},Port {n % 7},{n * 3}" for n in range(rows)]
    return "\n".join(["id,port,visits", *lines]).encode()


def prose(paragraphs: int) -> bytes:
    return "\n\n".join(f"Day {n} was calm. The ship {n} came in." for n in range(paragraphs)).encode()


def parts_of(name: str, data: bytes) -> list[Document]:
    return list(document_parts(name, data, "/srv/" + name))


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGE_BYTES", 1000)
    monkeypatch.setattr(reading, "PART", 500)
    monkeypatch.setattr("propcite.app.ingest.readers.delimited._PART", 500)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(("name", "data"), [("ports.csv", table(300)), ("log.txt", prose(200))])
def test_the_parts_of_a_large_file_are_its_text_and_places(name: str, data: bytes) -> None:
    whole = document_from_bytes(name, data, "/srv/" + name)
    parts = parts_of(name, data)
    assert len(parts) > 5
    assert "".join(part.text for part in parts).strip() == whole.text.strip()
    assert max(len(part.text) for part in parts) < 1100
    assert {(part.title, part.source, part.metadata["kind"]) for part in parts} == {
        (whole.title, whole.source, whole.metadata["kind"])
    }
    named = [(place.name, place.span.of(part.text)) for part in parts for place in part.places]
    assert named == [(place.name, place.span.of(whole.text)) for place in whole.places]


def test_small_files_and_files_with_headings_have_one_part() -> None:
    assert len(parts_of("ports.csv", table(300))) == 1
    assert len(parts_of("log.txt", prose(200))) == 1
    chapters = b"\n\n".join(b"# Chapter %d\n\nIt rained all day." % n for n in range(30_000))
    assert len(parts_of("book.md", chapters)) == 1


@pytest.mark.usefixtures("small_parts")
def test_rows_below_an_endless_quote_are_an_error_in_parts_too() -> None:
    with pytest.raises(reading.ReadError, match=r"quote that is never closed|more than"):
        parts_of("ports.csv", table(300) + b'\n1,"' + b"x" * (17 * 2**20))


def test_many_passages_wait_in_a_file(tmp_path: Path) -> None:
    several = [Passage(f"d:{n}", f"Passage {n}.") for n in range(SPOOL_FROM + BATCH + 1)]
    assert spooled(several[:9], tmp_path) == several[:9]
    assert spooled(several, None) == several
    spool = spooled(several, tmp_path)
    assert isinstance(spool, PassageSpool)
    assert (len(spool), list(spool), list(spool)) == (len(several), several, several)
    spool.remove()
    assert not list(tmp_path.iterdir())


class Interrupted(WordEncoder):
    """Encodes some batches, and then is interrupted as by Ctrl-C."""

    def __init__(self, batches: int) -> None:
        self.left = batches

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        return super().encode_passages(passages)


def test_an_interrupted_ingest_of_a_large_file_goes_on_where_it_stopped(open_parts: OpenParts, tmp_path: Path) -> None:
    large = tmp_path / "ports.csv"
    large.write_bytes(table(11_000))
    parts = open_parts()
    birds = parts.library.create_collection("birds")
    parts.__dict__["encoder"] = Interrupted(2)
    with pytest.raises(KeyboardInterrupt):
        list(parts.ingester(birds).ingest([large]))
    parts.__dict__["encoder"] = counting = Counting()
    (outcome,) = parts.ingester(birds).ingest([large])
    assert outcome.state == "unchanged"
    assert outcome.num_passages > SPOOL_FROM
    assert counting.num == outcome.num_passages - 2 * BATCH
    assert not parts.workspace(birds).differs_from_library()
    text = parts.library.document(outcome.document_id).text
    assert text.strip() == document_from_bytes(large.name, large.read_bytes(), "").text
    ids = parts.library.passage_ids(birds)
    assert ids == [f"{outcome.document_id}:{n}" for n in range(len(ids))]


class Counting(WordEncoder):
    def __init__(self) -> None:
        self.num = 0

    def encode_passages(self, passages: Sequence[Passage]) -> list[TokenVectors]:
        self.num += len(passages)
        return super().encode_passages(passages)


def test_a_large_file_that_changed_replaces_its_old_version(open_parts: OpenParts, tmp_path: Path) -> None:
    large = tmp_path / "ports.csv"
    parts = open_parts()
    birds = parts.library.create_collection("birds")
    for rows, state in ((11_000, "added"), (11_100, "changed"), (10, "changed")):
        large.write_bytes(table(rows))
        (outcome,) = parts.ingester(birds).ingest([large])
        assert outcome.state == state
        assert not parts.workspace(birds).differs_from_library()
    assert len(parts.library.documents(birds)) == 1
