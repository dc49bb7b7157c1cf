"""Names of columns in two rows: a name over several columns is in front of the name of each."""

from __future__ import annotations

import io
from collections.abc import Sequence

import docx
import openpyxl
import pytest
from reportlab.lib import colors
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table

from propcite.app.ingest.readers import document_from_bytes
from propcite.app.ingest.readers.table_names import header_of
from propcite.app.viewing.tables import rows_of, table_html

NAMES = [["Region", "2023", "", "2024", ""], ["", "Spring", "Autumn", "Spring", "Autumn"]]
ROWS = [*NAMES, ["North", "12", "18", "21", "25"], ["South", "7", "9", "8", "11"]]
READ = [
    "Region = North; 2023 Spring = 12; 2023 Autumn = 18; 2024 Spring = 21; 2024 Autumn = 25.",
    "Region = South; 2023 Spring = 7; 2023 Autumn = 9; 2024 Spring = 8; 2024 Autumn = 11.",
]


def in_csv(rows: Sequence[Sequence[str]] = ROWS) -> bytes:
    return "\n".join(map(",".join, rows)).encode()


def in_html() -> bytes:
    head = "<tr><th rowspan=2>Region<th colspan=2>2023<th colspan=2>2024<tr><th>Spring<th>Autumn<th>Spring<th>Autumn"
    body = "".join(f"<tr><td>{'<td>'.join(row)}" for row in ROWS[2:])
    return f"<table>{head}{body}</table>".encode()


def in_word() -> bytes:
    file, document = io.BytesIO(), docx.Document()
    table = document.add_table(len(ROWS), 5)
    for place, row in enumerate(ROWS):
        for column, cell in enumerate(row):
            table.cell(place, column).text = cell
    for first, last in (((0, 0), (1, 0)), ((0, 1), (0, 2)), ((0, 3), (0, 4))):
        table.cell(*first).merge(table.cell(*last))
    document.save(file)
    return file.getvalue()


def in_workbook() -> bytes:
    file, book = io.BytesIO(), openpyxl.Workbook()
    for row in ROWS:
        book.active.append([int(cell) if cell.isdecimal() else cell or None for cell in row])
    for cells in ("A1:A2", "B1:C1", "D1:E1"):
        book.active.merge_cells(cells)
    book.save(file)
    return file.getvalue()


def in_pdf(style: Sequence[tuple[object, ...]]) -> bytes:
    file = io.BytesIO()
    pdf = Canvas(file)
    spans = [("SPAN", (1, 0), (2, 0)), ("SPAN", (3, 0), (4, 0)), ("ALIGN", (1, 0), (-1, -1), "CENTER")]
    table = Table(ROWS, colWidths=80, style=[*spans, *style])
    table.wrapOn(pdf, 500, 400)
    table.drawOn(pdf, 72, 500)
    pdf.save()
    return file.getvalue()


RULES = [
    ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black),
    ("LINEBELOW", (1, 0), (2, 0), 0.5, colors.black),
    ("LINEBELOW", (3, 0), (4, 0), 0.5, colors.black),
    ("LINEBELOW", (0, 1), (-1, 1), 0.5, colors.black),
    ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black),
]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("sales.csv", in_csv()),
        ("sales.html", in_html()),
        ("sales.docx", in_word()),
        ("sales.xlsx", in_workbook()),
        ("grid.pdf", in_pdf([("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("SPAN", (0, 0), (0, 1))])),
        ("rules.pdf", in_pdf(RULES)),
        ("aligned.pdf", in_pdf([])),
    ],
)
def test_a_name_over_several_columns_is_in_front_of_each(name: str, data: bytes) -> None:
    assert [line for line in document_from_bytes(name, data, "").text.split("\n") if "=" in line] == READ


def test_what_is_cited_of_a_pdf_shows_the_names_of_both_rows() -> None:
    document = document_from_bytes("grid.pdf", in_pdf([("GRID", (0, 0), (-1, -1), 0.5, colors.black)]), "")
    words = [box.span.of(document.text) for box in document.boxes]
    assert words[:8] == ["Region", "North", "2023", "Spring", "12", "2023", "Autumn", "18"]


@pytest.mark.parametrize(
    "rows",
    [
        [["Name", "", "Town"], ["Ann", "Smith", "Leith"], ["Bo", "Ek", "Oban"]],  # a first record
        [["Name", "", "Age"], ["Ann", "Smith", "31"], ["Bo", "Ek", "29"]],
        [["Region", "2023", ""], ["", "Spring", "Spring"], ["North", "1", "2"]],  # two columns of one name
    ],
)
def test_a_row_that_names_no_columns_is_no_second_row_of_names(rows: list[list[str]]) -> None:
    assert header_of(rows)[1] < 2


def test_the_page_shows_both_rows_of_names_above_a_cited_row() -> None:
    many = [*ROWS[:2], *([f"Place {number}", "1", "2", "3", "4"] for number in range(100))]
    html = table_html(rows_of("csv", "sales.csv", in_csv(many)), {"row 90"})
    head, body = html.split("<tbody>")
    assert head.count("<tr>") == 2
    assert all(name in head for name in ("2023", "Autumn"))
    assert "Place 87" in body
    assert "Spring" not in body
    assert '<p class="more">57 more rows above</p>' in head
