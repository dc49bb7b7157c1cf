"""The charts, diagrams and text of drawings in slides and Word documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from propcite.app.ingest.readers.draft import Draft, one_line
from propcite.app.ingest.readers.formulas import formula
from propcite.app.ingest.readers.office import Package
from propcite.app.ingest.readers.raised import lowered, raised
from propcite.app.ingest.readers.rows import Row, write_rows
from propcite.app.ingest.readers.xml import attribute, local_name


def write_graphic(draft: Draft, package: Package, path: str, graphic: Any) -> None:
    """Write a chart or a diagram that the part at `path` shows; nothing for other graphics."""
    ids = {key.rpartition("}")[2]: value for key, value in graphic.attrib.items()}
    part_path = package.related(path).get(ids.get("id") or ids.get("dm") or "", ("", ""))[1]
    part = package.xml(part_path) if local_name(graphic) in ("chart", "relIds") else None
    if part is not None and local_name(graphic) == "chart":
        _write_chart(draft, part)
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


def _write_chart(draft: Draft, chart: Any) -> None:
    """Write a chart's title, and one row per category with the value of each series."""
    title = chart.find("{*}chart/{*}title")
    if title is not None:
        draft.block(line_of(title))
    series = [[_points(element, kind) for kind in ("tx", "cat", "val")] for element in chart.iter("{*}ser")]
    if not series:
        return
    names: Sequence[str] = ["", *(" ".join(name.values()) for name, _, _ in series)]
    rows = [Row([category, *(values.get(at, "") for _, _, values in series)]) for at, category in series[0][1].items()]
    write_rows(draft, [Row(names), *rows], named=True)


def _points(series: Any, kind: str) -> dict[str, str]:
    """Return the points of a series by index: its name `tx`, categories `cat` or values `val`."""
    return {
        attribute(point, "idx"): one_line("".join(value.text or "" for value in point.iterfind("{*}v")))
        for element in series.iterfind(f"{{*}}{kind}")
        for point in element.iter("{*}pt")
    }
