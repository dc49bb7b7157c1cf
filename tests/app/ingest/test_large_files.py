"""Large files are read part by part, their passages wait on disk, and an interrupted ingest of one goes on."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

import pytest
from openpyxl import Workbook
from word_encoder import WordEncoder

from propcite.app.ingest import ingester
from propcite.app.ingest.passage_spool import BATCH, SPOOL_FROM, PassageSpool, spooled
from propcite.app.ingest.reader_pool import RawDocument, parse
from propcite.app.ingest.readers import document_from_bytes, document_parts
from propcite.app.ingest.readers import files as reading
from propcite.app.ingest.readers.draft import PART
from propcite.app.ingest.sources import Upload
from propcite.app.library.shards import Shards
from propcite.app.parts import Parts
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Document, Passage

OpenParts = Callable[..., Parts]


def table(rows: int) -> bytes:
    lines = [f"{n},Port {n % 7},{n * 3}" for n in range(rows)]
    return "\n".join(["id,port,visits", *lines]).encode()


def prose(paragraphs: int) -> bytes:
    return "\n\n".join(f"Day {n} was calm. The ship {n} came in." for n in range(paragraphs)).encode()


def parts_of(name: str, data: bytes) -> list[Document]:
    return list(document_parts(name, data, "/srv/" + name))


def wrapped(paragraphs: int) -> bytes:
    lines = "Day {n} was calm, and the ship {n} came in with a load of\ncoal and grain before the tide turned at noon."
    return "\n\n".join(lines.format(n=n) for n in range(paragraphs)).encode()


def records(number: int) -> list[dict[str, object]]:
    return [{"title": f"Day {n}", "text": f"The ship {n} came in with coal.", "tons": n} for n in range(number)]


def workbook(rows: int) -> bytes:
    book = Workbook()
    for title in ("North", "South"):
        sheet = book.create_sheet(title)
        for row in (["port", "visits"], *([f"Port {n % 7}", n] for n in range(rows))):
            sheet.append(row)
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def test_a_large_text_is_not_held_beside_its_bytes() -> None:
    data = b"The harbour was calm, and no ship came in.\n\n" * 500_000
    tracemalloc.start()
    try:
        first = next(document_parts("harbour.txt", data, "/srv/harbour.txt"))
        assert tracemalloc.get_traced_memory()[1] < len(data) / 2
    finally:
        tracemalloc.stop()
    assert first.text.startswith("The harbour was calm")


def mailbox(messages: int) -> bytes:
    message = (
        "From ana@example.org Mon May  6 10:00:{n:02} 2024\nFrom: Ana\nSubject: Day {n}\n\nThe ship {n} came in.\n\n"
    )
    return "".join(message.format(n=n) for n in range(messages)).encode()


LARGE = {
    "ports.csv": table(20_000),
    "log.txt": prose(20_000),
    "wrapped.txt": wrapped(9000),
    "days.json": json.dumps(records(9000)).encode(),
    "years.json": json.dumps({"title": "Days", "north": records(5000), "south": records(5000)}).encode(),
    "days.jsonl": b"\n".join(json.dumps(record).encode() for record in records(9000)),
    "ports.xlsx": workbook(12_000),
    "days.mbox": mailbox(9000),
}


@pytest.mark.parametrize("name", LARGE)
def test_the_parts_of_a_large_file_are_its_text_places_and_headings(name: str) -> None:
    data = LARGE[name]
    whole = document_from_bytes(name, data, "/srv/" + name)
    parts = parts_of(name, data)
    assert len(parts) > 1
    assert "".join(part.text for part in parts).strip() == whole.text.strip()
    assert max(len(part.text) for part in parts) <= 2 * PART
    headings = [(heading.level, heading.span.of(part.text)) for part in parts for heading in part.headings]
    assert headings == [(heading.level, heading.span.of(whole.text)) for heading in whole.headings]
    assert {(part.title, part.source, part.metadata["kind"]) for part in parts} == {
        (whole.title, whole.source, whole.metadata["kind"])
    }
    named = [(place.name, place.span.of(part.text)) for part in parts for place in part.places]
    assert named == [(place.name, place.span.of(whole.text)) for place in whole.places]


def test_small_files_have_one_part() -> None:
    assert len(parts_of("ports.csv", table(300))) == 1
    assert len(parts_of("log.txt", prose(200))) == 1


def test_a_part_ends_after_a_line_where_no_line_is_blank_and_after_a_page_where_there_are_pages() -> None:
    log = b"".join(b"%d ships came in and %d went out\n" % (n, n + 1) for n in range(30_000))
    assert all(part.text.endswith("out\n") for part in parts_of("harbour.log.txt", log))
    pages = "\f".join(f"Harbour log\n\n{prose(30).decode()}\n\nPage {n}\n" for n in range(800)).encode()
    parts = parts_of("pages.txt", pages)
    assert len(parts) > 1
    assert not any("Harbour log" in part.text or "Page " in part.text for part in parts)


def test_passages_of_a_later_part_name_the_heading_that_they_lie_under() -> None:
    raw = RawDocument("/srv/ports.xlsx", "ports.xlsx", LARGE["ports.xlsx"], "digest", "d")
    parsed = parse(raw, PassageSplitter(100))
    places = [(passage.places[0].name.split(",")[0], passage.title) for passage in parsed.passages if passage.places]
    assert {title for _, title in places} == {"ports › North", "ports › South"}
    assert all(title == f"ports › {sheet}" for sheet, title in places)
    assert [heading.level for heading in parsed.document.headings] == [1, 1]


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ("[1, 2", "Expecting ',' delimiter at column 6"),
        ("[1, 2,]", "Expecting value at column 7"),
        ("[1, 2] 3", "Extra data at column 8"),
        ("[1 2]", "Expecting ',' delimiter at column 4"),
        ('[{"a": ]', "Expecting value at column 8"),
    ],
)
def test_a_list_that_is_not_valid_json_says_where(items: str, says: str) -> None:
    with pytest.raises(reading.ReadError, match=re.escape(says)):
        parts_of("list.json", items.encode())


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
    assert parts.library.documents(birds) == []
    assert len(parts.workspace(birds).index(parts.encoder)) == 0
    parts.__dict__["encoder"] = counting = Counting()
    (outcome,) = parts.ingester(birds).ingest([large])
    assert outcome.state == "added"
    assert outcome.num_passages > SPOOL_FROM
    assert counting.num == outcome.num_passages - 2 * BATCH
    assert not parts.workspace(birds).differs_from_library()
    text = parts.library.document(outcome.document_id).text
    assert text.strip() == document_from_bytes(large.name, large.read_bytes(), "").text
    ids = parts.library.passage_ids(birds)
    assert ids == [f"{outcome.document_id}:{n}" for n in range(len(ids))]


def test_what_was_encoded_of_another_text_is_not_used(open_parts: OpenParts, tmp_path: Path) -> None:
    large = tmp_path / "ports.csv"
    parts = open_parts()
    birds = parts.library.create_collection("birds")
    list(parts.ingester(birds).ingest([Upload("few.txt", b"A few words.")]))
    Shards(parts.workspace(birds)).divide(2)
    for rows in (11_000, 11_001):
        large.write_bytes(table(rows))
        parts.__dict__["encoder"] = Interrupted(2)
        with pytest.raises(KeyboardInterrupt):
            list(parts.ingester(birds).ingest([large]))
    parts.__dict__["encoder"] = counting = Counting()
    (outcome,) = parts.ingester(birds).ingest([large])
    assert counting.num == outcome.num_passages - 2 * BATCH
    assert not parts.workspace(birds).differs_from_library()
    assert not list(parts.workspace(birds).folder.glob("unfinished*"))


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


def test_files_that_together_exceed_what_is_read_ahead_are_added_in_order(
    open_parts: OpenParts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingester, "READ_AHEAD_BYTES", 100)
    files = [tmp_path / f"{number}.csv" for number in range(5)]
    for number, file in enumerate(files):
        file.write_bytes(table(3 + 10 * number))
    parts = open_parts()
    birds = parts.library.create_collection("birds")
    outcomes = list(parts.ingester(birds).ingest([*files, files[0]]))
    assert [Path(outcome.source).name for outcome in outcomes] == [*(file.name for file in files), "0.csv"]
    assert [outcome.state for outcome in outcomes] == ["added"] * 5 + ["unchanged"]
