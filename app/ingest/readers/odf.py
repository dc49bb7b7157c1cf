"""OpenDocument texts, spreadsheets and slides, as LibreOffice writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from propcite.app.ingest.readers.archive import Archive, damaged
from propcite.app.ingest.readers.draft import Draft, one_line, stem
from propcite.app.ingest.readers.office import open_zipped, stated
from propcite.app.ingest.readers.rows import Row, bounded, write_rows
from propcite.app.ingest.readers.xml import attribute, local, parse_xml
from propcite.retrieval.text import Document

# Deleted words, comments, what a program repeats on each page, and what draws an item's number.
_UNREAD = frozenset("tracked-changes annotation annotation-end forms table-of-content number".split())
_INSIDE = frozenset("section index-body text-box alphabetical-index bibliography a frame custom-shape".split())
_NO_TIME = re.compile("T00:00:00$|(?<=:..):00$")
_MOST_REPEATED = 1000
_MOST_COLUMNS = 16_384


def read_odt(name: str, data: bytes) -> Document:
    archive = open_zipped(name, data, "opendocument.text")
    draft = Draft()
    body, styles = _body(archive, "text")
    _Writer(name, draft, styles).blocks(body)
    return _document(draft, archive, "odt")


def read_odp(name: str, data: bytes) -> Document:
    archive = open_zipped(name, data, "opendocument.presentation")
    draft = Draft()
    body, styles = _body(archive, "presentation")
    for number, page in enumerate(body.iterfind("{*}page"), 1):
        style = styles.get(attribute(page, "style-name"))
        shown = style.find("{*}drawing-page-properties") if style is not None else None
        hidden = " (hidden)" if shown is not None and attribute(shown, "visibility") == "hidden" else ""
        _write_slide(_Writer(name, draft, styles), page, f"slide {number}{hidden}")
    first = draft.headings[0].span.of(draft.text) if draft.headings else ""
    return _document(draft, archive, "odp", first)


def read_ods(name: str, data: bytes) -> Document:
    archive = open_zipped(name, data, "opendocument.spreadsheet")
    draft = Draft()
    for title, table in _sheets(archive):
        with draft.under(title, level=1):
            write_rows(draft, bounded(name, _sheet(table, title)))
    return _document(draft, archive, "ods", stem(name))


def ods_rows(name: str, data: bytes) -> Iterator[Row]:
    """Those of all sheets, one after another."""
    for title, table in _sheets(open_zipped(name, data, "opendocument.spreadsheet")):
        yield from _sheet(table, title)


def _sheets(archive: Archive) -> Iterator[tuple[str, Any]]:
    """Each with its title."""
    body, styles = _body(archive, "spreadsheet")
    for table in body.iterfind("{*}table"):
        style = styles.get(attribute(table, "style-name"))
        shown = style.find("{*}table-properties") if style is not None else None
        hidden = shown is not None and attribute(shown, "display") == "false"
        yield attribute(table, "name") + (" (hidden)" if hidden else ""), table


def _document(draft: Draft, archive: Archive, kind: str, title: str = "") -> Document:
    data = archive.read("meta.xml") if "meta.xml" in archive.members else b""
    fields = stated(parse_xml(archive.name, data)) if data else {}
    metadata = {"kind": kind, "author": fields.get("author", ""), "date": fields.get("date", "")}
    return draft.document(archive.name, title if kind == "odp" else fields.get("title", "") or title, metadata)


def _body(archive: Archive, kind: str) -> tuple[Any, dict[str, Any]]:
    """The content's root and the styles by their names."""
    if "content.xml" not in archive.members:
        raise damaged(archive.name)
    root = parse_xml(archive.name, archive.read("content.xml"))
    body = root.find(f"{{*}}body/{{*}}{kind}")
    if body is None:
        raise damaged(archive.name)
    return body, {attribute(style, "name"): style for style in _styles(archive, root)}


