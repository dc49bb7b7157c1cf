"""OpenDocument texts, spreadsheets and presentations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from propcite.app.ingest.readers.archive import Archive, damaged
from propcite.app.ingest.readers.draft import Draft, one_line, title_from_name
from propcite.app.ingest.readers.office import core_properties, open_zip
from propcite.app.ingest.readers.rows import Row, limit_cells, write_rows
from propcite.app.ingest.readers.xml import attribute, local_name, parse_xml
from propcite.retrieval.text import Document

# Deleted text, comments, forms, generated tables of contents, and numbers of list items.
_SKIPPED = frozenset("tracked-changes annotation annotation-end forms table-of-content number".split())
_CONTAINERS = frozenset("section index-body text-box alphabetical-index bibliography a frame custom-shape".split())
_NO_TIME = re.compile("T00:00:00$|(?<=:..):00$")
_MAX_REPEATED = 1000
_MAX_COLUMNS = 16_384


def read_odt(name: str, data: bytes) -> Document:
    archive = open_zip(name, data, "opendocument.text")
    draft = Draft()
    body, styles = _body(archive, "text")
    _Writer(name, draft, styles).blocks(body)
    return _document(draft, archive, "odt")


def read_odp(name: str, data: bytes) -> Document:
    archive = open_zip(name, data, "opendocument.presentation")
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
    archive = open_zip(name, data, "opendocument.spreadsheet")
    draft = Draft()
    for title, table in _sheets(archive):
        with draft.under(title, level=1):
            write_rows(draft, limit_cells(name, _sheet(table, title)))
    return _document(draft, archive, "ods", title_from_name(name))


def ods_rows(name: str, data: bytes) -> Iterator[Row]:
    """Yield the rows of all sheets, one sheet after another."""
    for title, table in _sheets(open_zip(name, data, "opendocument.spreadsheet")):
        yield from _sheet(table, title)


def _sheets(archive: Archive) -> Iterator[tuple[str, Any]]:
    """Yield each sheet's title and table."""
    body, styles = _body(archive, "spreadsheet")
    for table in body.iterfind("{*}table"):
        style = styles.get(attribute(table, "style-name"))
        shown = style.find("{*}table-properties") if style is not None else None
        hidden = shown is not None and attribute(shown, "display") == "false"
        yield attribute(table, "name") + (" (hidden)" if hidden else ""), table


def _document(draft: Draft, archive: Archive, kind: str, title: str = "") -> Document:
    data = archive.read("meta.xml") if "meta.xml" in archive.members else b""
    fields = core_properties(parse_xml(archive.name, data)) if data else {}
    metadata = {"kind": kind, "author": fields.get("author", ""), "date": fields.get("date", "")}
    return draft.document(archive.name, title if kind == "odp" else fields.get("title", "") or title, metadata)


def _body(archive: Archive, kind: str) -> tuple[Any, dict[str, Any]]:
    """Return the root of the content, and the styles by name."""
    if "content.xml" not in archive.members:
        raise damaged(archive.name)
    root = parse_xml(archive.name, archive.read("content.xml"))
    body = root.find(f"{{*}}body/{{*}}{kind}")
    if body is None:
        raise damaged(archive.name)
    return body, {attribute(style, "name"): style for style in _styles(archive, root)}


def _styles(archive: Archive, root: Any) -> Iterator[Any]:
    """Yield the named styles, which are in a part of their own, and the automatic ones, which are in the content."""
    if "styles.xml" in archive.members:
        yield from parse_xml(archive.name, archive.read("styles.xml")).iterfind("{*}styles/*")
    yield from root.iterfind("{*}automatic-styles/*")


def _write_slide(writer: _Writer, page: Any, place: str) -> None:
    draft = writer.draft
    frames = [frame for frame in page if local_name(frame) not in ("notes", "forms")]
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
    """Sort frames from top to bottom; those within a third of an inch from left to right."""
    return sorted(frames, key=lambda frame: (round(_corner(frame, "y") * 3), _corner(frame, "x")))


def _corner(frame: Any, name: str) -> float:
    """Return the distance from the left or the top, `x` or `y`; that of a group is the least of its shapes."""
    if local_name(frame) != "g":
        return _length(frame, name)
    return min((_length(shape, name) for shape in frame.iterdescendants() if attribute(shape, name)), default=0.0)


