"""Check that the boxes of a PDF's sentences are on their words, with another reader, poppler's pdftotext.

    python -m tests.benchmarks.boxes PDF... [--pages 50]

It takes pages evenly from all files.  For each sentence that begins there, it reads the words whose middle is in the
sentence's boxes, box by box.  The sentence counts as covered if they contain 95% of its letters and digits in order,
without those that PropCite adds from the header of a table: pdftotext reads some symbols as other letters.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from lxml import etree
from pypdfium2 import PdfDocument

from propcite.app.ingest.ocr.choosing import choose
from propcite.app.ingest.readers import read_document
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Box

MIN_COVERED = 0.95  # of the letters of a sentence


@dataclass(frozen=True)
class Word:
    text: str
    x: float  # of the middle, as a share of the page
    y: float


@dataclass(frozen=True)
class Shown:
    """A sentence: its text that is in boxes, the rest, and the boxes of its lines."""

    text: str
    rest: str
    boxes: tuple[Box, ...]


def letters(text: str) -> str:
    """Return letters and digits, without ligatures and accents: pdftotext lacks some that PropCite reads."""
    text = "".join(re.findall(r"[^\W_]", unicodedata.normalize("NFD", text)))
    return re.sub("ff[il]|f[fil]|[ﬀ-ﬄ]", "", text)


def words_of(pdf: Path, page: int) -> list[Word]:
    output = subprocess.run(
        ["pdftotext", "-bbox", "-cropbox", "-f", str(page), "-l", str(page), str(pdf), "-"],
        capture_output=True,
        check=True,
    ).stdout
    tree = etree.fromstring(output, etree.XMLParser(recover=True))
    words = []
    with closing(PdfDocument(pdf)) as document:
        width, height = document[page - 1].get_size()  # pdftotext writes that of the page before it is turned
    for word in tree.iter("{*}word"):
        left, top, right, bottom = (float(word.get(edge)) for edge in ("xMin", "yMin", "xMax", "yMax"))
        words.append(Word(word.text or "", (left + right) / 2 / width, (top + bottom) / 2 / height))
    return words


def text_in(box: Box, words: list[Word]) -> str:
    inside = [w for w in words if box.left <= w.x <= box.right and box.top <= w.y <= box.bottom]
    return "".join(w.text for w in sorted(inside, key=lambda w: w.x))


def sentences(pdf: Path) -> Iterator[Shown]:
    for passage in PassageSplitter().split(read_document(pdf)):
        for sentence in passage.sentences:
            boxes = passage.boxes_of(sentence.span)
            inside = {at for box in boxes for at in range(box.span.start, box.span.end)}
            places = range(sentence.span.start, sentence.span.end)
            yield Shown(
                text="".join(passage.text[at] for at in places if at in inside),
                rest="".join(passage.text[at] for at in places if at not in inside),
                boxes=boxes,
            )


def are_in(wanted: str, inside: str) -> bool:
    """Whether most letters are in a text, in the same order."""
    if wanted in inside:
        return True
    blocks = SequenceMatcher(None, wanted, inside, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) >= MIN_COVERED * len(wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pdfs", type=Path, nargs="+")
    parser.add_argument("--pages", type=int, default=50)
    options = parser.parse_args()
    choose("off")  # pdftotext reads no pictures
    by_file = {pdf: list(sentences(pdf)) for pdf in options.pdfs}
    pages = [
        (pdf, page) for pdf, found in by_file.items() for page in sorted({b.page for one in found for b in one.boxes})
    ]
    chosen = pages[:: max(1, len(pages) // options.pages)][: options.pages]
    exact = covered = checked = 0
    for pdf, page in chosen:
        words: dict[int, list[Word]] = {}
        for one in by_file[pdf]:
            if not letters(one.text) or one.boxes[0].page != page:
                continue
            words |= {box.page: words_of(pdf, box.page) for box in one.boxes if box.page not in words}
            wanted = letters(one.text)
            inside = letters("".join(text_in(box, words[box.page]) for box in one.boxes))
            checked += 1
            exact += wanted in inside
            if are_in(wanted, inside):
                covered += 1
            else:
                print(
                    f"{pdf.name}, page {page}: {' '.join(one.text.split())[:100]!r}\n    in its boxes: {inside[:100]!r}"
                )
    print(f"{len(chosen)} pages of {len(by_file)} files: {covered} of {checked} sentences covered", end=" ")
    print(f"({covered / checked:.2%}), {exact} ({exact / checked:.2%}) letter by letter")
    every = [one for found in by_file.values() for one in found]
    rest = sum(len(letters(one.rest)) for one in every)
    total = rest + sum(len(letters(one.text)) for one in every)
    print(f"{rest} of {total} letters of these files ({rest / total:.2%}) are in no box")


if __name__ == "__main__":
    main()
