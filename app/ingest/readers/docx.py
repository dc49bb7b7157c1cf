"""Word documents: headings by their styles, lists with the labels that are seen, tables row by row, notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from propcite.app.ingest.readers.docx_styles import Numbering, Styles
from propcite.app.ingest.readers.draft import Draft
from propcite.app.ingest.readers.office import Package
from propcite.app.ingest.readers.rows import Row, bounded, write_rows
from propcite.app.ingest.readers.xml import attribute, local
from propcite.retrieval.text import Document

# Deleted words, a drawing's second rendering for old programs, codes of fields, how a word is read aloud.
_UNREAD = frozenset("del moveFrom Fallback instrText delText delInstrText rt rPr pPr tblPr sdtPr fldData".split())
_INSIDE = frozenset("sdt sdtContent customXml ins moveTo smartTag body".split())
_DEEPEST = 60


def read_docx(name: str, data: bytes) -> Document:
    package = Package(name, data, "word/")
    draft = Draft()
    writer = _Writer(draft, package)
    body = package.root.find("{*}body")
    writer.blocks(body if body is not None else ())
    writer.close_lists()
    fields = package.properties()
    title = writer.title or fields.pop("title", "")
    return draft.document(name, title, {"kind": "docx", **{key: fields.get(key, "") for key in ("author", "date")}})


class _Writer:
    def __init__(self, draft: Draft, package: Package) -> None:
        self.name = package.name
        self.draft = draft
        self.title = ""
        self.styles = Styles(package.one(package.main, "styles"))
        self.numbering = Numbering(package.one(package.main, "numbering"))
        self._notes = {kind: _by_id(package.one(package.main, f"{kind}s")) for kind in ("footnote", "endnote")}
        self._boxes: list[Any] = []  # text boxes of the paragraph that is read
        self._called: list[tuple[str, str]] = []  # the notes that it calls
        self._numbers = {"footnote": 0, "endnote": 0}
        self._depth = 0  # of the lists that are open
        self._inside = 0  # of boxes and cells in each other

    def blocks(self, parent: Any) -> None:
        for element in parent:
            match local(element):
                case "p":
                    self._paragraph(element)
                case "tbl":
                    self.close_lists()
                    self._table(element)
                case tag if tag in _INSIDE:
                    self.blocks(element)

    def close_lists(self) -> None:
        self._to_depth(0)

    def _paragraph(self, paragraph: Any) -> None:
        style = self.styles.of(paragraph)
        words = self._words(paragraph)
        if words.strip() and not style.is_contents:
            label = self.numbering.label(paragraph, style)
            if style.level:
                self.close_lists()
                self.draft.block(
                    f"{label.marker} {words}" if label and not label.is_bullet else words, level=style.level
                )
                if style.is_title and not self.title:
                    self.title = words
            elif label:
                self._to_depth(label.depth)
                self.draft.open_item("" if label.is_bullet else f"{label.marker} ")
                self.draft.block(words)
                self.draft.close_item()
            else:
                self.close_lists()
                self.draft.block(words)
        self._aside()

    def _to_depth(self, depth: int) -> None:
        while self._depth > depth:
            self.draft.close_list()
            self._depth -= 1
        while self._depth < depth:
            self.draft.open_list(None)
            self._depth += 1

    def _aside(self) -> None:
        """What the paragraph calls: its notes, its text boxes."""
        called, self._called = self._called, []
        boxes, self._boxes = self._boxes, []
        for kind, note in called:
            self._numbers[kind] += 1
            words = " ".join(self._words(p) for p in self._notes[kind][note].iter("{*}p"))
            self._called = []  # a note calls none
            self.draft.block(f"{'Note' if kind == 'footnote' else 'Endnote'} {self._numbers[kind]}: {words.strip()}")
        if self._inside < _DEEPEST:
            self._inside += 1
            for box in boxes:
                self.close_lists()
                self.blocks(box)
            self._inside -= 1

    def _words(self, paragraph: Any) -> str:
        return "".join(self._pieces(paragraph))

    def _pieces(self, paragraph: Any) -> Iterator[str]:
        from lxml import etree

        walk = etree.iterwalk(paragraph, events=("start",))
        for _, element in walk:
            tag = local(element)
            if tag in _UNREAD or (tag == "r" and _is_hidden(element)):
                walk.skip_subtree()
            match tag:
                case "t":
                    yield element.text or ""
                case "br" | "cr":
                    yield " " if attribute(element, "type") == "page" else "\n"
                case "tab" | "ptab":
                    yield " "
                case "noBreakHyphen":
                    yield "-"
                case "footnoteReference" | "endnoteReference":
                    kind, note = tag.removesuffix("Reference"), attribute(element, "id")
                    if note in self._notes[kind]:
                        self._called.append((kind, note))
                case "txbxContent":
                    self._boxes.append(element)
                    walk.skip_subtree()

    def _table(self, table: Any) -> None:
        rows = [row for row in _rows(table) if row.find("{*}trPr/{*}del") is None]
        grids = [[(cell, *_merged(cell)) for cell in _cells(row)] for row in rows]
        if grids and max(len(grid) for grid in grids) == 1:  # a frame around text
            for grid in grids:
                for cell, _, _ in grid:
                    self.blocks(cell)
            self.close_lists()
            return
        texts = list(bounded(self.name, self._read_rows(grids)))
        named = bool(rows) and (rows[0].find("{*}trPr/{*}tblHeader") is not None or _is_bold(rows))
        write_rows(self.draft, texts, named=named and len(rows) > 1)
        self._aside()

    def _read_rows(self, grids: list[list[tuple[Any, int, bool]]]) -> Iterator[Row]:
        """What is merged downwards stands in each row."""
        above: dict[int, str] = {}
        for grid in grids:
            cells: list[str] = []
            for cell, span, goes_on in grid:
                words = above.get(len(cells), "") if goes_on else self._cell(cell)
                above[len(cells)] = words
                cells += [words, *[""] * (span - 1)]
            yield Row(cells)

    def _cell(self, cell: Any) -> str:
        """A cell's words in one line; a table inside it is read the same way."""
        return " ".join(
            filter(
                None, (self._words(paragraph).strip() for paragraph in cell.iter("{*}p") if _is_read(paragraph, cell))
            )
        )


