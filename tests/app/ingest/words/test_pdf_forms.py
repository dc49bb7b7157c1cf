"""What is over the pages of a PDF: values of fields, ticked boxes and typed notes are read beside their labels."""

from __future__ import annotations

import io

from pypdf import PdfWriter
from pypdf.annotations import Text
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    StreamObject,
    TextStringObject,
)
from reportlab.pdfgen.canvas import Canvas

from propcite.app.ingest.readers import document_from_bytes
from propcite.retrieval.text import Document

SHOWN = (
    "Application for a berth\n\nShip: Alba\nLength in metres: 24.5\n\nOwner's address\n\n4 Shore Road, Leith\n"
    "I accept the rules: ☒\n☒ Shore power\n☐ Water\n\nSigned in Leith."
)


def form() -> PdfWriter:
    file = io.BytesIO()
    pdf = Canvas(file)
    pdf.setFont("Helvetica", 10)
    field, box = pdf.acroForm.textfield, pdf.acroForm.checkbox
    pdf.drawString(72, 750, "Application for a berth")
    pdf.drawString(72, 700, "Ship:")
    field(name="ship", value="Alba", x=120, y=695, width=150, height=16, fontSize=10)
    pdf.drawString(300, 700, "Length in metres:")
    field(name="length", value="24.5", x=400, y=695, width=80, height=16, fontSize=10)
    pdf.drawString(72, 670, "Owner's address")
    field(name="owner", value="4 Shore Road, Leith", x=72, y=646, width=300, height=18, fontSize=10)
    pdf.drawString(72, 620, "I accept the rules:")
    box(name="rules", checked=True, x=200, y=616, size=14)
    pdf.drawString(90, 580, "Shore power")
    box(name="power", checked=True, x=72, y=577, size=12)
    pdf.drawString(218, 580, "Water")
    box(name="water", checked=False, x=200, y=577, size=12)
    field(name="secret", value="hidden", x=120, y=500, width=150, height=16, annotationFlags="hidden")
    pdf.drawString(72, 560, "Signed in Leith.")
    pdf.save()
    return PdfWriter(clone_from=io.BytesIO(file.getvalue()))


def read(writer: PdfWriter) -> Document:
    file = io.BytesIO()
    writer.write(file)
    return document_from_bytes("a.pdf", file.getvalue(), "")


def test_values_are_in_the_lines_of_their_labels_with_boxes() -> None:
    document = read(form())
    assert document.text == SHOWN
    start = document.text.index("Alba")
    assert any(box.span.start <= start < box.span.end for box in document.boxes)


def test_values_of_fields_without_a_look() -> None:
    writer = form()
    for annotation in writer.pages[0]["/Annots"]:
        if annotation.get_object()["/FT"] == "/Tx":
            annotation.get_object().pop("/AP")
    writer.root_object["/AcroForm"][NameObject("/NeedAppearances")] = BooleanObject(True)
    assert read(writer).text == SHOWN


def drawn(words: str, font: str, writer: PdfWriter) -> object:
    """Return the look of an annotation with these words, in a standard font."""
    look, name = StreamObject(), NameObject
    look._data = f"BT /F 10 Tf 2 2 Td ({words}) Tj ET".encode()
    kind = {name("/Type"): name("/Font"), name("/Subtype"): name("/Type1"), name("/BaseFont"): name(font)}
    fonts = DictionaryObject({name("/F"): DictionaryObject(kind)})
    look.update(
        {
            name("/Type"): name("/XObject"),
            name("/Subtype"): name("/Form"),
            name("/BBox"): ArrayObject(map(FloatObject, (0, 0, 200, 14))),
            name("/Resources"): DictionaryObject({name("/Font"): fonts}),
        }
    )
    return writer._add_object(look)


def test_marks_of_ticked_boxes_are_no_words() -> None:
    writer = form()
    for annotation in writer.pages[0]["/Annots"]:
        if annotation.get_object()["/FT"] == "/Btn":
            looks = annotation.get_object()["/AP"]["/N"]
            looks[NameObject("/Yes")] = drawn("4", "/ZapfDingbats", writer)
    words = read(writer).text.split()
    assert [word for word in words if not word.isascii()] == ["☒", "☒", "☐"]
    assert "4" in words
    assert words.count("4") == 1  # of the address


def test_a_typed_note_is_read_and_a_comment_is_not() -> None:
    writer = form()
    rectangle = (72, 530, 272, 544)
    note = {
        "/Type": NameObject("/Annot"),
        "/Subtype": NameObject("/FreeText"),
        "/Rect": ArrayObject(map(FloatObject, rectangle)),
        "/Contents": TextStringObject("Approved by Ann."),
        "/AP": DictionaryObject({NameObject("/N"): drawn("Approved by Ann.", "/Helvetica", writer)}),
    }
    writer.add_annotation(0, DictionaryObject({NameObject(key): value for key, value in note.items()}))
    writer.add_annotation(0, Text(text="secret", rect=(72, 450, 90, 470)))
    text = read(writer).text
    assert "Approved by Ann." in text
    assert "secret" not in text
