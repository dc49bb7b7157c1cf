"""Slides: each is a place, its title a heading, its shapes in the order in which they are read, then its notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from propcite.app.ingest.readers.draft import Draft, one_line
from propcite.app.ingest.readers.office import Package
from propcite.app.ingest.readers.pptx_shapes import Shape, in_reading_order, shapes_of
from propcite.app.ingest.readers.rows import Row, write_rows
from propcite.app.ingest.readers.xml import attribute, local
from propcite.retrieval.text import Document

_TITLES = ("title", "ctrTitle")
_FURNITURE = ("dt", "ftr", "sldNum", "hdr", "sldImg")
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
        # Beside the relation's id it has one of its own.
        ids = [value for key, value in slide.attrib.items() if key.endswith("}id")]
        path = related.get(ids[0], ("", ""))[1] if ids else ""
        if path in package.archive.members:
            yield path


def _write_slide(draft: Draft, package: Package, path: str, number: int) -> None:
    root: Any = package.xml(path)
    hidden = " (hidden)" if attribute(root, "show", "1") in ("0", "false") else ""
    tree = root.find("{*}cSld/{*}spTree")
    layout = package.one(path, "slideLayout")
    shapes = [shape for shape in shapes_of(tree, layout) if shape.role not in _FURNITURE] if tree is not None else []
    with draft.place(f"slide {number}{hidden}"):
        titles = [shape for shape in shapes if shape.role in _TITLES]
        for shape in titles:
            draft.block(_line(shape.element), level=1)
        for shape in in_reading_order([shape for shape in shapes if shape.role not in _TITLES]):
            _write_shape(draft, package, path, shape)
    notes = package.one(path, "notesSlide")
    if notes is not None:
        with draft.place(f"slide {number}{hidden}, notes"):
            for shape in shapes_of(notes.find("{*}cSld/{*}spTree"), None):
                if shape.role == "body":
                    _write_text(draft, shape.element, bulleted=False)


def _write_shape(draft: Draft, package: Package, path: str, shape: Shape) -> None:
    if local(shape.element) != "graphicFrame":
        _write_text(draft, shape.element, bulleted=shape.role in _BULLETED)
        return
    for table in shape.element.iterfind(".//{*}tbl"):
        _write_table(draft, table)
    for found in shape.element.iterfind("{*}graphic/{*}graphicData/*"):
        ids = {key.rpartition("}")[2]: value for key, value in found.attrib.items()}
        place = package.related(path).get(ids.get("id") or ids.get("dm") or "", ("", ""))[1]
        part = package.xml(place) if local(found) in ("chart", "relIds") else None
        if part is not None and local(found) == "chart":
            _write_chart(draft, part)
        elif part is not None:
            for point in part.iterfind(".//{*}pt"):
                draft.block(_line(point))


def _write_text(draft: Draft, shape: Any, *, bulleted: bool) -> None:
    body = shape.find("{*}txBody")
    paragraphs = [p for p in body.iterfind("{*}p") if _words(p).strip()] if body is not None else []
    depth = 0
    for paragraph in paragraphs:
        wanted = _depth(paragraph, bulleted and len(paragraphs) > 1)
        _to_depth(draft, depth, wanted)
        depth = wanted
        if depth:
            draft.open_item()
        draft.block(_words(paragraph))
        if depth:
            draft.close_item()
    _to_depth(draft, depth, 0)


def _depth(paragraph: Any, bulleted: bool) -> int:
    """How deep in a list the paragraph stands; 0 is in none."""
    properties = paragraph.find("{*}pPr")
    if properties is not None:
        marks = {local(mark) for mark in properties}
        bulleted = "buNone" not in marks and (bulleted or bool(marks & {"buChar", "buAutoNum", "buBlip"}))
    level = attribute(properties, "lvl", "0") if properties is not None else "0"
    return min(int(level), 8) + 1 if bulleted and level.isdecimal() else int(bulleted)


def _to_depth(draft: Draft, depth: int, wanted: int) -> None:
    for _ in range(depth, wanted):
        draft.open_list(None)
    for _ in range(wanted, depth):
        draft.close_list()


def _words(paragraph: Any) -> str:
    pieces = [("\n" if local(e) == "br" else e.text or "") for e in paragraph.iter("{*}t", "{*}br")]
    return "".join(pieces).replace("\v", "\n").replace("\t", " ")


def _line(element: Any) -> str:
    return one_line(" ".join(_words(paragraph) for paragraph in element.iter("{*}p")))


def _write_table(draft: Draft, table: Any) -> None:
    properties = table.find("{*}tblPr")
    first = properties is not None and attribute(properties, "firstRow") in ("1", "true")
    above: dict[int, str] = {}
    rows: list[Row] = []
    for row in table.iterfind("{*}tr"):
        cells = []
        for column, cell in enumerate(row.iterfind("{*}tc")):
            if attribute(cell, "vMerge") not in ("1", "true"):
                above[column] = "" if attribute(cell, "hMerge") in ("1", "true") else _line(cell)
            cells.append(above.get(column, ""))
        rows.append(Row(cells))
    write_rows(draft, rows, named=None if first else False)


def _write_chart(draft: Draft, chart: Any) -> None:
    """Its title, and a row for each category with the value of each series."""
    title = chart.find("{*}chart/{*}title")
    if title is not None:
        draft.block(_line(title))
    series = [(_points(one, "tx"), _points(one, "cat"), _points(one, "val")) for one in chart.iter("{*}ser")]
    if not series:
        return
    names: Sequence[str] = ["", *(" ".join(name.values()) for name, _, _ in series)]
    rows = [Row([category, *(values.get(at, "") for _, _, values in series)]) for at, category in series[0][1].items()]
    write_rows(draft, [Row(names), *rows], named=True)


def _points(series: Any, kind: str) -> dict[str, str]:
    return {
        attribute(point, "idx"): one_line("".join(value.text or "" for value in point.iterfind("{*}v")))
        for found in series.iterfind(f"{{*}}{kind}")
        for point in found.iter("{*}pt")
    }