def _styles(archive: Archive, root: Any) -> Iterator[Any]:
    """Those that the program names itself stand in the content, the others beside it."""
    if "styles.xml" in archive.members:
        yield from parse_xml(archive.name, archive.read("styles.xml")).iterfind("{*}styles/*")
    yield from root.iterfind("{*}automatic-styles/*")


def _write_slide(writer: _Writer, page: Any, place: str) -> None:
    draft = writer.draft
    frames = [frame for frame in page if local(frame) not in ("notes", "forms")]
    with draft.place(place):
        for frame in frames:
            if attribute(frame, "class") == "title":
                draft.block(" ".join(_words(p) for p in frame.iter("{*}p")), level=1)
        rest = [frame for frame in frames if attribute(frame, "class") != "title"]
        for frame in _in_reading_order(rest):
            writer.blocks([frame])
    notes = page.find("{*}notes")
    if notes is not None:
        with draft.place(f"{place}, notes"):
            writer.blocks([frame for frame in notes if attribute(frame, "class") == "notes"])


def _in_reading_order(frames: Iterable[Any]) -> list[Any]:
    """From top to bottom, those of a third of an inch from left to right."""
    return sorted(frames, key=lambda frame: (round(_corner(frame, "y") * 3), _corner(frame, "x")))


def _corner(frame: Any, name: str) -> float:
    """Where it begins from the left or the top; a group begins where its first shape does."""
    return (
        min((_length(shape, name) for shape in frame.iterdescendants() if attribute(shape, name)), default=0.0)
        if (local(frame) == "g")
        else _length(frame, name)
    )


def _length(frame: Any, name: str) -> float:
    """A length in inches; drawn by a transformation, a shape has none."""
    text = attribute(frame, name)
    for unit, size in (("cm", 2.54), ("in", 1.0), ("mm", 25.4), ("pt", 72.0)):
        if text.endswith(unit):
            try:
                return float(text.removesuffix(unit)) / size
            except ValueError:
                break
    return 0.0


class _Writer:
    def __init__(self, name: str, draft: Draft, styles: dict[str, Any]) -> None:
        self.name = name
        self.draft = draft
        self.styles = styles
        self._aside: list[Any] = []  # text boxes and notes of the paragraph that is read
        self._notes = 0

    def blocks(self, parent: Any) -> None:
        for element in parent:
            match local(element):
                case "h":
                    level = attribute(element, "outline-level", "1")
                    self._block(element, int(level) if level.isdecimal() and 0 < int(level) < 20 else 1)
                case "p":
                    self._block(element, 1 if self._style(element) == "Title" else 0)
                case "list":
                    self._list(element)
                case "table":
                    self._table(element)
                case "g":
                    self.blocks(_in_reading_order(element))
                case tag if tag in _INSIDE:
                    self.blocks(element)

    def _style(self, paragraph: Any) -> str:
        """The style that a paragraph's own is made of."""
        name = attribute(paragraph, "style-name")
        style = self.styles.get(name)
        return attribute(style, "parent-style-name") if style is not None else name

    def _block(self, paragraph: Any, level: int) -> None:
        self.draft.block(_words(paragraph, self._aside), level=level)
        aside, self._aside = self._aside, []
        for element in aside:
            if local(element) == "note":
                self._notes += 1
                words = " ".join(_words(p) for p in element.iterfind("{*}note-body/{*}p"))
                self.draft.block(f"Note {self._notes}: {words}")
            else:
                self.blocks(element)

    def _list(self, element: Any, style: Any | None = None, depth: int = 1) -> None:
        style = self.styles.get(attribute(element, "style-name")) if style is None else style
        self.draft.open_list(_first_number(style, depth))
        for item in element:
            if local(item) in ("list-item", "list-header"):
                # Slides tell how deep an item is by lists that hold nothing but a list.
                if only_deeper := all(local(inner) == "list" for inner in item):
                    self.draft.close_item()
                else:
                    self.draft.open_item()
                for inner in item:
                    if local(inner) == "list":
                        self._list(inner, self.styles.get(attribute(inner, "style-name"), style), depth + 1)
                    else:
                        self.blocks([inner])
                if not only_deeper:
                    self.draft.close_item()
        self.draft.close_list()

    def _table(self, table: Any) -> None:
        rows = list(bounded(self.name, (Row(_cells(row)) for row in _rows(table))))
        named = table.find("{*}table-header-rows") is not None and len(rows) > 1
        if max((len(row.cells) for row in rows), default=0) > 1:
            write_rows(self.draft, rows, named=named)
        else:
            for cell in table.iter("{*}table-cell"):
                self.blocks(cell)


