"""Word documents: headings by style, lists with the labels that Word shows, tables row by row, notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from typing import Any

from propcite.app.ingest.readers.docx_styles import Numbering, Styles, value_of
from propcite.app.ingest.readers.draft import Draft
from propcite.app.ingest.readers.drawings import write_graphic
from propcite.app.ingest.readers.formulas import formula
from propcite.app.ingest.readers.office import Package
from propcite.app.ingest.readers.raised import lowered, raised
from propcite.app.ingest.readers.rows import Row, cell_text, limit_cells, write_rows
from propcite.app.ingest.readers.symbol_fonts import symbol_character
from propcite.app.ingest.readers.xml import attribute, local_name
from propcite.retrieval.text import Document

# Deleted text, a drawing's fallback for old programs, field codes, pronunciation guides, and properties.
_SKIPPED = frozenset("del moveFrom Fallback instrText delText delInstrText rt rPr pPr tblPr sdtPr fldData".split())
_CONTAINERS = frozenset("sdt sdtContent customXml ins moveTo smartTag body".split())
_MAX_DEPTH = 60
_Grid = list[tuple[Any, int, bool]]  # the cells of a row, their columns, and whether each goes on from the row above


def read_docx(name: str, data: bytes) -> Document:
    package = Package(name, data, "word/")
    draft = Draft()
    writer = _Writer(draft, package)
    body = package.root.find("{*}body")
    writer.blocks(body if body is not None else ())
    draft.to_depth(0)
    fields = package.properties()
    title = writer.title or fields.pop("title", "")
    return draft.document(name, title, {"kind": "docx", **{key: fields.get(key, "") for key in ("author", "date")}})


class _Writer:
    def __init__(self, draft: Draft, package: Package) -> None:
        self.name = package.name
        self._package = package
        self.draft = draft
        self.title = ""
        self.styles = Styles(package.first_related(package.main, "styles"))
        self.numbering = Numbering(package.first_related(package.main, "numbering"))
        self._notes = {
            "footnote": _notes_by_id(package.first_related(package.main, "footnotes")),
            "endnote": _notes_by_id(package.first_related(package.main, "endnotes")),
        }
        self._boxes: list[Any] = []  # text boxes of the current paragraph
        self._graphics: list[Any] = []  # charts and diagrams of the current paragraph
        self._references: list[tuple[str, str]] = []  # notes that the current paragraph refers to
        self._numbers = {"footnote": 0, "endnote": 0}
        self._nesting = 0  # of text boxes in each other

    def blocks(self, parent: Any) -> None:
        for element in parent:
            match local_name(element):
                case "p":
                    self._paragraph(element)
                case "tbl":
                    self.draft.to_depth(0)
                    self._table(element)
                case tag if tag in _CONTAINERS:
                    self.blocks(element)

    def _paragraph(self, paragraph: Any) -> None:
        style = self.styles.of(paragraph)
        words = self._words(paragraph)
        if words.strip() and not style.is_contents:
            label = self.numbering.label(paragraph, style)
            if style.level:
                self.draft.to_depth(0)
                self.draft.block(
                    f"{label.marker} {words}" if label and not label.is_bullet else words, level=style.level
                )
                if style.is_title and not self.title:
                    self.title = words
            elif label:
                self.draft.to_depth(label.depth)
                if not label.continues:
                    self.draft.open_item("" if label.is_bullet else f"{label.marker} ")
                self.draft.block(words)
                self.draft.close_item()
            else:
                self.draft.to_depth(0)
                self.draft.block(words)
        self._notes_and_boxes()

    def _notes_and_boxes(self) -> None:
        """Write the notes and text boxes of the paragraph or table that was just written."""
        references, self._references = self._references, []
        boxes, self._boxes = self._boxes, []
        graphics, self._graphics = self._graphics, []
        for kind, note in references:
            self._numbers[kind] += 1
            words = " ".join(self._words(p) for p in self._notes[kind][note].iter("{*}p"))
            self._references = []  # references in a note are ignored
            self.draft.block(f"{'Note' if kind == 'footnote' else 'Endnote'} {self._numbers[kind]}: {words.strip()}")
        for graphic in graphics:
            self.draft.to_depth(0)
            write_graphic(self.draft, self._package, self._package.main, graphic)
        if self._nesting < _MAX_DEPTH:
            self._nesting += 1
            for box in boxes:
                self.draft.to_depth(0)
                self.blocks(box)
            self._nesting -= 1

    def _words(self, paragraph: Any) -> str:
        return "".join(self._pieces(paragraph))

    def _pieces(self, paragraph: Any) -> Iterator[str]:
        from lxml import etree

        walk = etree.iterwalk(paragraph, events=("start",))
        script = before = ""
        for _, element in walk:
            tag = local_name(element)
            if tag in _SKIPPED or (tag == "r" and self.styles.is_hidden(element)):
                walk.skip_subtree()
            match tag:
                case "r":
                    script = value_of(element, "rPr/vertAlign")
                case "oMath":
                    yield (before := formula(element))
                    walk.skip_subtree()
                case "t":
                    words = element.text or ""
                    if script:
                        words = raised(words) if script == "superscript" else lowered(words, before)
                    before = words or before
                    yield words
                case "sym":
                    yield (before := _symbol(element))
                case "br" | "cr":
                    yield " " if attribute(element, "type") == "page" else "\n"
                case "tab" | "ptab":
                    yield " "
                case "noBreakHyphen":
                    yield "-"
                case "footnoteReference" | "endnoteReference":
                    kind, note = tag.removesuffix("Reference"), attribute(element, "id")
                    if note in self._notes[kind]:
                        self._references.append((kind, note))
                case "txbxContent":
                    self._boxes.append(element)
                    walk.skip_subtree()
                case "chart" | "relIds":
                    self._graphics.append(element)

    def _table(self, table: Any) -> None:
        """Write the rows; those with tables inside lay out a page, as single cells do, and are written cell by cell."""
        rows = [row for row in _rows(table) if row.find("{*}trPr/{*}del") is None]
        grids = [[(cell, *_merged(cell)) for cell in _cells(row)] for row in rows]
        is_frame, is_bold = max(map(len, grids), default=0) == 1, self.styles.has_bold_names(table)
        for is_layout, group in groupby(
            zip(rows, grids, strict=True), key=lambda pair: is_frame or _has_table(pair[1])
        ):
            pairs = list(group)
            if not is_layout:
                self._write_rows(pairs, is_bold=is_bold)
            for cell, _, _ in chain.from_iterable(grid for _, grid in pairs if is_layout):
                self.blocks(cell)
            self.draft.to_depth(0)
            is_bold = False

    def _write_rows(self, pairs: Sequence[tuple[Any, _Grid]], *, is_bold: bool) -> None:
        """Write rows with their cells; `is_bold` says that the style of their table shows the first in bold letters."""
        texts = list(limit_cells(self.name, self._read_rows([grid for _, grid in pairs])))
        bold = [self.styles.is_bold(row) or (is_bold and not at) for at, (row, _) in enumerate(pairs[:2])]
        texts[:2] = [replace(text, is_bold=one) for text, one in zip(texts, bold, strict=False)]
        write_rows(self.draft, texts, named=pairs[0][0].find("{*}trPr/{*}tblHeader") is not None)
        self._notes_and_boxes()

    def _read_rows(self, grids: Sequence[_Grid]) -> Iterator[Row]:
        """Yield the rows; a vertically merged cell is repeated in each row that it spans."""
        above: dict[int, str] = {}
        for grid in grids:
            cells: list[str] = []
            for cell, span, continues in grid:
                words = above.get(len(cells), "") if continues else self._cell(cell)
                above[len(cells)] = words
                cells += [words, *[""] * (span - 1)]
            yield Row(cells, is_label=len(grid) == 1 < len(cells))

    def _cell(self, cell: Any) -> str:
        """Return a cell's text in one line."""
        paragraphs = [paragraph for paragraph in cell.iter("{*}p") if _belongs_to(paragraph, cell)]
        labels = [self.numbering.label(paragraph, self.styles.of(paragraph)) for paragraph in paragraphs]
        return cell_text(
            (self._words(paragraph), label.marker if label else "", label is not None and label.is_bullet)
            for paragraph, label in zip(paragraphs, labels, strict=True)
        )


