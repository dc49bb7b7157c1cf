"""Wide cells of tables, in every format: labels of groups of rows, and names above several columns."""

from __future__ import annotations

import io
import zipfile

import docx
import openpyxl
import pytest

from propcite.app.ingest.readers import document_from_bytes

ROWS = [
    ["Boat", "Summer", "Winter"],
    ["Sailing boats"],
    ["Up to 6 m", "12 EUR", "8 EUR"],
    ["Longer", "20 EUR", "14 EUR"],
    ["Motor boats"],
    ["Up to 6 m", "15 EUR", "11 EUR"],
]
READ = [
    "Sailing boats",
    "Sailing boats: Boat = Up to 6 m; Summer = 12 EUR; Winter = 8 EUR.",
    "Sailing boats: Boat = Longer; Summer = 20 EUR; Winter = 14 EUR.",
    "Motor boats",
    "Motor boats: Boat = Up to 6 m; Summer = 15 EUR; Winter = 11 EUR.",
]


def lines(name: str, data: bytes | str) -> list[str]:
    data = data.encode() if isinstance(data, str) else data
    return [line for line in document_from_bytes(name, data, "").text.split("\n") if line]


def in_html(rows: list[list[str]] = ROWS) -> str:
    opened = ["<td>" if len(row) > 1 else "<td colspan=3>" for row in rows]
    written = [f"<tr>{cell}{cell.join(row)}</tr>" for cell, row in zip(opened, rows, strict=True)]
    return f"<table>{''.join(written)}</table>"


def in_markdown() -> str:
    rows = [row if len(row) > 1 else [f"**{row[0]}**", "", ""] for row in ROWS]
    return "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], ["---"] * 3, *rows[1:]]) + "\n"


def in_word() -> bytes:
    file, document = io.BytesIO(), docx.Document()
    table = document.add_table(len(ROWS), 3)
    for place, row in enumerate(ROWS):
        for column, cell in enumerate(row):
            table.cell(place, column).text = cell
        if len(row) == 1:
            table.cell(place, 0).merge(table.cell(place, 2))
    document.save(file)
    return file.getvalue()


def in_workbook(first: int) -> bytes:
    file, book = io.BytesIO(), openpyxl.Workbook()
    for place, row in enumerate(ROWS, first):
        for column, cell in enumerate(row, first):
            book.active.cell(place, column, cell)
        if len(row) == 1:
            book.active.merge_cells(start_row=place, start_column=first, end_row=place, end_column=first + 2)
    book.save(file)
    return file.getvalue()


def in_opendocument(kind: str) -> bytes:
    def cell(words: str, more: str = "") -> str:
        return f"<table:table-cell{more}><text:p>{words}</text:p></table:table-cell>"

    rows = [
        "".join(map(cell, row)) if len(row) > 1 else cell(row[0], ' table:number-columns-spanned="3"') for row in ROWS
    ]
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    body = f"<office:{kind}><table:table>{table}</table:table></office:{kind}>"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as package:
        package.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        package.writestr("content.xml", f"<office:document{names}><office:body>{body}</office:body></office:document>")
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("fees.html", in_html()),
        ("fees.md", in_markdown()),
        ("fees.docx", in_word()),
        ("fees.xlsx", in_workbook(1)),
        ("fees.xlsx", in_workbook(3)),
        ("fees.odt", in_opendocument("text")),
        ("fees.ods", in_opendocument("spreadsheet")),
        ("fees.csv", "\n".join(",".join(row + [""] * (3 - len(row))) for row in ROWS)),
    ],
)
def test_a_label_is_in_front_of_each_row_of_its_group(name: str, data: bytes | str) -> None:
    assert lines(name, data)[-5:] == READ


def test_a_record_without_other_values_is_no_label() -> None:
    assert lines("crew.csv", "Name,Age,Town\nAnn,31,Leith\nBo,,\nCy,29,Oban\nDee,,\nEd,40,Leith\n") == [
        "Name = Ann; Age = 31; Town = Leith.",
        "Name = Bo.",
        "Name = Cy; Age = 29; Town = Oban.",
        "Name = Dee.",
        "Name = Ed; Age = 40; Town = Leith.",
    ]


def test_a_sentence_over_all_columns_is_no_label() -> None:
    note = ["Boats of the rescue service pay nothing in any season."]
    assert lines("fees.html", in_html([*ROWS[:4], note, *ROWS[5:]]))[-1].startswith("Sailing boats: Boat = Up to 6 m; ")
