"""Measure how often right and wrong OCR layers of PDFs are recognised as such, on pages printed and scanned here.

    python -m tests.benchmarks.reading layers [rapidocr] [tesseract] [WORD...]

With words, only the ways of scanning whose names have them are measured.  For each way of scanning and each layer: how
many pages keep their layer and how many are read from the picture, the share of words that was found, the character
error rate of the layer and of what was read (edits per printed character), and processor seconds per page.
"""

from __future__ import annotations

import io
import sys
import time
from random import Random
from typing import TYPE_CHECKING, Any

import pypdfium2
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfgen.canvas import Canvas
from tests.benchmarks.reading.ocr import PROSE, RECOGNISERS, SCANNERS, edits, pages, printed_prose

from propcite.app.ingest.ocr.choosing import Choice, available, choose
from propcite.app.ingest.readers import document_from_bytes
from propcite.retrieval.fidelity import Fidelity

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL.Image import Image
    from scanned import Scanner

WIDTH, HEIGHT = 595, 842
WAYS = ("200 dpi", "100 dpi", "200 dpi, skewed by 2°", "200 dpi, blurred", "150 dpi, skewed, noise, blur, JPEG")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def altered(share: float) -> Callable[[str, Random], str]:
    """Return a function that replaces this share of the letters of a line."""

    def alter(line: str, random: Random) -> str:
        return "".join(random.choice(LETTERS) if c.isalpha() and random.random() < share else c for c in line)

    return alter


LAYERS: dict[str, Callable[[str, Random], str]] = {
    "right": lambda line, _: line,
    "2% of letters wrong": altered(0.02),
    "5% of letters wrong": altered(0.05),
    "20% of letters wrong": altered(0.2),
    "every second line of another page": lambda line, _: line,
    "another page": lambda line, _: line,
}
OTHER = (
    "Every spring the orchards above Lervik are pruned by volunteers, whose ladders the parish lends without charge. "
    "Cider pressed from early apples keeps four months; later varieties remain drinkable until midsummer. Barrels "
    "must be rinsed using boiling salted water, dried outdoors, then sealed with beeswax. ",
    "Accounts from 1764 mention nineteen presses between both bridges. Nine survived, three still operate, and "
    "their oak screws were replaced by iron during 1883. Visitors may taste juice each October weekend. ",
)


def lines_of(pdf: bytes) -> list[tuple[float, float, float, str]]:
    """Return the left edge, the baseline, the width and the text of each printed line."""
    with pypdfium2.PdfDocument(pdf) as document:
        text = document[0].get_textpage()
        rectangles = [text.get_rect(index) for index in range(text.count_rects())]
        return [
            (left, bottom, right - left, text.get_text_bounded(left, bottom, right, top))
            for left, bottom, right, top in rectangles
        ]


def layered(picture: Image, lines: list[tuple[float, float, float, str]]) -> bytes:
    file = io.BytesIO()
    canvas: Any = Canvas(file, pagesize=(WIDTH, HEIGHT))
    canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, HEIGHT)
    for left, bottom, width, words in lines:
        text = canvas.beginText(left, bottom)
        text.setFont("Serif", 10)
        text.setTextRenderMode(3)
        text.setHorizScale(100 * width / max(1.0, pdfmetrics.stringWidth(words, "Serif", 10)))
        text.textOut(words)
        canvas.drawText(text)
    canvas.save()
    return file.getvalue()


def measure(recogniser: Choice, scanner: Scanner, printed: dict[str, bytes], layer: str) -> str:
    random, truth = Random(7), " ".join(PROSE)
    kept = replaced = unchecked = before = after = 0
    found, seconds = [], 0.0
    others = [words for *_, words in lines_of(printed_prose("Serif", 11, texts=OTHER * 3))]
    for pdf in printed.values():
        lines = lines_of(pdf)
        if "another page" in layer:
            step = 2 if "second" in layer else 1
            lines[::step] = [(*place, words) for (*place, _), words in zip(lines[::step], others, strict=False)]
        lines = [(*place, LAYERS[layer](words, random)) for *place, words in lines]
        data = layered(scanner.scan(pdf), lines)
        start = time.process_time()
        document = document_from_bytes("scan.pdf", data, "")
        seconds += time.process_time() - start
        figures = Fidelity.of(document.metadata)
        kept += figures.layer_pages
        replaced += figures.wrong_layers
        unchecked += figures.unchecked_layers
        found += [figures.layer_agreement] if figures.layer_agreement else []
        choose("off")
        before += edits(truth, " ".join(document_from_bytes("scan.pdf", data, "").text.split()))
        choose(recogniser)
        after += edits(truth, " ".join(document.text.split()))
    total = len(truth) * len(printed)
    share = f"{sum(found) / len(found):.1f}%" if found else ""
    return (
        f"{kept} | {replaced} | {unchecked} | {share} | {before / total:.2%} | {after / total:.2%} "
        f"| {seconds / len(printed):.1f}"
    )


def main() -> None:
    printed = pages()
    figures = "kept | replaced | unchecked | words found | errors of the layer | errors | CPU s a page"
    print(f"| recogniser | scan | layer | {figures} |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|")
    names: list[Choice] = [name for name in RECOGNISERS if name in sys.argv[1:]] or RECOGNISERS[:1]
    words = [word for word in sys.argv[1:] if word not in RECOGNISERS]
    for name in names:
        if not available(name):
            print(f"| {name} | not installed | | | | | | | | |")
            continue
        for scan in WAYS:
            if not all(word in scan for word in words):
                continue
            for layer in LAYERS:
                choose(name)
                print(f"| {name} | {scan} | {layer} | {measure(name, SCANNERS[scan], printed, layer)} |", flush=True)