def _notes_by_id(root: Any | None) -> dict[str, Any]:
    """Return notes by id, without the separator lines that Word stores among them."""
    if root is None:
        return {}
    return {attribute(note, "id"): note for note in root if attribute(note, "type", "normal") == "normal"}


def _rows(table: Any) -> Iterator[Any]:
    return _children(table, "tr")


def _cells(row: Any) -> Iterator[Any]:
    return _children(row, "tc")


def _children(parent: Any, tag: str) -> Iterator[Any]:
    """Yield the children of this name, including those inside content controls and insertions."""
    for element in parent:
        if local_name(element) == tag:
            yield element
        elif local_name(element) in _CONTAINERS:
            yield from _children(element, tag)


def _merged(cell: Any) -> tuple[int, bool]:
    """Return the number of columns that a cell spans, and whether it continues the cell above."""
    span = cell.find("{*}tcPr/{*}gridSpan")
    merge = cell.find("{*}tcPr/{*}vMerge")
    columns = attribute(span, "val") if span is not None else ""
    return min(int(columns), 500) if columns.isdecimal() and int(columns) else 1, (
        merge is not None and attribute(merge, "val", "continue") == "continue"
    )


def _has_table(grid: _Grid) -> bool:
    return any(cell.find(".//{*}tbl") is not None for cell, _, _ in grid)


def _belongs_to(paragraph: Any, cell: Any) -> bool:
    """Whether a paragraph is in the cell, and not in a text box there, which is written separately."""
    for ancestor in paragraph.iterancestors():
        if ancestor is cell:
            return True
        if local_name(ancestor) in ("txbxContent", "Fallback"):
            return False
    return True


def _symbol(symbol: Any) -> str:
    """Return the character of a symbol font; empty if it is not known."""
    code = attribute(symbol, "char")
    number = int(code, 16) & 0xFF if re.fullmatch("[0-9A-Fa-f]{2,4}", code) else 0
    return symbol_character(attribute(symbol, "font"), number)
