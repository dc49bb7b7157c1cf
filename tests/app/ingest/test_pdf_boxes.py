"""The boxes of a PDF's lines: pdfium finds the same words in these rectangles."""

from __future__ import annotations

import io
from pathlib import Path

import pypdfium2
import pytest
from pdf_words import letters, text_in_box
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen import canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate

from propcite.app.demo import DOCUMENTS
from propcite.app.ingest.readers import document_from_bytes
from propcite.attribution.citations import Citation, Evidence, Label, Verdict
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Box, Document, Span

STYLES = getSampleStyleSheet()
TEXT = (
    "The river rises in the hills and flows north for two hundred kilometres before it meets the sea. "
    "It was first mapped in 1820 by a party of surveyors who walked along both of its banks. "
)


def book() -> bytes:
    file = io.BytesIO()
    story = [Paragraph("The River Book", STYLES["Title"])]
    for chapter in range(3):
        story += [Paragraph(f"Chapter {chapter}", STYLES["Heading1"]), Paragraph(TEXT * 4, STYLES["Normal"])]
        story += [PageBreak()]
    SimpleDocTemplate(file, pagesize=A4).build(story)
    return file.getvalue()


def pdfs() -> list[tuple[str, bytes]]:
    return [("book.pdf", book()), *((path.name, path.read_bytes()) for path in sorted(Path(DOCUMENTS).glob("*.pdf")))]


@pytest.mark.parametrize(("name", "data"), pdfs(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_line_is_in_its_box(name: str, data: bytes) -> None:
    document = document_from_bytes(name, data, "")
    pdf = pypdfium2.PdfDocument(data)
    assert document.boxes
    for box in document.boxes:
        assert 0 <= box.left < box.right <= 1
        assert 0 <= box.top < box.bottom <= 1
        assert letters(box.span.of(document.text)) in letters(text_in_box(pdf, box))
    covered = bytearray(len(document.text))
    for box in document.boxes:
        covered[box.span.start : box.span.end] = b"\1" * len(box.span)
    uncovered = [c for c, is_covered in zip(document.text, covered, strict=True) if not is_covered]
    assert not "".join(uncovered).strip(" \n|=;.")  # what is written between the cells of a row


def test_a_quote_of_two_lines_has_two_boxes_one_below_the_other() -> None:
    document = document_from_bytes("book.pdf", book(), "")
    passage = next(p for p in PassageSplitter().split(document) if "mapped in 1820" in p.text)
    start = passage.text.index("It was first mapped")
    span = Span(start, passage.text.index("banks.", start) + len("banks."))
    citation = Citation(1, Evidence(passage, span, 1.0, 1.0), Verdict(Label.SUPPORTED, 1.0))
    assert citation.pages == (1,)
    assert len(citation.boxes) >= 2
    assert all(one.bottom <= other.top + 0.01 for one, other in zip(citation.boxes, citation.boxes[1:], strict=False))
    assert "mapped" in "".join(box.span.of(passage.text) for box in citation.boxes)


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_rotated_page_has_boxes_as_it_is_shown(turn: int) -> None:
    file = io.BytesIO()
    pdf = canvas.Canvas(file, pagesize=A4)
    width, height = A4 if turn in (0, 180) else A4[::-1]  # reportlab rotates the sheet
    pdf.setPageRotation(turn)
    pdf.drawString(72, height - 82, "Words near the upper left corner of the sheet.")
    pdf.save()
    (box,) = document_from_bytes("x.pdf", file.getvalue(), "").boxes
    middle = ((box.left + box.right) / 2, (box.top + box.bottom) / 2)
    x, y = 193 / width, 78 / height  # on the sheet, from its upper left corner
    expected = {0: (x, y), 90: (1 - y, x), 180: (1 - x, 1 - y), 270: (y, 1 - x)}[turn]
    assert middle == pytest.approx(expected, abs=0.02)


def with_inherited_size(width: int, height: int) -> bytes:
    """Build a PDF whose page inherits its size from its parent, as XeTeX writes them."""
    words = b"BT /F1 12 Tf 72 700 Td (Words on a page that inherits its size.) Tj ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 %d %d] >>" % (width, height),
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(words), words),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    written, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    tail = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(written))
    return written + head + tail


@pytest.mark.parametrize(("width", "height"), [(595, 842), (1000, 1400)])
def test_a_page_that_inherits_its_size_has_correct_boxes(width: int, height: int) -> None:
    data = with_inherited_size(width, height)
    document = document_from_bytes("x.pdf", data, "")
    (box,) = document.boxes
    assert (box.left, box.bottom) == pytest.approx((72 / width, 1 - 698 / height), abs=0.01)
    assert letters(document.text) in letters(text_in_box(pypdfium2.PdfDocument(data), box))


def test_words_outside_the_page_have_no_box() -> None:
    file = io.BytesIO()
    pdf = canvas.Canvas(file, pagesize=A4)
    pdf.drawString(72, 700, "On the page.")
    pdf.drawString(900, 650, "Beside it.")
    pdf.save()
    document = document_from_bytes("x.pdf", file.getvalue(), "")
    assert [box.span.of(document.text) for box in document.boxes] == ["On the page."]


def test_a_line_in_two_passages_has_a_box_in_both() -> None:
    text = "One. Two."
    line = Box(1, Span(0, 9), 0.1, 0.1, 0.5, 0.2)
    first, second = PassageSplitter(1).split(Document("d", text, boxes=(line,)))
    assert [box.span.of(first.text) for box in first.boxes] == ["One. "]
    assert [box.span.of(second.text) for box in second.boxes] == ["Two."]


def test_a_document_without_pages_has_no_boxes() -> None:
    assert document_from_bytes("x.md", b"# Title\n\nWords.", "").boxes == ()
