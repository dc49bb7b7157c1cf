"""Presentations: each slide is a place, with its title as a heading, its shapes in reading order, and its notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from propcite.app.ingest.readers.draft import Draft, one_line
from propcite.app.ingest.readers.drawings import drawn_words, line_of, write_graphic
from propcite.app.ingest.readers.list_numbers import numbered
from propcite.app.ingest.readers.office import Package
from propcite.app.ingest.readers.pptx_shapes import Shape, in_reading_order, shapes_of
from propcite.app.ingest.readers.rows import Row, cell_text, write_rows
from propcite.app.ingest.readers.xml import attribute, local_name
from propcite.retrieval.text import Document

_TITLES = ("title", "ctrTitle")
_FURNITURE = ("dt", "ftr", "sldNum", "hdr", "sldImg")
_FORMS = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_BULLETED = ("body", "obj")


def read_pptx(name: str, data: bytes) -> Document:
    package = Package(name, data, "ppt/")
    draft = Draft()
    slides = list(_slides(package))
    for number, path in enumerate(slides, 1):
        _write_slide(draft, package, path, number)
    fields = package.properties()
    first = draft.headings[0].span.of(draft.text) if draft.headings else ""
    metadata = {"kind": "pptx", "slides": str(len(slides)), "author": fields.get("author", "")}
    return draft.document(name, first or fields.get("title", ""), {**metadata, "date": fields.get("date", "")})


def _slides(package: Package) -> Iterator[str]:
    related = package.related(package.main)
    for slide in package.root.iterfind("{*}sldIdLst/{*}sldId"):
        # The relation's id has a namespace; the slide also has an `id` of its own.
        ids = [value for key, value in slide.attrib.items() if key.endswith("}id")]
        path = related.get(ids[0], ("", ""))[1] if ids else ""
        if path in package.archive.members:
            yield path


def _write_slide(draft: Draft, package: Package, path: str, number: int) -> None:
    root: Any = package.xml(path)
    hidden = " (hidden)" if attribute(root, "show", "1") in ("0", "false") else ""
    tree = root.find("{*}cSld/{*}spTree")
    layout = package.first_related(path, "slideLayout")
    shapes = [shape for shape in shapes_of(tree, layout) if shape.role not in _FURNITURE] if tree is not None else []
    with draft.place(f"slide {number}{hidden}"):
        titles = [shape for shape in shapes if shape.role in _TITLES]
        for shape in titles:
            draft.block(line_of(shape.element), level=1)
        for shape in in_reading_order([shape for shape in shapes if shape.role not in _TITLES]):
            _write_shape(draft, package, path, shape)
    notes = package.first_related(path, "notesSlide")
    if notes is not None:
        with draft.place(f"slide {number}{hidden}, notes"):
            for shape in shapes_of(notes.find("{*}cSld/{*}spTree"), None):
                if shape.role == "body":
                    _write_text(draft, shape.element, bulleted=False)


def _write_shape(draft: Draft, package: Package, path: str, shape: Shape) -> None:
    if local_name(shape.element) != "graphicFrame":
        _write_text(draft, shape.element, bulleted=shape.role in _BULLETED)
        return
    for table in shape.element.iterfind(".//{*}tbl"):
        _write_table(draft, table)
    for graphic in shape.element.iterfind("{*}graphic/{*}graphicData/*"):
        write_graphic(draft, package, path, graphic)


def _write_text(draft: Draft, shape: Any, *, bulleted: bool) -> None:
    body = shape.find("{*}txBody")
    paragraphs = [p for p in body.iterfind("{*}p") if drawn_words(p).strip()] if body is not None else []
    counts: dict[int, int] = {}  # by depth, of the numbered paragraphs that follow each other
    forms: dict[int, str] = {}  # by depth, of their numbers
    for paragraph in paragraphs:
        depth = _depth(paragraph, bulleted and len(paragraphs) > 1)
        draft.to_depth(depth)
        marker = _marker(paragraph, counts, forms)
        if depth:
            draft.open_item(marker)
        draft.block(drawn_words(paragraph))
        if depth:
            draft.close_item()
    draft.to_depth(0)


def _depth(paragraph: Any, bulleted: bool) -> int:
    """Return the paragraph's depth in lists; 0 if it is in none."""
    properties = paragraph.find("{*}pPr")
    if properties is not None:
        marks = {local_name(mark) for mark in properties}
        bulleted = "buNone" not in marks and (bulleted or bool(marks & {"buChar", "buAutoNum", "buBlip"}))
    return _level(properties) + 1 if bulleted else 0


def _level(properties: Any | None) -> int:
    level = attribute(properties, "lvl", "0") if properties is not None else "0"
    return min(int(level), 8) if level.isdecimal() else 0


def _marker(paragraph: Any, counts: dict[int, int], forms: dict[int, str]) -> str:
    """Count a paragraph and return its number; empty if it has a bullet or none."""
    properties = paragraph.find("{*}pPr")
    depth = _level(properties)
    numbers = properties.find("{*}buAutoNum") if properties is not None else None
    for deeper in [place for place in counts if place > depth or (place == depth and numbers is None)]:
        del counts[deeper]
    if numbers is None:
        return ""
    kind, first = attribute(numbers, "type"), attribute(numbers, "startAt", "1")
    if forms.get(depth) != f"{kind} {first}":
        counts.pop(depth, None)
    forms[depth] = f"{kind} {first}"
    counts[depth] = counts[depth] + 1 if depth in counts else int(first) if first.isdecimal() and len(first) < 6 else 1
    form = next((form for name, form in _FORMS.items() if kind.startswith(name)), "1")
    first_bracket, last = ("(", ")") if kind.endswith("ParenBoth") else ("", ")" if kind.endswith("ParenR") else ".")
    return f"{first_bracket}{numbered(counts[depth], form)}{'' if kind.endswith('Plain') else last} "


def _cell(cell: Any) -> str:
    """Return a cell's text in one line."""
    counts: dict[int, int] = {}
    forms: dict[int, str] = {}
    paragraphs = [paragraph for paragraph in cell.iter("{*}p") if drawn_words(paragraph).strip()]
    return cell_text(
        (one_line(drawn_words(paragraph)), _marker(paragraph, counts, forms).strip(), _is_bulleted(paragraph))
        for paragraph in paragraphs
    )


def _is_bulleted(paragraph: Any) -> bool:
    return paragraph.find("{*}pPr/{*}buChar") is not None or paragraph.find("{*}pPr/{*}buBlip") is not None


def _write_table(draft: Draft, table: Any) -> None:
    properties = table.find("{*}tblPr")
    first = properties is not None and attribute(properties, "firstRow") in ("1", "true")
    above: dict[int, str] = {}
    rows: list[Row] = []
    for row in table.iterfind("{*}tr"):
        cells = []
        for column, cell in enumerate(row.iterfind("{*}tc")):
            if attribute(cell, "vMerge") not in ("1", "true"):
                above[column] = "" if attribute(cell, "hMerge") in ("1", "true") else _cell(cell)
            cells.append(above.get(column, ""))
        spans = [attribute(cell, "gridSpan", "1") for cell in row.iterfind("{*}tc")]
        rows.append(Row(cells, is_label=spans[:1] == [str(len(cells))]))
    write_rows(draft, rows, named=None if first else False)
