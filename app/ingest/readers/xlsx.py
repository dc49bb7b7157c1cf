"""Spreadsheets: each row is a sentence with the names of its columns, with numbers as Excel shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf
from typing import Any

from propcite.app.ingest.readers.draft import PART, Draft
from propcite.app.ingest.readers.drawings import write_sheet_drawing
from propcite.app.ingest.readers.number_formats import format_code, format_number
from propcite.app.ingest.readers.office import Package
from propcite.app.ingest.readers.raised import lowered, raised
from propcite.app.ingest.readers.rows import Row, limit_cells, written_rows
from propcite.app.ingest.readers.xml import attribute, iterate_elements, local_name
from propcite.retrieval.text import Document

_MERGED = re.compile(rb'mergeCell\s+ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_PIECE = 2**20
_MAX_COLUMNS = 16_384


def read_xlsx(name: str, data: bytes) -> Document:
    return next(xlsx_parts(name, data, inf))


def xlsx_parts(name: str, data: bytes, size: float = PART) -> Iterator[Document]:
    """Yield a workbook in parts of whole rows."""
    book = _Book(Package(name, data, "xl/"))
    draft, fields = Draft(), book.package.properties()
    metadata = {"kind": "xlsx", "author": fields.get("author", ""), "date": fields.get("date", "")}
    return draft.parts(_written(draft, book), name, fields.get("title", ""), metadata, size)


def _written(draft: Draft, book: _Book) -> Iterator[Row]:
    """Yield each row once it is written below the title of its sheet."""
    for title, path in book.sheets():
        with draft.under(title, level=1):
            yield from written_rows(draft, limit_cells(book.package.name, book.rows(title, path)))
            write_sheet_drawing(draft, book.package, path)


def xlsx_rows(name: str, data: bytes) -> Iterator[Row]:
    """Yield the rows of all sheets, one sheet after another."""
    book = _Book(Package(name, data, "xl/"))
    for title, path in book.sheets():
        yield from book.rows(title, path)


class _Book:
    def __init__(self, package: Package) -> None:
        self.package = package
        self._related = package.related(package.main)
        self._root = package.root
        properties = self._root.find("{*}workbookPr")
        self._since_1904 = properties is not None and attribute(properties, "date1904") in ("1", "true")
        self._codes = list(self._formats())
        self._strings = list(self._shared_strings())

    def sheets(self) -> Iterator[tuple[str, str]]:
        """Yield each sheet's title and path; those marked `veryHidden`, which users cannot open, are left out."""
        for sheet in self._root.iterfind("{*}sheets/{*}sheet"):
            ids = [value for key, value in sheet.attrib.items() if key.endswith("}id")]
            kind, path = self._related.get(ids[0] if ids else "", ("", ""))
            state = attribute(sheet, "state")
            if kind == "worksheet" and path in self.package.archive.members and state != "veryHidden":
                yield attribute(sheet, "name") + (" (hidden)" if state == "hidden" else ""), path

    def rows(self, sheet: str, path: str) -> Iterator[Row]:
        """Yield the rows that are not empty; an empty one ends a table.  Merged cells are repeated in each row."""
        merged, wide = self._merged(path)
        spanning: dict[int, tuple[int, str]] = {}  # by column: the last row that a merged cell spans, and its text
        number = last = table = 0
        with self.package.archive.open(path) as file:
            for row in iterate_elements(self.package.name, file, "{*}row"):
                reference = row.get("r", "")
                number = int(reference) if reference.isdecimal() and len(reference) < 9 else number + 1
                cells = self._cells(row)
                has_own = bool(cells)
                for column, words in cells.items():
                    if (number, column) in merged:
                        spanning[column] = merged[number, column], words
                spanning = {column: (end, words) for column, (end, words) in spanning.items() if end >= number}
                cells.update({column: words for column, (_, words) in spanning.items() if column not in cells})
                if not has_own:
                    continue
                table += number > last + 1
                last = number
                texts = [cells.get(column, "") for column in range(max(cells) + 1)]
                hidden = " (hidden)" if row.get("hidden") in ("1", "true") else ""
                yield Row(texts, f"{sheet}, row {number}{hidden}", table, number in wide)

    def _cells(self, row: Any) -> dict[int, str]:
        cells: dict[int, str] = {}
        column = -1
        for cell in row:
            if local_name(cell) != "c":
                continue
            reference = _REFERENCE.fullmatch(cell.get("r", ""))
            column = _column(reference[1]) if reference else column + 1
            if column < _MAX_COLUMNS and (words := self._words(cell).strip()):
                cells[column] = words
        return cells

    def _words(self, cell: Any) -> str:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return _text(cell.find("{*}is"))
        element = cell.find("{*}v")
        value = (element.text or "") if element is not None else ""
        match kind:
            case "s":
                exists = value.isdecimal() and len(value) < 10 and int(value) < len(self._strings)
                return self._strings[int(value)] if exists else ""
            case "b":
                return {"1": "TRUE", "0": "FALSE"}.get(value, "")
            case "n":
                return self._number(value, cell.get("s", "0"))
            case "d":
                return value.removesuffix("T00:00:00")
        return value

    def _number(self, value: str, style: str) -> str:
        code = self._codes[int(style)] if style.isdecimal() and int(style) < len(self._codes) else "General"
        try:
            return format_number(float(value), code, since_1904=self._since_1904)
        except ValueError:
            return value

    def _formats(self) -> Iterator[str]:
        """Yield the number format of each cell style."""
        root = self.package.first_related(self.package.main, "styles")
        if root is None:
            return
        own = {
            int(element.get("numFmtId")): element.get("formatCode", "")
            for element in root.iterfind("{*}numFmts/{*}numFmt")
            if element.get("numFmtId", "").isdecimal()
        }
        for style in root.iterfind("{*}cellXfs/{*}xf"):
            number = style.get("numFmtId", "0")
            yield format_code(int(number) if number.isdecimal() else 0, own)

    def _shared_strings(self) -> Iterator[str]:
        paths = [path for kind, path in self._related.values() if kind == "sharedStrings"]
        if paths and paths[0] in self.package.archive.members:
            with self.package.archive.open(paths[0]) as file:
                for item in iterate_elements(self.package.name, file, "{*}si"):
                    yield _text(item)

    def _merged(self, path: str) -> tuple[dict[tuple[int, int], int], set[int]]:
        """Return the last row of each vertically merged cell, by row and column; the rows with a wide cell.

        Merges are listed after the rows, so the part is read twice.
        """
        last_rows: dict[tuple[int, int], int] = {}
        wide: set[int] = set()
        with self.package.archive.open(path) as file:
            rest = b""
            while piece := file.read(_PIECE):
                rest = rest[-100:] + piece
                for match in _MERGED.finditer(rest):
                    first, last = int(match[2]), int(match[4])
                    if last > first and match[1] == match[3]:
                        last_rows[first, _column(match[1].decode())] = last
                    elif last == first:
                        wide.add(first)
        return last_rows, wide


def _text(item: Any | None) -> str:
    """Return a string's text, without pronunciation guides and struck words."""
    if item is None:
        return ""
    text = ""
    for part in item:
        words = part if local_name(part) == "t" else part.find("{*}t") if local_name(part) == "r" else None
        if words is None or not words.text or part.find("{*}rPr/{*}strike") is not None:
            continue
        script = part.find("{*}rPr/{*}vertAlign")
        match attribute(script, "val") if script is not None else "":
            case "superscript":
                text += raised(words.text)
            case "subscript":
                text += lowered(words.text, text)
            case _:
                text += words.text
    return text


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
