"""PDFs whose lines and tables are drawn at known places."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence

from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import simpleSplit
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table

from propcite.app.ingest.readers import document_from_bytes
from propcite.retrieval.text import Document

FIRST = (
    "The river rises in the hills and flows north for two hundred kilometres before it meets the sea. It was first "
    "mapped in 1820 by a party of surveyors who walked along both of its banks and measured its depth with a rope. "
)
SECOND = (
    "The harbour was rebuilt after a storm had broken its eastern mole, and the council paid for granite blocks. Each "
    "of them was carried by four horses from the quarry in the north, which was closed in the year after that. "
)
Drawing = Callable[[Canvas], object]


def drawn(*pages: Drawing) -> bytes:
    file = io.BytesIO()
    pdf = Canvas(file, pagesize=A4)
    for draw in pages:
        pdf.setFont("Times-Roman", 10)
        draw(pdf)
        pdf.showPage()
    pdf.save()
    return file.getvalue()


def read(*pages: Drawing) -> Document:
    return document_from_bytes("x.pdf", drawn(*pages), "")


def wrapped(words: str, width: float, x: float, y: float, size: float = 10) -> list[tuple[float, float, str]]:
    """Return the lines of a paragraph with their places."""
    lines = simpleSplit(words, "Times-Roman", size, width)
    return [(x, y - 1.2 * size * row, line) for row, line in enumerate(lines)]


def write(pdf: Canvas, lines: Iterable[tuple[float, float, str]], size: float = 10) -> None:
    pdf.setFont("Times-Roman", size)
    for line in lines:
        pdf.drawString(*line)


def table(pdf: Canvas, rows: Sequence[Sequence[str]], style: Sequence[tuple[object, ...]], y: float = 500) -> None:
    drawing = Table(rows, colWidths=90, style=[("FONT", (0, 0), (-1, -1), "Times-Roman", 10), *style])
    drawing.wrapOn(pdf, 400, 400)
    drawing.drawOn(pdf, 72, y)
