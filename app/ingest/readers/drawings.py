"""The charts, diagrams and text of drawings in slides, Word documents and spreadsheets."""

from __future__ import annotations

from typing import Any

from propcite.app.ingest.readers.charts import chart_titles, write_chart
from propcite.app.ingest.readers.draft import Draft, one_line
from propcite.app.ingest.readers.formulas import formula
from propcite.app.ingest.readers.office import Package
from propcite.app.ingest.readers.pptx_shapes import shapes_of
from propcite.app.ingest.readers.raised import lowered, raised
from propcite.app.ingest.readers.xml import local_name

_ANCHORS = ("{*}twoCellAnchor", "{*}oneCellAnchor", "{*}absoluteAnchor")


def write_sheet_drawing(draft: Draft, package: Package, path: str) -> None:
    """Write the text boxes and shapes over a sheet, from top to bottom, and the titles of its charts.

    The values of these are in the cells.
    """
    drawings = [part for kind, part in package.related(path).values() if kind == "drawing"]
    root = package.xml(drawings[0]) if drawings else None
    for anchor in sorted(root.iter(*_ANCHORS) if root is not None else (), key=_place):
        for shape in shapes_of(anchor, None):
            for paragraph in shape.element.iterfind("{*}txBody/{*}p"):
                draft.block(drawn_words(paragraph))
            for graphic in shape.element.iterfind("{*}graphic/{*}graphicData/*"):
                write_graphic(draft, package, drawings[0], graphic, with_values=False)


def write_graphic(draft: Draft, package: Package, path: str, graphic: Any, *, with_values: bool = True) -> None:
    """Write a chart or a diagram that the part at `path` shows; nothing for other graphics."""
    ids = {key.rpartition("}")[2]: value for key, value in graphic.attrib.items()}
    part_path = package.related(path).get(ids.get("id") or ids.get("dm") or "", ("", ""))[1]
    part = package.xml(part_path) if local_name(graphic) in ("chart", "relIds") else None
    if part is not None and local_name(graphic) == "chart" and with_values:
        write_chart(draft, part)
    elif part is not None and local_name(graphic) == "chart":
        for title in chart_titles(part):
            draft.block(title)
    elif part is not None:  # a diagram
        for point in part.iterfind(".//{*}pt"):
            draft.block(line_of(point))


def drawn_words(paragraph: Any) -> str:
    """Return a paragraph's text, without struck words."""
    from lxml import etree

    text = ""
    walk = etree.iterwalk(paragraph, events=("start",))
    for _, element in walk:
        match local_name(element):
            case "r":
                properties = element.find("{*}rPr")
                marks = properties.attrib if properties is not None else {}
                words = element.findtext("{*}t") or ""
                if marks.get("strike", "noStrike") == "noStrike":
                    height = marks.get("baseline", "0").rstrip("%")
                    text += (
                        lowered(words, text) if height.startswith("-") else words if height == "0" else raised(words)
                    )
                walk.skip_subtree()
            case "oMath":
                text += formula(element)
                walk.skip_subtree()
            case "Fallback":
                walk.skip_subtree()
            case "t":  # of a field
                text += element.text or ""
            case "br":
                text += "\n"
    return text.replace("\v", "\n").replace("\t", " ")


def line_of(element: Any) -> str:
    """Return the words of all paragraphs in one line."""
    return one_line(" ".join(drawn_words(paragraph) for paragraph in element.iter("{*}p")))


def _place(anchor: Any) -> tuple[int, int]:
    """Return the row and the column of an anchor's upper left corner; zeros if it has none."""
    row, column = (anchor.findtext(f"{{*}}from/{{*}}{name}") or "" for name in ("row", "col"))
    return int(row) if row.isdecimal() else 0, int(column) if column.isdecimal() else 0
