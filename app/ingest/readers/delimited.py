"""CSV and TSV: each record a sentence with the names of its columns, found by the row that a spreadsheet shows."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from itertools import islice

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.decoding import decode
from propcite.app.ingest.readers.draft import Draft, stem
from propcite.app.ingest.readers.rows import Row, bounded, write_rows
from propcite.retrieval.text import Document

_DELIMITERS = ";\t|,"  # a comma last: where all part evenly, it is that of decimals
_STATED = re.compile(r'\A"?sep=(.)"?\r?\n', re.IGNORECASE)  # Excel's own first line
_SAMPLE = 64 * 1024
_LONGEST_CELL = 16 * 2**20


def read_csv(name: str, data: bytes) -> Document:
    return _read(name, csv_rows(name, data))


def read_tsv(name: str, data: bytes) -> Document:
    return _read(name, tsv_rows(name, data))


def csv_rows(name: str, data: bytes) -> Iterator[Row]:
    text = decode(name, data)
    stated = _STATED.match(text)
    return _rows(text[stated.end() :] if stated else text, stated[1] if stated else delimiter_of(text))


def tsv_rows(name: str, data: bytes) -> Iterator[Row]:
    return _rows(decode(name, data), "\t")


def delimiter_of(text: str) -> str:
    """What parts most rows in the same number of cells; a comma where nothing does.

    >>> delimiter_of("a;b,c\\n1;2,5\\n3;4,5\\n"), delimiter_of("words\\nand more")
    (';', ',')
    """
    sample = text[:_SAMPLE]

    def evenness(delimiter: str) -> tuple[float, int]:
        widths = [len(row) for row in islice(csv.reader(StringIO(sample, newline=""), delimiter=delimiter), 100) if row]
        width, times = Counter(widths).most_common(1)[0] if widths else (1, 0)
        return (times / len(widths), width) if width > 1 else (0.0, 1)

    # csv.Sniffer takes a letter for the delimiter of a column of words.
    best = max(_DELIMITERS, key=evenness)
    return best if evenness(best)[0] else ","


def _read(name: str, rows: Iterator[Row]) -> Document:
    draft = Draft()
    try:
        write_rows(draft, bounded(name, rows))
    except csv.Error as error:
        raise ReadError(
            f"{name} has a quote that never ends or a cell without end: close it and add it again"
        ) from error
    return draft.document(name, stem(name), {"kind": "csv"})


def _rows(text: str, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(_LONGEST_CELL)
    table, was_empty = 0, False
    for number, cells in enumerate(csv.reader(StringIO(text, newline=""), delimiter=delimiter), 1):
        is_empty = not any(map(str.strip, cells))
        table += was_empty and not is_empty
        was_empty = is_empty
        yield Row(cells, f"row {number}", table)
