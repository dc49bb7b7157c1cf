"""OpenDocument texts, spreadsheets and presentations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from propcite.app.ingest.readers.archive import Archive, damaged
from propcite.app.ingest.readers.draft import Draft, title_from_name
from propcite.app.ingest.readers.odf_objects import write_object
from propcite.app.ingest.readers.odf_styles import Numbering, Styles
from propcite.app.ingest.readers.odf_tables import row_elements, table_rows, times_repeated
from propcite.app.ingest.readers.odf_words import SHAPES, Words
from propcite.app.ingest.readers.office import core_properties, open_zip
from propcite.app.ingest.readers.rows import Row, limit_cells, write_rows
from propcite.app.ingest.readers.xml import attribute, local_name, parse_xml
from propcite.retrieval.text import Document

_CONTAINERS = SHAPES | frozenset("section index-body text-box alphabetical-index bibliography a frame".split())
_MAX_REPEATED = 1000  # of a row


def read_odt(name: str, data: bytes) -> Document:
    archive = open_zip(name, data, "opendocument.text")
    draft = Draft()
    body, words = _body(archive, "text")
    _Writer(name, draft, words).blocks(body)
    return _document(draft, archive, "odt")


def read_odp(name: str, data: bytes) -> Document:
    archive = open_zip(name, data, "opendocument.presentation")
    draft = Draft()
    body, words = _body(archive, "presentation")
    for number, page in enumerate(body.iterfind("{*}page"), 1):
        style = words.styles.get(attribute(page, "style-name"))
        shown = style.find("{*}drawing-page-properties") if style is not None else None
        hidden = " (hidden)" if shown is not None and attribute(shown, "visibility") == "hidden" else ""
        _write_slide(_Writer(name, draft, words), page, f"slide {number}{hidden}")
    first = draft.headings[0].span.of(draft.text) if draft.headings else ""
    return _document(draft, archive, "odp", first)


def read_ods(name: str, data: bytes) -> Document:
    archive = open_zip(name, data, "opendocument.spreadsheet")
    draft = Draft()
    body, words = _body(archive, "spreadsheet")
    writer = _Writer(name, draft, words, with_values=False)
    for table, title, rows in _sheets(body, words):
        with draft.under(title, level=1):
            write_rows(draft, limit_cells(name, rows))
            shapes = (shape for place in table.iter("{*}shapes", "{*}table-cell") for shape in place)
            writer.blocks(shape for shape in shapes if local_name(shape) in ("frame", "g", *SHAPES))
    return _document(draft, archive, "ods", title_from_name(name))


def ods_rows(name: str, data: bytes) -> Iterator[Row]:
    """Yield the rows of all sheets, one sheet after another."""
    for _, _, rows in _sheets(*_body(open_zip(name, data, "opendocument.spreadsheet"), "spreadsheet")):
        yield from rows


def _sheets(body: Any, words: Words) -> Iterator[tuple[Any, str, Iterator[Row]]]:
    """Yield each sheet with its title and rows."""
    for table in body.iterfind("{*}table"):
        style = words.styles.get(attribute(table, "style-name"), "table")
        shown = style.find("{*}table-properties") if style is not None else None
        hidden = shown is not None and attribute(shown, "display") == "false"
        title = attribute(table, "name") + (" (hidden)" if hidden else "")
        yield table, title, _sheet(table, title, words)


def _sheet(table: Any, title: str, words: Words) -> Iterator[Row]:
    number, part, was_empty = 0, 0, False
    for row in table_rows(table, words):
        if any(row.cells):
            part += was_empty
            hidden = " (hidden)" if row.is_hidden else ""
            for place in range(number + 1, number + 1 + min(row.repeated, _MAX_REPEATED)):
                yield Row(row.cells, f"{title}, row {place}{hidden}", part, row.is_label)
        was_empty = not any(row.cells)
        number += row.repeated


def _document(draft: Draft, archive: Archive, kind: str, title: str = "") -> Document:
    data = archive.read("meta.xml") if "meta.xml" in archive.members else b""
    fields = core_properties(parse_xml(archive.name, data)) if data else {}
    metadata = {"kind": kind, "author": fields.get("author", ""), "date": fields.get("date", "")}
    return draft.document(archive.name, title if kind == "odp" else fields.get("title", "") or title, metadata)


def _body(archive: Archive, kind: str) -> tuple[Any, Words]:
    """Return the root of the content, and what reads the words of its paragraphs."""
    if "content.xml" not in archive.members:
        raise damaged(archive.name)
    root = parse_xml(archive.name, archive.read("content.xml"))
    body = root.find(f"{{*}}body/{{*}}{kind}")
    if body is None:
        raise damaged(archive.name)
    return body, Words(archive, Styles(_styles(archive, root)))


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
                draft.block(" ".join(writer.words.of(p) for p in frame.iter("{*}p")), level=1)
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
    """Writes blocks; `with_values` says whether the values of charts are nowhere else."""

    def __init__(self, name: str, draft: Draft, words: Words, *, with_values: bool = True) -> None:
        self.name = name
        self._with_values = with_values
        self.draft = draft
        self.words = words
        self._numbering = Numbering(words.styles)
        self._aside: list[Any] = []  # text boxes and notes of the current paragraph
        self._num_notes = 0
        self._in_item = False

    def blocks(self, parent: Any) -> None:
        """Write the blocks of an element, with its lists closed before and after it unless it is in one."""
        for element in parent:
            tag = local_name(element)
            if tag == "list":
                self._list(element)
                continue
            if not self._in_item:
                self.draft.to_depth(0)
            match tag:
                case "h":
                    level = attribute(element, "outline-level", "1")
                    self._block(element, int(level) if level.isdecimal() and 0 < int(level) < 20 else 1)
                case "p":
                    self._block(element, 1 if self.words.styles.is_title(element) else 0)
                case "table":
                    self._table(element)
                case "object":
                    write_object(self.name, self.draft, self.words, element, with_values=self._with_values)
                case "g":
                    self.blocks(_in_reading_order(element))
                case _ if tag in _CONTAINERS and attribute(element, "display") != "none":
                    self.blocks(element)
        if not self._in_item:
            self.draft.to_depth(0)

    def _block(self, paragraph: Any, level: int) -> None:
        self.draft.block(self.words.of(paragraph, self._aside), level=level)
        aside, self._aside = self._aside, []
        for element in aside:
            if local_name(element) == "note":
                self._num_notes += 1
                words = " ".join(self.words.of(p).strip() for p in element.iterfind("{*}note-body/{*}p"))
                self.draft.block(f"Note {self._num_notes}: {words}")
            else:
                self.blocks([element] if local_name(element) == "object" else element)

    def _list(self, element: Any, style: Any = None, depth: int = 1, counts: dict[int, int] | None = None) -> None:
        own = self.words.styles.get(attribute(element, "style-name"))
        style = style if own is None else own
        counts = self._numbering.counts(element) if counts is None else counts
        for item in element:
            if local_name(item) not in ("list-item", "list-header"):
                continue
            is_begun = local_name(item) == "list-header"
            for inner in item:
                if local_name(inner) == "list":
                    self._list(inner, style, depth + 1, counts)
                    continue
                self.draft.to_depth(depth)
                if not is_begun:
                    label = self._numbering.label(style, counts, depth, item)
                    if not label.isspace():
                        self.draft.open_item(f"{label} " if label else "")
                    is_begun = True
                self._in_item, was_in_item = True, self._in_item
                self.blocks([inner])
                self._in_item = was_in_item
            self.draft.close_item()

    def _table(self, table: Any) -> None:
        """Write the rows; those with tables inside lay out a page, as single cells do, and are written cell by cell."""
        found = (
            Row(row.cells, is_label=row.is_label, is_bold=row.is_bold)
            for row in table_rows(table, self.words)
            for _ in range(min(row.repeated, _MAX_REPEATED))
        )
        rows = list(limit_cells(self.name, found))
        elements = [row for row in row_elements(table) for _ in range(times_repeated(row, _MAX_REPEATED))]
        is_frame = max((len(row.cells) for row in rows), default=0) <= 1
        named = table.find("{*}table-header-rows") is not None
        for is_layout, group in groupby(
            zip(elements, rows, strict=True),
            key=lambda pair: is_frame or pair[0].find("{*}table-cell//{*}table") is not None,
        ):
            if is_layout:
                for element, _ in group:
                    for cell in element.iterfind("{*}table-cell"):
                        self.blocks(cell)
            else:
                write_rows(self.draft, [row for _, row in group], named=named)
            named = False
