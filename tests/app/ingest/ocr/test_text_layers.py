"""Layers of recognised text in PDFs: compared with the pictures of their pages, and replaced where they are wrong."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from commanded import Propcite
from PIL import Image
from pypdf import PdfReader, PdfWriter
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from scanned import HEIGHT, WIDTH, Scanner, printed

from propcite.app.ingest.ocr.choosing import choose
from propcite.app.ingest.ocr.scans import PLACE
from propcite.app.ingest.readers import document_from_bytes
from propcite.app.library.source_findings import next_step
from propcite.retrieval.fidelity import Fidelity
from propcite.retrieval.text import Document

SEEN = (
    "The harbour was rebuilt in 1897 after a storm had broken its eastern mole, and the",
    "council paid for blocks of granite. Each of them was carried by four horses from the",
    "quarry in the north, which was closed in the year after that. The fee for a ship rose",
    "to 12 pounds a night, and it was paid by the captain or by the agent of the owner.",
)
OTHER = (
    "Every lighthouse keeper wrote to his ministry during April 1902, because lamps needed",
    "cleaning every six hours. Surveyors mapped both river banks and measured depths using",
    "ropes. Those ropes remain displayed inside the museum at Kirkwall, room 9, where many",
    "visitors admire them each summer. Children especially enjoy touching the large knots.",
)
FEW_ERRORS = tuple(line.replace("horses", "horscs").replace("1897", "1891") for line in SEEN)
CYRILLIC = ("Маяк стоит на северном берегу острова, и каждую ночь смотритель зажигает на нём лампу.",) * 4


@pytest.fixture(autouse=True)
def _auto() -> Iterator[None]:
    yield
    choose("auto")


def layered(
    picture: Image.Image, layer: Sequence[str], *, is_below: bool = False, font: str = "Times-Roman", left: float = 72
) -> bytes:
    """Return a page with a picture, and a layer of text that is invisible or, if `is_below`, under the picture."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(WIDTH, HEIGHT))
    if not is_below:
        canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, HEIGHT)
    for number, line in enumerate(layer):
        text = canvas.beginText(left, HEIGHT - 90 - number * 1.25 * 11)
        text.setFont(font, 11)
        text.setTextRenderMode(0 if is_below else 3)
        text.textOut(line)
        canvas.drawText(text)
    if is_below:
        canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, HEIGHT)
    canvas.save()
    return file.getvalue()


def scan(lines: Sequence[str] = SEEN, scanner: Scanner | None = None) -> Image.Image:
    return (scanner or Scanner(200)).scan(printed(lines))


def read(data: bytes) -> Document:
    return document_from_bytes("x.pdf", data, "")


def fidelity(document: Document) -> Fidelity:
    return Fidelity.of(document.metadata)


@pytest.mark.parametrize("is_below", [False, True])
def test_a_layer_that_says_something_else_gives_way_to_the_picture(is_below: bool) -> None:
    document = read(layered(scan(), OTHER, is_below=is_below))
    assert document.text == " ".join(SEEN)
    assert [place.name for place in document.places] == [PLACE]
    assert fidelity(document).wrong_layers == fidelity(document).ocr_pages == 1
    assert fidelity(document).layer_pages == fidelity(document).unchecked_layers == 0
    assert "the OCR layer of 1 page said something else than the page" in fidelity(document).doubt


@pytest.mark.parametrize("is_below", [False, True])
@pytest.mark.parametrize("layer", [SEEN, FEW_ERRORS])
def test_a_layer_that_says_what_is_seen_stays_as_it_is(layer: Sequence[str], is_below: bool) -> None:
    document = read(layered(scan(), layer, is_below=is_below))
    assert document.text == " ".join(layer)
    assert not document.places
    found = fidelity(document)
    assert (found.layer_pages, found.wrong_layers, found.unchecked_layers, found.ocr_pages) == (1, 0, 0, 0)
    assert found.layer_agreement == 100 if layer == SEEN else 90 < found.layer_agreement < 99
    assert f"an OCR layer ({int(found.layer_agreement)}% of its words found in the pictures)" in found.doubt


