"""Do the boxes of a PDF's sentences lie on their words?  Asked of another reader, poppler's pdftotext.

    python -m tests.benchmarks.boxes PDF... [--pages 50]

Takes pages evenly from all files.  Of each sentence that begins there the words whose middle lies in its boxes are read
in the order of the boxes; the sentence counts as covered if all its letters and digits stand there in a row.
"""

from __future__ import annotations

import argparse
import re
import subprocess
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
    x: float  # of its middle, in shares of the page
    y: float


def letters(text: str) -> str:
    return "".join(re.findall(r"[^\W_]", text))


def words_of(pdf: Path, page: int) -> list[Word]:
    told = subprocess.run(
        ["pdftotext", "-bbox", "-f", str(page), "-l", str(page), str(pdf), "-"], capture_output=True, check=True
    ).stdout
    tree = etree.fromstring(told, etree.XMLParser(recover=True))
    found = []
    for place in tree.iter("{*}page"):
        width, height = float(place.get("width")), float(place.get("height"))
        for word in place.iter("{*}word"):
            left, top, right, bottom = (float(word.get(edge)) for edge in ("xMin", "yMin", "xMax", "yMax"))
            found.append(Word(word.text or "", (left + right) / 2 / width, (top + bottom) / 2 / height))
    return found


def inside(box: Box, words: list[Word]) -> str:
    there = [w for w in words if box.left <= w.x <= box.right and box.top <= w.y <= box.bottom]
    return "".join(w.text for w in sorted(there, key=lambda w: w.x))


def sentences(pdf: Path) -> Iterator[tuple[str, tuple[Box, ...]]]:
    for passage in PassageSplitter().split(read_document(pdf)):
        for sentence in passage.sentences:
            yield sentence.span.of(passage.text), passage.boxes_of(sentence.span)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("pdfs", type=Path, nargs="+")
    asked.add_argument("--pages", type=int, default=50)
    wanted = asked.parse_args()
    told = {pdf: list(sentences(pdf)) for pdf in wanted.pdfs}
    pages = [(pdf, page) for pdf, some in told.items() for page in sorted({b.page for _, boxes in some for b in boxes})]
    step = max(1, len(pages) // wanted.pages)
    covered = asked_of = 0
    for pdf, page in pages[::step][: wanted.pages]:
        read = {page: words_of(pdf, page)}
        on_page = [(text, boxes) for text, boxes in told[pdf] if letters(text) and (not boxes or boxes[0].page == page)]
        for text, boxes in on_page:
            if not boxes:
                continue
            read |= {box.page: words_of(pdf, box.page) for box in boxes if box.page not in read}
            there = letters("".join(inside(box, read[box.page]) for box in boxes))
            asked_of += 1
            if letters(text) in there:
                covered += 1
            else:
                print(f"{pdf.name}, page {page}: {' '.join(text.split())[:100]!r}\n    in its boxes: {there[:100]!r}")
    unseen = sum(not boxes for some in told.values() for text, boxes in some if letters(text))
    print(
        f"{min(wanted.pages, len(pages[::step]))} pages of {len(told)} files: {covered} of {asked_of} sentences "
        f"covered ({covered / asked_of:.1%}); {unseen} sentences of these files have no box"
    )


if __name__ == "__main__":
    main()
