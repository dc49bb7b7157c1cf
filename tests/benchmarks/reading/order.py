"""Measure whether PDFs are read in order, on pages that are printed here.

    python -m tests.benchmarks.reading order CACHE [--only NAME] [--examples N] [--keep FOLDER]

The order of the printed pages is known from their source.  Reported per layout: the share of sentences that are whole
and of those in order; notes and captions that stand inside a sentence; table cells in one sentence with their row's
first cell and below their column's name; running heads that are left in the text.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.answers.report import show
from tests.benchmarks.reading._order_pages import printed
from tests.benchmarks.reading._order_texts import Truth

from propcite.app.errors import AppError
from propcite.app.ingest.readers import document_from_bytes

HEAD = (
    "layout",
    "pages",
    "sentences",
    "whole",
    "in order",
    "notes",
    "inside a sentence",
    "cells",
    "right",
    "heads left",
)


@dataclass(frozen=True, slots=True)
class Measured:
    """Counts of one layout, and the sentences that are not whole."""

    name: str
    pages: int
    sentences: int
    whole: int
    in_order: int
    apart: int
    inside: int
    cells: int
    right: int
    heads: int
    seconds: float
    broken: tuple[str, ...] = ()

    @property
    def row(self) -> tuple[str, ...]:
        shares = f"{self.whole / self.sentences:.1%}", f"{self.in_order / self.sentences:.1%}"
        cells = f"{self.right / self.cells:.1%}" if self.cells else ""
        return (
            *(self.name, str(self.pages), str(self.sentences), *shares, str(self.apart), str(self.inside)),
            *(str(self.cells or ""), cells, str(self.heads)),
        )


def plain(text: str) -> str:
    """Return the text with a sign between its blocks and without the numbers of notes, which are beside words."""
    return re.sub(
        r"(?<=[^\W\d_])[\d⁰¹²³⁴-⁹]{1,2}\b",
        "",
        " ¶ ".join(" ".join(block.split()) for block in text.split("\n") if block),
    )


def measure(name: str, data: bytes, truth: Truth) -> Measured:
    start = time.process_time()
    document = document_from_bytes("printed.pdf", data, "")
    seconds = time.process_time() - start
    text, lines = plain(document.text), document.text.split("\n")
    places = [text.find(sentence) for sentence in truth.body]
    found = [place for place in places if place >= 0]
    return Measured(
        name=name,
        pages=int(document.metadata["pages"]),
        sentences=len(truth.body),
        whole=len(found),
        in_order=_longest_rise(found),
        apart=len(truth.apart),
        inside=sum(_is_inside(text, note) for note in truth.apart),
        cells=sum(map(len, truth.rows)),
        right=sum(_is_right(lines, row, cell) for row in truth.rows for cell in row),
        heads=sum(text.count(head) for head in truth.heads),
        seconds=seconds,
        broken=tuple(one for one, place in zip(truth.body, places, strict=True) if place < 0),
    )


def _is_inside(text: str, note: str) -> bool:
    """Whether a note is lost or begins inside a sentence: the text before it ends none."""
    place = text.find(note[:30])
    before = re.sub(r"(?:¶|^)\s*\d+\s*$", "", text[: max(place, 0)]).rstrip(" ¶")
    return place < 0 or (before != "" and not before.endswith((".", "!", "?")))


def _is_right(lines: Iterable[str], row: Sequence[tuple[str, str]], cell: tuple[str, str]) -> bool:
    name, value = cell
    words = f"{name} = {value}" if name else f"{value}: "
    return any(words in line and row[0][1] in line for line in lines)


def _longest_rise(places: Iterable[int]) -> int:
    """Return the length of the longest run of places, with gaps, that only rises."""
    tails: list[int] = []
    for place in places:
        at = bisect_left(tails, place)
        tails[at : at + 1] = [place]
    return len(tails)


def total(measured: Sequence[Measured]) -> Measured:
    names = ("pages", "sentences", "whole", "in_order", "apart", "inside", "cells", "right", "heads", "seconds")
    return Measured(f"all {len(measured)}", *(sum(getattr(one, name) for one in measured) for name in names))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, help="the folder into which apt-get downloads packages, once")
    parser.add_argument("--only", default="", help="a part of the names of the layouts to measure")
    parser.add_argument("--examples", type=int, default=0, help="broken sentences shown of each layout")
    parser.add_argument("--keep", type=Path, help="a folder into which the printed PDFs are written")
    options = parser.parse_args()
    try:
        measured = [_kept(options.keep, *one) for one in printed(options.cache.absolute()) if options.only in one[0]]
    except AppError as error:
        sys.exit(str(error))
    everything = total(measured)
    show(HEAD, (one.row for one in (*measured, everything)))
    print(f"{everything.pages / everything.seconds:.0f} pages per second of processor time")
    for one in measured if options.examples else ():
        for sentence in one.broken[: options.examples]:
            print(f"{one.name}: {sentence}")


def _kept(folder: Path | None, name: str, data: bytes, truth: Truth) -> Measured:
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.pdf").write_bytes(data)
    return measure(name, data, truth)