def _by_id(root: Any | None) -> dict[str, Any]:
    """Notes by their ids, without the lines that part them from the text."""
    if root is None:
        return {}
    return {attribute(note, "id"): note for note in root if attribute(note, "type", "normal") == "normal"}


def _rows(table: Any) -> Iterator[Any]:
    return _found(table, "tr")


def _cells(row: Any) -> Iterator[Any]:
    return _found(row, "tc")


def _found(parent: Any, tag: str) -> Iterator[Any]:
    """Children of this name, also inside content controls and insertions."""
    for element in parent:
        if local(element) == tag:
            yield element
        elif local(element) in _INSIDE:
            yield from _found(element, tag)


def _merged(cell: Any) -> tuple[int, bool]:
    """How many columns a cell takes, and whether it goes on from the row above."""
    span = cell.find("{*}tcPr/{*}gridSpan")
    merge = cell.find("{*}tcPr/{*}vMerge")
    columns = attribute(span, "val") if span is not None else ""
    return min(int(columns), 500) if columns.isdecimal() and int(columns) else 1, (
        merge is not None and attribute(merge, "val", "continue") == "continue"
    )


def _is_read(paragraph: Any, cell: Any) -> bool:
    """Whether it stands in the cell itself or in a table there, not in a text box, which is read by itself."""
    for above in paragraph.iterancestors():
        if above is cell:
            return True
        if local(above) in ("txbxContent", "Fallback"):
            return False
    return True


def _is_bold(rows: list[Any]) -> bool:
    """Whether the first row alone is set in bold."""
    shares = [
        [run.find("{*}rPr/{*}b") is not None for run in row.iter("{*}r") if run.find("{*}t") is not None]
        for row in rows[:2]
    ]
    return len(shares) == 2 and bool(shares[0]) and all(shares[0]) and not all(shares[1])


def _is_hidden(run: Any) -> bool:
    vanish = run.find("{*}rPr/{*}vanish")
    return vanish is not None and attribute(vanish, "val", "1") not in ("0", "false", "off")