@pytest.mark.parametrize(
    "scanner", [Scanner(200, skew=1.2), Scanner(150, skew=-2, blur=0.7, noise=20, jpeg=50), Scanner(100, noise=30)]
)
def test_a_right_layer_stays_on_a_page_that_was_scanned_badly(scanner: Scanner) -> None:
    document = read(layered(scan(scanner=scanner), SEEN))
    assert document.text == " ".join(SEEN)
    assert fidelity(document).layer_agreement > 80


def test_a_layer_that_lies_elsewhere_on_the_page_is_still_the_text_of_the_page() -> None:
    document = read(layered(scan(), ["", "", "", "", "", "", "", "", *SEEN]))
    assert document.text == " ".join(SEEN)
    assert fidelity(document).layer_agreement > 90


def test_each_page_is_compared_by_itself() -> None:
    writer, file = PdfWriter(), io.BytesIO()
    for layer in (SEEN, OTHER, SEEN):
        writer.append(PdfReader(io.BytesIO(layered(scan(), layer))))
    writer.write(file)
    document = read(file.getvalue())
    assert [page.span.of(document.text) for page in document.pages] == [" ".join(SEEN)] * 3
    assert fidelity(document).layer_pages == 2
    assert "the OCR layer of 1 of 3 pages said something else" in fidelity(document).line


def test_words_that_nobody_sees_on_a_blank_page_are_not_read() -> None:
    writer, file = PdfWriter(), io.BytesIO()
    for data in (printed(SEEN), layered(Image.new("L", (400, 560), 255), OTHER)):
        writer.append(PdfReader(io.BytesIO(data)))
    writer.write(file)
    document = read(file.getvalue())
    assert document.text == " ".join(SEEN)
    assert fidelity(document).wrong_layers == 1


def test_a_layer_of_a_few_words_is_not_the_text_of_a_full_page() -> None:
    document = read(layered(scan(), SEEN[:1]))
    assert document.text == " ".join(SEEN)
    assert fidelity(document).ocr_pages == 1
    assert not fidelity(document).wrong_layers


def test_a_picture_on_a_page_of_visible_text_is_no_scan() -> None:
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(WIDTH, HEIGHT))
    canvas.drawImage(ImageReader(Image.new("L", (60, 80), 220)), 0, 0, WIDTH, HEIGHT)
    for number, line in enumerate(SEEN):
        canvas.drawString(72, HEIGHT - 90 - 14 * number, line)
    glass = Image.new("RGBA", (60, 80), (255, 255, 0, 40))
    canvas.drawImage(ImageReader(glass), 0, 0, WIDTH, HEIGHT, mask="auto")  # as a watermark is laid over a page
    canvas.save()
    document = read(file.getvalue())
    assert document.text == " ".join(SEEN)
    assert fidelity(document).is_whole


def test_a_layer_in_letters_that_are_not_recognised_is_kept_and_not_checked() -> None:
    pdfmetrics.registerFont(TTFont("Sans", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"))
    document = read(layered(scan(), CYRILLIC, font="Sans"))
    assert CYRILLIC[0] in document.text
    assert fidelity(document).unchecked_layers == 1


def test_a_layer_is_kept_where_the_picture_cannot_be_read() -> None:
    grain = Image.effect_noise((800, 1100), 120)
    document = read(layered(grain, SEEN))
    assert document.text == " ".join(SEEN)
    assert fidelity(document).unchecked_layers == 1


def test_without_a_recogniser_it_is_said_that_a_layer_was_not_checked(
    propcite: Propcite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scan.pdf").write_bytes(layered(scan(), OTHER))
    monkeypatch.setenv("PROPCITE_OCR", "off")
    said = propcite("ingest", tmp_path / "scan.pdf", "-c", "birds").out
    step = "set PROPCITE_OCR=auto and add the file with --again, which compares the layer with the pages"
    assert said.strip().endswith(f"the text of 1 page is an OCR layer that was not checked; {step}")
    (row,) = propcite("list", "-c", "birds", "--json").json
    assert row["fidelity"]["unchecked_layers"] == 1
    assert step in propcite("doctor", "--sources").err
    monkeypatch.setenv("PROPCITE_OCR", "auto")
    again = propcite("ingest", "--again", tmp_path / "scan.pdf", "-c", "birds").out
    assert again.startswith("changed")
    assert "said something else than the page" in again
    assert next_step(Fidelity(unchecked_layers=1)) == "compare quotes with its pages"
