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
    left, top, right, bottom = box.left, box.top, box.right, box.bottom
    turn = page.get_rotation()  # pdfium's places of words are those of the sheet before it is turned
    if turn in (90, 270):
        width, height = height, width
    match turn:
        case 90:
            left, top, right, bottom = top, 1 - right, bottom, 1 - left
        case 180:
            left, top, right, bottom = 1 - right, 1 - bottom, 1 - left, 1 - top
        case 270:
            left, top, right, bottom = 1 - bottom, left, 1 - top, right
    edges = {"left": left * width - 1, "right": right * width + 1}
    edges |= {"bottom": (1 - bottom) * height - 1, "top": (1 - top) * height + 1}
    return str(page.get_textpage().get_text_bounded(**edges))
