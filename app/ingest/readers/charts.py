"""The charts of slides, Word documents and spreadsheets: titles, and the values of each category or point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from propcite.app.ingest.readers.draft import Draft, one_line
from propcite.app.ingest.readers.number_formats import format_number
from propcite.app.ingest.readers.rows import Row, write_rows
from propcite.app.ingest.readers.xml import attribute, local_name

_CATEGORY_AXES = ("catAx", "dateAx")


def chart_titles(chart: Any) -> Iterator[str]:
    """Yield the title of a chart, and those of its axes that no column of its values has for a name."""
    yield _title(chart.find("{*}chart"))
    axes = [axis for axis in chart.iterfind("{*}chart/{*}plotArea/*") if local_name(axis).endswith("Ax")]
    if any(local_name(axis) in _CATEGORY_AXES for axis in axes):
        yield from (_title(axis) for axis in axes if local_name(axis) not in _CATEGORY_AXES)


def write_chart(draft: Draft, chart: Any) -> None:
    """Write the titles of a chart; one row per category with the value of each series, or one per point."""
    for title in chart_titles(chart):
        draft.block(title)
    axes = [axis for axis in chart.iterfind("{*}chart/{*}plotArea/*") if local_name(axis).endswith("Ax")]
    series = list(chart.iter("{*}ser"))
    points = [element for element in series if element.find("{*}yVal") is not None]
    if points:
        rows = [row for element in points for row in _point_rows(element)]
        names = Row(["", *map(_title, axes[:2])])
        write_rows(draft, [names, *rows], named=any(names.cells))
    elif series:
        name = next((_title(axis) for axis in axes if local_name(axis) in _CATEGORY_AXES), "")
        write_rows(draft, [Row([name, *map(_name, series)]), *_category_rows(series)], named=True)


def _category_rows(series: Sequence[Any]) -> Iterator[Row]:
    categories = next(filter(None, (_points(element, "cat") for element in series)), {})
    values = [_points(element, "val") for element in series]
    for at in sorted({at for points in (categories, *values) for at in points}):
        category = categories.get(at, "" if categories else str(at + 1))
        yield Row([category, *(points.get(at, "") for points in values)])


def _point_rows(series: Any) -> Iterator[Row]:
    """Yield the name of a series with the two or three values of each of its points."""
    values = [_points(series, kind) for kind in ("xVal", "yVal", "bubbleSize")]
    for at in sorted(values[1]):
        yield Row([_name(series), *(points.get(at, "") for points in values)])


def _name(series: Any) -> str:
    return " ".join(_points(series, "tx").values())


def _title(parent: Any | None) -> str:
    """Return the words of a title, typed or from a cell, in one line; empty if there are none."""
    title = parent.find("{*}title") if parent is not None else None
    if title is None:
        return ""
    paragraphs = ("".join(paragraph.itertext("{*}t")) for paragraph in title.iter("{*}p"))
    return one_line(" ".join(paragraphs)) or _name(title)


def _points(element: Any, kind: str) -> dict[int, str]:
    """Return the points of an element by index: its name `tx`, categories `cat` or values, as the chart shows them."""
    points: dict[int, str] = {}
    for source in element.iterfind(f"{{*}}{kind}"):
        levels = [_values(level) for level in source.iter("{*}lvl")] or [_values(source)]
        points = levels[0]
        for outer in levels[1:]:  # each is over the points up to the next one
            firsts = sorted(outer)
            points = {
                at: f"{outer[max(first)]} {words}" if (first := [one for one in firsts if one <= at]) else words
                for at, words in points.items()
            }
    return points


def _values(source: Any) -> dict[int, str]:
    code = source.findtext(".//{*}formatCode")
    return {
        int(at): _shown("".join(value.text or "" for value in point.iterfind("{*}v")), point.get("formatCode") or code)
        for point in source.iter("{*}pt")
        if (at := attribute(point, "idx")).isdecimal() and len(at) < 9
    }


def _shown(value: str, code: str | None) -> str:
    """Return a number in its format, other words as they are."""
    try:
        return format_number(float(value), code) if code else one_line(value)
    except ValueError:
        return one_line(value)
