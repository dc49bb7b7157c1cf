"""Read the words in a rectangle of a PDF's page with pdfium."""

from __future__ import annotations

import re

import pypdfium2

from propcite.retrieval.text import Box


def letters(text: str) -> str:
    """Return only letters and digits: spaces and hyphens differ between readers."""
    return "".join(re.findall(r"[^\W_]", text))


def text_in_box(pdf: pypdfium2.PdfDocument, box: Box) -> str:
    page = pdf[box.page - 1]
    width, height = page.get_size()
    edges = {"left": box.left * width - 1, "right": box.right * width + 1}
    edges |= {"bottom": (1 - box.bottom) * height - 1, "top": (1 - box.top) * height + 1}
    return str(page.get_textpage().get_text_bounded(**edges))
