"""Scanned pages: words, boxes, order and confidence of pages that are printed and scanned here."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas
from scanned import HEIGHT, WIDTH, Scanner, printed, saved

from propcite.app.errors import ReadError
from propcite.app.ingest.ocr.choosing import choose
from propcite.app.ingest.ocr.scans import PLACE
from propcite.app.ingest.ocr.skew import skew_of
from propcite.app.ingest.reader_pool import RawDocument, ReaderLimits, ReaderPool
from propcite.app.ingest.readers import document_from_bytes
from propcite.app.processes import Step
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Document

LINES = (
    "The harbour of Málaga was rebuilt in 1897 after a storm had broken its mole.",
    "José Núñez chose granite for 12.5 m of the quay, and the fee rose by 15 %.",
)
TEXT = " ".join(LINES)


@pytest.fixture(autouse=True)
def _auto() -> Iterator[None]:
    yield
    choose("auto")


def read(data: bytes, name: str = "x.pdf") -> Document:
    return document_from_bytes(name, data, "")


def refused(data: bytes, name: str = "x.pdf") -> str:
    with pytest.raises(ReadError) as caught:
        read(data, name)
    return str(caught.value)


def joined(*files: bytes) -> bytes:
    writer, file = PdfWriter(), io.BytesIO()
    for data in files:
        writer.append(PdfReader(io.BytesIO(data)))
    writer.write(file)
    return file.getvalue()


def test_a_scan_between_pages_with_text_is_read_in_its_place() -> None:
    scan, blank = saved(Scanner().scan(printed(LINES))), saved(Image.new("L", (1240, 1754), 255))
    document = read(joined(printed(["This page has text."]), scan, blank, printed(["So has this page."])))
    assert document.text == f"This page has text.\n\n{TEXT}\n\nSo has this page."
    assert [page.number for page in document.pages] == [1, 2, 4]
    assert [(place.name, place.span.of(document.text)) for place in document.places] == [(PLACE, TEXT)]
    assert document.metadata["ocr_pages"] == "1"
    assert 90 < float(document.metadata["ocr_confidence"]) <= 100
    assert "pages_without_text" not in document.metadata


def test_boxes_of_a_scan_are_where_its_lines_are_printed() -> None:
    document = read(saved(Scanner().scan(printed(LINES))))
    assert [box.span.of(document.text) for box in document.boxes] == list(LINES)
    for number, box in enumerate(document.boxes):
        baseline = (90 + number * 1.25 * 11) / HEIGHT
        assert box.top < baseline - 0.005 < baseline < box.bottom < baseline + 0.01
        assert abs(box.left - 72 / WIDTH) < 0.01


@pytest.mark.parametrize("degrees", [90, 180])
def test_a_page_that_was_scanned_turned_is_read_upright(degrees: int) -> None:
    turned = Scanner().scan(printed(LINES)).rotate(degrees, expand=True)
    document = read(saved(turned))
    assert document.text == TEXT
    first = document.boxes[0]
    assert first.span.of(document.text) == LINES[0]
    if degrees == 90:  # the page's top is on the left, and its lines run up
        assert first.left < first.right < 0.13
        assert first.bottom > 1 - 0.14
    else:
        assert first.top > 1 - 0.13
        assert first.right > 1 - 0.14


def test_a_skewed_line_has_boxes_that_follow_it() -> None:
    document = read(saved(Scanner(skew=2).scan(printed(LINES))))
    assert document.text == TEXT
    first = [box for box in document.boxes if box.span.end <= len(LINES[0])]
    assert "".join(box.span.of(document.text) for box in first).replace(" ", "") == LINES[0].replace(" ", "")
    assert [box.top for box in first] == sorted((box.top for box in first), reverse=True)
    assert all(box.bottom - box.top < 0.035 for box in first)


def test_columns_are_read_one_after_the_other_below_their_heading() -> None:
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(WIDTH, HEIGHT))
    canvas.setFont("Helvetica-Bold", 20)
    canvas.drawString(72, 750, "How the two rivers of the county are used")
    canvas.setFont("Times-Roman", 11)
    left = (
        "The first river flows to the north and is",
        "wide enough for ships. It was never dam-",
        "med, and its mills are gone.",
    )
    right = (
        "The second river is short and its water",
        "is taken by the town for all its houses,",
        "so nobody has sailed on it for years.",
    )
    for number, (one, other) in enumerate(zip(left, right, strict=True)):
        canvas.drawString(72, 700 - 14 * number, one)
        canvas.drawString(320, 700 - 14 * number, other)
    canvas.save()
    document = read(saved(Scanner().scan(file.getvalue())))
    assert document.title == "How the two rivers of the county are used"
    assert document.text.split("\n\n")[1:] == [
        "The first river flows to the north and is wide enough for ships. It was never dammed, and its mills are gone.",
        " ".join(right),
    ]


def test_a_picture_is_seen_as_its_camera_was_held() -> None:
    held = Image.Exif()
    held[274] = 6  # to be turned clockwise by 90 degrees
    picture = Scanner().scan(printed(LINES)).rotate(90, expand=True)
    document = read(saved(picture, kind="JPEG", exif=held, quality=90), "photo.jpg")
    assert document.text == TEXT
    assert document.metadata["kind"] == "jpeg"
    assert document.boxes[0].top < 0.12


def test_the_pages_of_a_tiff_are_pages() -> None:
    sheets = [Scanner().scan(printed([line])).convert("1") for line in LINES]
    document = read(saved(*sheets, kind="TIFF", compression="group4"), "sheets.tif")
    assert [page.span.of(document.text) for page in document.pages] == list(LINES)
    assert document.metadata["ocr_pages"] == "2"


def test_without_a_recogniser_a_scan_says_what_to_do() -> None:
    choose("off")
    scan = saved(Scanner(dpi=50).scan(printed(LINES)))
    assert refused(scan) == "x.pdf has no text, only pictures of pages: set PROPCITE_OCR=auto and add it again"
    png = saved(Scanner(dpi=50).scan(printed(LINES)), kind="PNG")
    assert refused(png, "x.png") == "x.png is a picture: set PROPCITE_OCR=auto and add it again"
    half = read(joined(printed(["This page has text."]), scan, scan))
    assert half.metadata["pages_without_text"] == "2"
    assert half.text == "This page has text."


def test_files_that_hold_no_text_or_no_picture_are_refused() -> None:
    assert refused(saved(Image.new("RGB", (300, 300), "white"), kind="PNG"), "x.png").startswith(
        "x.png has no text that"
    )
    assert refused(b"\x89PNG\r\n\x1a\n" + bytes(200), "x.png").startswith("x.png is damaged or not a picture")
    assert refused(b"%PDF-1.4 no picture", "x.tiff").startswith("x.tiff is damaged or not a picture")


def test_a_picture_that_unpacks_to_gigabytes_is_refused() -> None:
    bomb = saved(Image.new("1", (30_000, 30_000)), kind="PNG")
    assert len(bomb) < 200_000
    assert refused(bomb, "x.png") == "x.png unpacks to more than 89 megapixels: save it smaller and add it again"


def test_reader_processes_tell_each_page_that_they_read() -> None:
    scan = Scanner(dpi=100).scan(printed(LINES))
    raw = RawDocument("x.pdf", "x.pdf", saved(scan, scan, dpi=100), "0" * 64, "d1")
    steps: list[tuple[str, str]] = []

    def note(raw: RawDocument, step: Step) -> None:
        steps.append((raw.name, step.at))

    with ReaderPool(PassageSplitter(100), ReaderLimits(1), note) as pool:
        future = pool.submit(raw)
        assert isinstance(future, Future)
        parsed = future.result()
    assert parsed.reason == ""
    assert steps == [("x.pdf", "page 1 of 2"), ("x.pdf", "page 2 of 2")]


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
def test_tesseract_reads_the_same_page() -> None:
    choose("tesseract")
    lines = ("The harbour was rebuilt in 1897 after a storm had broken its mole.", "The fee rose by 15 % soon after.")
    document = read(saved(Scanner(dpi=200).scan(printed(lines)).rotate(180), dpi=200))
    assert document.text == " ".join(lines)
    assert [box.span.of(document.text) for box in document.boxes] == list(lines)
    assert document.boxes[0].top > 0.8


PARAGRAPH = [
    f"In week {n} the ship carried {n * 7} tonnes of coal and grain to the quay of the town." for n in range(20, 45)
]


@pytest.mark.parametrize("skew", [-6.0, -2.0, 0.0, 0.7, 4.0])
def test_the_skew_of_a_page_is_measured(skew: float) -> None:
    assert skew_of(Scanner(dpi=100, skew=skew, noise=20).scan(printed(PARAGRAPH))) == pytest.approx(-skew, abs=0.15)


def test_a_blank_page_has_no_skew() -> None:
    assert skew_of(Image.new("L", (400, 600), 255)) == 0.0


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
@pytest.mark.parametrize("skew", [-2.0, 4.0])
def test_tesseract_reads_a_skewed_page_and_its_boxes_lie_on_the_lines(skew: float) -> None:
    choose("tesseract")
    scan = Scanner(dpi=200, skew=skew).scan(printed(PARAGRAPH))
    document = read(saved(scan, dpi=200))
    assert document.text.split() == " ".join(PARAGRAPH).split()
    first, last = document.boxes[0], document.boxes[-1]
    gray = scan.convert("L")
    for box in (first, last):
        edges = box.left * gray.width, box.top * gray.height, box.right * gray.width, box.bottom * gray.height
        assert sum(gray.crop(tuple(map(round, edges))).histogram()[:128]) > 50
    assert first.bottom < last.top
