"""CSV and TSV: one sentence per record with its column names, placed by the row number that a spreadsheet shows."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from itertools import islice
from math import inf

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.draft import PART, Draft
from propcite.app.ingest.readers.plain_text import decode
from propcite.app.ingest.readers.rows import Row, limit_cells, written_rows
from propcite.retrieval.text import Document

_DELIMITERS = ";\t|,"  # the comma is last: if all split rows evenly, it is the decimal comma
_SEP_LINE = re.compile(r'\A"?sep=(.)"?\r?\n', re.IGNORECASE)  # the first line that Excel writes
_SAMPLE = 64 * 1024
_MAX_CELL = 16 * 2**20
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def read_csv(name: str, data: bytes) -> Document:
    return next(csv_parts(name, data, inf))


def read_tsv(name: str, data: bytes) -> Document:
    return next(tsv_parts(name, data, inf))


def csv_parts(name: str, data: bytes, size: float = PART) -> Iterator[Document]:
    return _parts(name, csv_rows(name, data), size)


def tsv_parts(name: str, data: bytes, size: float = PART) -> Iterator[Document]:
    return _parts(name, tsv_rows(name, data), size)


def csv_rows(name: str, data: bytes) -> Iterator[Row]:
    text = decode(name, data)
    declared = _SEP_LINE.match(text)
    return _rows(text[declared.end() :] if declared else text, declared[1] if declared else delimiter_of(text))


def tsv_rows(name: str, data: bytes) -> Iterator[Row]:
    return _rows(decode(name, data), "\t")


def delimiter_of(text: str) -> str:
    """Return the delimiter that splits most rows into the same number of cells; a comma if none does.

    >>> delimiter_of("a;b,c\\n1;2,5\\n3;4,5\\n"), delimiter_of("words\\nand more")
    (';', ',')
    """
    sample = text[:_SAMPLE]

    def evenness(delimiter: str) -> tuple[float, int]:
        widths = [len(row) for row in islice(csv.reader(StringIO(sample, newline=""), delimiter=delimiter), 100) if row]
        width, times = Counter(widths).most_common(1)[0] if widths else (1, 0)
        return (times / len(widths), width) if width > 1 else (0.0, 1)

    # csv.Sniffer may take a letter of words in a single column for the delimiter.
    best = max(_DELIMITERS, key=evenness)
    return best if evenness(best)[0] else ","


def _parts(name: str, rows: Iterator[Row], size: float) -> Iterator[Document]:
    """Yield a table in parts of whole rows."""
    draft = Draft()
    try:
        yield from draft.parts(written_rows(draft, limit_cells(name, rows)), name, "", {"kind": "csv"}, size)
    except csv.Error as error:
        raise ReadError(
            f"{name} has a quote that is never closed or an endless cell: fix it and add it again"
        ) from error


def _rows(text: str, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(_MAX_CELL)
    table, was_empty = 0, False
    lines = (line[0] for line in _LINE.finditer(text))  # StringIO would take four bytes per character
    for number, cells in enumerate(csv.reader(lines, delimiter=delimiter), 1):
        is_empty = not any(map(str.strip, cells))
        table += was_empty and not is_empty
        was_empty = is_empty
        yield Row(cells, f"row {number}", table)
