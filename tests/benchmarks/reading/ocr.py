"""Measure what is read of scanned pages: pages that are printed here, degraded as scanners and copiers do it.

    python -m tests.benchmarks.reading ocr [rapidocr] [tesseract] [WORD...]

With words, only the ways of scanning whose names have them are measured, such as `skewed`.  For each recogniser and
each way: the character error rate (edits per printed character, in the printed order), the share of printed words
that were read letter for letter, the share of printed spaces that were kept, the share of printed letters inside the
boxes of the lines that they were read in, and processor seconds per page.
"""

from __future__ import annotations

import io
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pypdfium2
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

from scanned import HEIGHT, WIDTH, Scanner, saved

from propcite.app.ingest.ocr.choosing import Choice, available, choose
from propcite.app.ingest.readers import document_from_bytes
from propcite.retrieval.text import Document

FONTS = Path("/usr/share/fonts/truetype")
PROSE = (
    "The harbour of Málaga was rebuilt in 1897 after a storm had broken its eastern mole. The engineer "
    "José Núñez chose granite blocks of 2.5 t each, and between 3 and 7 ships could moor at once. The fee "
    "was £12 a night, about 15 % more than in the year before, and it was paid by the captain or by the "
    "owner's agent.",
    'Größe, Fähre, façade, naïve, Čapek, Łódź and smørrebrød are words with accents. A well-known "quoted '
    "text\" follows here, with isn't and it's, then a list: pears; plums (two kinds); and cherries. In "
    "2019–2020 the town of Sandwick counted 1,204 visits, of which 37.5 % came from the north, see page "
    "214 of the report.",
    "Nobody knows why the lighthouse keeper wrote to the council on 14 March 1902, but the letter says "
    "that the lamp had to be cleaned every six hours. It was first mapped by a party of surveyors who "
    "walked along both banks of the river and measured its depth with a rope. The rope is still in the "
    "museum at Kirkwall, room 9.",
)
RECOGNISERS: list[Choice] = ["rapidocr", "tesseract"]
SCANNERS = {
    "300 dpi": Scanner(300),
    "200 dpi": Scanner(200),
    "150 dpi, JPEG": Scanner(150, jpeg=40),
    "100 dpi": Scanner(100),
    "200 dpi, skewed by 1°": Scanner(200, skew=1),
    "200 dpi, skewed by 2°": Scanner(200, skew=-2),
    "200 dpi, skewed by 5°": Scanner(200, skew=5),
    "200 dpi, noise": Scanner(200, noise=40),
    "200 dpi, blurred": Scanner(200, blur=1.6),
    "150 dpi, skewed, noise, blur, JPEG": Scanner(150, skew=1.3, blur=0.7, noise=20, jpeg=50),
}


def pages() -> dict[str, bytes]:
    for name, file in (("Serif", "liberation/LiberationSerif"), ("Sans", "liberation/LiberationSans")):
        pdfmetrics.registerFont(TTFont(name, f"{FONTS / file}-Regular.ttf"))
    return {
        "serif 11 pt": printed_prose("Serif", 11),
        "sans 9 pt": printed_prose("Sans", 9),
        "serif 10 pt, two columns": printed_prose("Serif", 10, columns=2),
    }


def printed_prose(font: str, size: float, columns: int = 1, texts: Sequence[str] = PROSE) -> bytes:
    """Print texts on one page, in columns that it fills one after the other."""
    file = io.BytesIO()
    width = (WIDTH - 120 - 24 * (columns - 1)) / columns
    height = (HEIGHT - 120) if columns == 1 else 19 * size * 1.3
    frames = [Frame(60 + i * (width + 24), HEIGHT - 60 - height, width, height) for i in range(columns)]
    style = ParagraphStyle("prose", fontName=font, fontSize=size, leading=1.3 * size, spaceAfter=size)
    template = BaseDocTemplate(file, pagesize=(WIDTH, HEIGHT))
    template.addPageTemplates([PageTemplate(frames=frames)])
    template.build([Paragraph(text, style) for text in texts])
    return file.getvalue()


def edits(one: str, other: str) -> int:
    """Return the Levenshtein distance."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def letters_in_boxes(pdf: bytes, document: Document, scanner: Scanner) -> float:
    """Return the share of printed letters that lie in a box; of skewed pages 0, since their letters moved."""
    if scanner.skew:
        return float("nan")
    inside = total = 0
    with pypdfium2.PdfDocument(pdf) as file:
        text = file[0].get_textpage()
        for index in range(text.count_chars()):
            if not text.get_text_range(index, 1).strip():
                continue
            left, bottom, right, top = text.get_charbox(index)
            x, y = (left + right) / 2 / WIDTH, 1 - (bottom + top) / 2 / HEIGHT
            total += 1
            inside += any(box.left <= x <= box.right and box.top <= y <= box.bottom for box in document.boxes)
    return inside / total


def measure(scanner: Scanner, printed: dict[str, bytes]) -> str:
    wrong = total = found = words = kept = spaces = 0
    seconds, shares = 0.0, []
    truth = " ".join(PROSE)
    for pdf in printed.values():
        scan = saved(scanner.scan(pdf), dpi=scanner.dpi)
        before = time.process_time() + sum(_children())
        document = document_from_bytes("scan.pdf", scan, "")
        seconds += time.process_time() + sum(_children()) - before
        text = " ".join(document.text.split())
        wrong, total = wrong + edits(truth, text), total + len(truth)
        expected, read = Counter(truth.split()), Counter(text.split())
        found, words = found + (expected & read).total(), words + expected.total()
        kept, spaces = kept + min(text.count(" "), truth.count(" ")), spaces + truth.count(" ")
        shares.append(letters_in_boxes(pdf, document, scanner))
    boxes = sum(shares) / len(shares)
    boxed = "" if boxes != boxes else f"{boxes:.1%}"
    return f"{wrong / total:.2%} | {found / words:.1%} | {kept / spaces:.1%} | {boxed} | {seconds / len(printed):.1f}"


def _children() -> tuple[float, float]:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime, used.ru_stime


def main() -> None:
    printed = pages()
    print("| recogniser | scan | character errors | words | spaces | letters in boxes | CPU s a page |")
    print("|---|---|---:|---:|---:|---:|---:|")
    names = [name for name in RECOGNISERS if name in sys.argv[1:]] or RECOGNISERS
    words = [word for word in sys.argv[1:] if word not in RECOGNISERS]
    for name in names:
        if not available(name):
            print(f"| {name} | not installed | | | | | |")
            continue
        choose(name)
        document_from_bytes("warm.pdf", saved(Scanner(100).scan(printed["serif 11 pt"]), dpi=100), "")
        for scan, scanner in SCANNERS.items():
            if not all(word in scan for word in words):
                continue
            print(f"| {name} | {scan} | {measure(scanner, printed)} |", flush=True)