def _first_number(style: Any | None, depth: int) -> int | None:
    """Where a list's numbers begin at this depth; None where it has bullets."""
    for level in style if style is not None else ():
        if local(level) == "list-level-style-number" and attribute(level, "level") == str(depth):
            return _times(level, "start-value", 2**20) if attribute(level, "num-format") else None
    return None


def _sheet(table: Any, title: str) -> Iterator[Row]:
    number, part, was_empty = 0, 0, False
    going: dict[int, tuple[int, str]] = {}  # columns, with the rows to come that their cell is merged with
    for row in _rows(table):
        cells = _cells(row)
        repeated = _times(row, "number-rows-repeated", 2**21)
        if any(cells):
            cells = [
                cells[at] if at < len(cells) and cells[at] else going.get(at, (0, ""))[1]
                for at in range(max(len(cells), *(at + 1 for at in going), 0))
            ]
            part += was_empty
            for place in range(number + 1, number + 1 + min(repeated, _MOST_REPEATED)):
                yield Row(cells, f"{title}, row {place}", part)
        was_empty = not any(cells)
        going = {at: (rows - 1, words) for at, (rows, words) in going.items() if rows > 1} | _merged(row, cells)
        number += repeated


def _merged(row: Any, cells: list[str]) -> dict[int, tuple[int, str]]:
    found, column = {}, 0
    for cell in row:
        if (more := _times(cell, "number-rows-spanned", 2**21) - 1) and column < len(cells):
            found[column] = more, cells[column]
        column += _times(cell, "number-columns-repeated", _MOST_COLUMNS)
    return found


def _rows(table: Any) -> Iterator[Any]:
    for element in table:
        if local(element) == "table-row":
            yield element
        elif local(element) in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(element)


def _cells(row: Any) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if local(cell) in ("table-cell", "covered-table-cell") and len(cells) < _MOST_COLUMNS:
            words = " ".join(filter(None, (one_line(_words(p)) for p in cell.iterfind(".//{*}p"))))
            if words and attribute(cell, "value-type") == "date":
                words = _NO_TIME.sub("", attribute(cell, "date-value")).replace("T", " ") or words
            cells += [words] * _times(cell, "number-columns-repeated", _MOST_COLUMNS - len(cells))
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _times(element: Any, name: str, most: int) -> int:
    stated = attribute(element, name, "1")
    return min(int(stated), most) if stated.isdecimal() and len(stated) < 9 else 1


def _words(paragraph: Any, aside: list[Any] | None = None) -> str:
    return "".join(_pieces(paragraph, aside if aside is not None else []))


def _pieces(element: Any, aside: list[Any]) -> Iterator[str]:
    """A paragraph's words; notes and boxes in it are put aside."""
    from lxml import etree

    walk = etree.iterwalk(element, events=("start", "end"))
    for event, part in walk:
        tag = local(part)
        put_aside = tag in ("note", "text-box")
        if event == "end":
            if part is not element:
                yield _flowing(part.tail)
            continue
        if put_aside or tag in _UNREAD or tag in ("ruby-text", "desc", "title"):
            if put_aside:
                aside.append(part)
            walk.skip_subtree()
            continue
        match tag:
            case "s":
                yield " "
            case "tab":
                yield " "
            case "line-break":
                yield "\n"
        yield _flowing(part.text)


def _flowing(text: str | None) -> str:
    return " ".join((text or "").replace("\n", " ").split(" "))
