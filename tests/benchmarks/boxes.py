"""Check that the boxes of a PDF's sentences are on their words, with another reader, poppler's pdftotext.

    python -m tests.benchmarks.boxes PDF... [--pages 50]

It takes pages evenly from all files.  For each sentence that begins there, it reads the words whose middle is in the
sentence's boxes, box by box.  The sentence counts as covered if they contain all its letters and digits in a row.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from propcite.app.ingest.readers import read_document
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Box


@dataclass(frozen=True)
class Word:
    text: str
    x: float  # of the middle, as a share of the page
    y: float


def letters(text: str) -> str:
    """Return letters and digits, without ligatures and accents: pdftotext lacks some that PropCite reads."""
    text = re.sub("ff[il]|f[fil]|[ﬀ-ﬄ]", "", text)
    return "".join(re.findall(r"[^\W_]", unicodedata.normalize("NFD", text)))


def words_of(pdf: Path, page: int) -> list[Word]:
    output = subprocess.run(
        ["pdftotext", "-bbox", "-f", str(page), "-l", str(page), str(pdf), "-"], capture_output=True, check=True
    ).stdout
    tree = etree.fromstring(output, etree.XMLParser(recover=True))
    words = []
    for element in tree.iter("{*}page"):
        width, height = float(element.get("width")), float(element.get("height"))
        for word in element.iter("{*}word"):
            left, top, right, bottom = (float(word.get(edge)) for edge in ("xMin", "yMin", "xMax", "yMax"))
            words.append(Word(word.text or "", (left + right) / 2 / width, (top + bottom) / 2 / height))
    return words


def text_in(box: Box, words: list[Word]) -> str:
    inside = [w for w in words if box.left <= w.x <= box.right and box.top <= w.y <= box.bottom]
    return "".join(w.text for w in sorted(inside, key=lambda w: w.x))


def sentences(pdf: Path) -> Iterator[tuple[str, tuple[Box, ...]]]:
    for passage in PassageSplitter().split(read_document(pdf)):
        for sentence in passage.sentences:
            yield sentence.span.of(passage.text), passage.boxes_of(sentence.span)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pdfs", type=Path, nargs="+")
    parser.add_argument("--pages", type=int, default=50)
    options = parser.parse_args()
    by_file = {pdf: list(sentences(pdf)) for pdf in options.pdfs}
    pages = [
        (pdf, page) for pdf, rows in by_file.items() for page in sorted({b.page for _, boxes in rows for b in boxes})
    ]
    step = max(1, len(pages) // options.pages)
    covered = checked = 0
    for pdf, page in pages[::step][: options.pages]:
        words = {page: words_of(pdf, page)}
        on_page = [
            (text, boxes) for text, boxes in by_file[pdf] if letters(text) and (not boxes or boxes[0].page == page)
        ]
        for text, boxes in on_page:
            if not boxes:
                continue
            words |= {box.page: words_of(pdf, box.page) for box in boxes if box.page not in words}
            inside = letters("".join(text_in(box, words[box.page]) for box in boxes))
            checked += 1
            if letters(text) in inside:
                covered += 1
            else:
                print(f"{pdf.name}, page {page}: {' '.join(text.split())[:100]!r}\n    in its boxes: {inside[:100]!r}")
    without_box = sum(not boxes for rows in by_file.values() for text, boxes in rows if letters(text))
    print(
        f"{min(options.pages, len(pages[::step]))} pages of {len(by_file)} files: {covered} of {checked} sentences "
        f"covered ({covered / checked:.1%}); {without_box} sentences of these files have no box"
    )


if __name__ == "__main__":
    main()
