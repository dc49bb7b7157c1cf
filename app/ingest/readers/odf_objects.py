"""The objects that an OpenDocument file has in parts of their own: charts and spreadsheets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from propcite.app.ingest.readers.draft import Draft
from propcite.app.ingest.readers.number_formats import format_number
from propcite.app.ingest.readers.odf_styles import Styles
from propcite.app.ingest.readers.odf_tables import table_rows
from propcite.app.ingest.readers.odf_words import Words
from propcite.app.ingest.readers.rows import Row, limit_cells, write_rows
from propcite.app.ingest.readers.xml import attribute, local_name


def write_object(name: str, draft: Draft, words: Words, part: Any, *, with_values: bool = True) -> None:
    """Write the formula, the chart or the spreadsheet that a frame shows; without values only a chart's titles."""
    root = words.object_of(part)
    body = root.find("{*}body") if root is not None else None
    if root is None or body is None:
        draft.block(words.formula_of(part))
        return
    own = words.inside(Styles(root.iterfind("{*}automatic-styles/*")))
    charts = body.find("{*}chart/{*}chart")
    if charts is not None:
        for title in _titles(charts, own):
            draft.block(title)
    for table in body.iterfind("*/{*}table") if charts is None else charts.iterfind("{*}table"):
        if with_values:
            rows = (Row(row.cells) for row in table_rows(table, own) if any(row.cells))
            if charts is not None and _has_dates(charts, own):
                rows = (Row([_day(row.cells[0]), *row.cells[1:]]) for row in rows)
            write_rows(draft, limit_cells(name, rows), named=None if charts is None else True)


def _has_dates(chart: Any, words: Words) -> bool:
    """Whether a chart shows its categories as dates, which it has as numbers."""
    axes = (axis for axis in chart.iter("{*}axis") if attribute(axis, "dimension") == "x")
    styles = (words.styles.get(attribute(axis, "style-name"), "chart") for axis in axes)
    formats = (words.styles.get(attribute(style, "data-style-name")) for style in styles if style is not None)
    return any(local_name(form) == "date-style" for form in formats if form is not None)


def _day(number: str) -> str:
    return format_number(float(number), "yyyy-mm-dd") if number.isdecimal() and len(number) < 7 else number


def _titles(chart: Any, words: Words) -> Iterator[str]:
    """Yield the titles of a chart and of its axes."""
    for element in chart.iter("{*}title", "{*}subtitle"):
        if local_name(element.getparent()) in ("chart", "axis"):
            yield " ".join(words.of(paragraph) for paragraph in element.iterfind("{*}p"))