def _length(frame: Any, name: str) -> float:
    """Return a length in inches; 0 if there is none, as for shapes that are placed by a transformation."""
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
        self._aside: list[Any] = []  # text boxes and notes of the current paragraph
        self._num_notes = 0

    def blocks(self, parent: Any) -> None:
        for element in parent:
            match local_name(element):
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
                case tag if tag in _CONTAINERS:
                    self.blocks(element)

    def _style(self, paragraph: Any) -> str:
        """Return the named style that the paragraph's automatic style is based on, or its own."""
        name = attribute(paragraph, "style-name")
        style = self.styles.get(name)
        return attribute(style, "parent-style-name") if style is not None else name

    def _block(self, paragraph: Any, level: int) -> None:
        self.draft.block(_words(paragraph, self._aside), level=level)
        aside, self._aside = self._aside, []
        for element in aside:
            if local_name(element) == "note":
                self._num_notes += 1
                words = " ".join(_words(p) for p in element.iterfind("{*}note-body/{*}p"))
                self.draft.block(f"Note {self._num_notes}: {words}")
            else:
                self.blocks(element)

    def _list(self, element: Any, style: Any | None = None, depth: int = 1) -> None:
        style = self.styles.get(attribute(element, "style-name")) if style is None else style
        self.draft.open_list(_first_number(style, depth))
        for item in element:
            if local_name(item) in ("list-item", "list-header"):
                # Presentations indent an item by lists that contain nothing but a list.
                if only_indents := all(local_name(inner) == "list" for inner in item):
                    self.draft.close_item()
                else:
                    self.draft.open_item()
                for inner in item:
                    if local_name(inner) == "list":
                        self._list(inner, self.styles.get(attribute(inner, "style-name"), style), depth + 1)
                    else:
                        self.blocks([inner])
                if not only_indents:
                    self.draft.close_item()
        self.draft.close_list()

    def _table(self, table: Any) -> None:
        rows = list(limit_cells(self.name, (Row(_cells(row), is_label=_is_label(row)) for row in _rows(table))))
        named = table.find("{*}table-header-rows") is not None and len(rows) > 1
        if max((len(row.cells) for row in rows), default=0) > 1:
            write_rows(self.draft, rows, named=named)
        else:
            for cell in table.iter("{*}table-cell"):
                self.blocks(cell)


def _first_number(style: Any | None, depth: int) -> int | None:
    """Return the number at which a list starts at this depth; None if it has bullets."""
    for level in style if style is not None else ():
        if local_name(level) == "list-level-style-number" and attribute(level, "level") == str(depth):
            return _times(level, "start-value", 2**20) if attribute(level, "num-format") else None
    return None


def _sheet(table: Any, title: str) -> Iterator[Row]:
    number, part, was_empty = 0, 0, False
    spanning: dict[int, tuple[int, str]] = {}  # by column: the rows left that a merged cell spans, and its text
    for row in _rows(table):
        cells = _cells(row)
        repeated = _times(row, "number-rows-repeated", 2**21)
        if any(cells):
            cells = [
                cells[at] if at < len(cells) and cells[at] else spanning.get(at, (0, ""))[1]
                for at in range(max(len(cells), *(at + 1 for at in spanning), 0))
            ]
            part += was_empty
            for place in range(number + 1, number + 1 + min(repeated, _MAX_REPEATED)):
                yield Row(cells, f"{title}, row {place}", part, _is_label(row))
        was_empty = not any(cells)
        spanning = {at: (rows - 1, words) for at, (rows, words) in spanning.items() if rows > 1} | _merged(row, cells)
        number += repeated


def _merged(row: Any, cells: list[str]) -> dict[int, tuple[int, str]]:
    """Return for each vertically merged cell its column, the number of rows below it, and its text."""
    spans, column = {}, 0
    for cell in row:
        if (more := _times(cell, "number-rows-spanned", 2**21) - 1) and column < len(cells):
            spans[column] = more, cells[column]
        column += _times(cell, "number-columns-repeated", _MAX_COLUMNS)
    return spans


def _is_label(row: Any) -> bool:
    """Whether the first cell of a row is over others."""
    return next((_times(cell, "number-columns-spanned", _MAX_COLUMNS) > 1 for cell in row), False)


def _rows(table: Any) -> Iterator[Any]:
    for element in table:
        if local_name(element) == "table-row":
            yield element
        elif local_name(element) in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(element)


def _cells(row: Any) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if local_name(cell) in ("table-cell", "covered-table-cell") and len(cells) < _MAX_COLUMNS:
            words = " ".join(filter(None, (one_line(_words(p)) for p in cell.iterfind(".//{*}p"))))
            if words and attribute(cell, "value-type") == "date":
                words = _NO_TIME.sub("", attribute(cell, "date-value")).replace("T", " ") or words
            cells += [words] * _times(cell, "number-columns-repeated", _MAX_COLUMNS - len(cells))
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _times(element: Any, name: str, maximum: int) -> int:
    """Return a number of repetitions, which is 1 if none is stated."""
    number = attribute(element, name, "1")
    return min(int(number), maximum) if number.isdecimal() and len(number) < 9 else 1


def _words(paragraph: Any, aside: list[Any] | None = None) -> str:
    return "".join(_pieces(paragraph, aside if aside is not None else []))


def _pieces(element: Any, aside: list[Any]) -> Iterator[str]:
    """Yield a paragraph's text; collect the notes and text boxes in it."""
    from lxml import etree

    walk = etree.iterwalk(element, events=("start", "end"))
    for event, part in walk:
        tag = local_name(part)
        put_aside = tag in ("note", "text-box")
        if event == "end":
            if part is not element:
                yield _without_breaks(part.tail)
            continue
        if put_aside or tag in _SKIPPED or tag in ("ruby-text", "desc", "title"):
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
        yield _without_breaks(part.text)


def _without_breaks(text: str | None) -> str:
    """Replace line breaks, which are only layout of the XML, by spaces."""
    return " ".join((text or "").replace("\n", " ").split(" "))
