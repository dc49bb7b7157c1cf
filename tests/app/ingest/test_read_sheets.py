"""Spreadsheets and CSV: each row is a sentence with column names, row place and numbers as the program shows them."""

from __future__ import annotations

import csv
import doctest
import importlib
from io import BytesIO, StringIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from real_documents import checked, headings, places, real

from propcite.app.errors import ReadError
from propcite.app.ingest.readers import document_from_bytes
from propcite.app.ingest.readers.number_formats import format_number
from propcite.app.ingest.readers.table_names import has_header
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Document


def read(text: str | bytes, name: str = "x.csv") -> Document:
    return checked(document_from_bytes(name, text.encode() if isinstance(text, str) else text, ""))


def book(*rows: list[Any]) -> Document:
    workbook: Any = Workbook()
    for row in rows:
        workbook.active.append(row)
    out = BytesIO()
    workbook.save(out)
    return checked(document_from_bytes("x.xlsx", out.getvalue(), ""))


@pytest.mark.parametrize("name", ["budget-openpyxl.xlsx", "budget-libreoffice.xlsx", "budget-libreoffice.ods"])
def test_a_workbook_is_read_as_it_is_shown(name: str) -> None:
    document = real(name)
    assert headings(document) == [(1, "Budget"), (1, "Old (hidden)"), (1, "No header")]
    assert places(document) == {
        "Budget, row 2": "Budget of the harbour",
        "Budget, row 5": "Port = Sandwick; Opened = 2024-03-01; Share = 14%; Cost = 1,200.50 €; Open = TRUE.",
        "Budget, row 6": "Port = Sandwick; Opened = 2023-12-31; Share = 9.5%; Cost = -3.00 €; Open = FALSE.",
        "Budget, row 7": "Port = Alder Quay; Opened = 2024-03-01 14:30; Share = 100%; Cost = 1,000,000.00 €.",
        "Budget, row 13": "Quarter = Q1; Visits = 17.",
        "Old (hidden), row 2": "Name = Heron Bridge; Year = 1931.",
        "No header, row 1": "3 | oak",
        "No header, row 2": "5 | elm",
    }
    assert (document.title, document.metadata["author"], document.metadata["date"]) == (
        "Budget",
        "Di Ross",
        "2021-06-07",
    )


def test_a_row_is_a_sentence_with_its_place() -> None:
    passages = PassageSplitter().split(real("budget-openpyxl.xlsx"))
    (match,) = [passage for passage in passages if "Heron" in passage.text]
    (sentence,) = [s.span for s in match.sentences if "Heron" in s.span.of(match.text)]
    assert match.places_of(sentence) == ("Old (hidden), row 2",)


@pytest.mark.parametrize(
    ("value", "code", "words"),
    [
        (0.14, "0%", "14%"),
        (0.1456, "0.0%", "14.6%"),
        (1234.5, "#,##0.00", "1,234.50"),
        (1234567, '#,##0,"k"', "1,235k"),
        (-1234.5, "#,##0.00;(#,##0.00)", "(1,234.50)"),
        (-5, "0;[Red]-0", "-5"),
        (12.5, "[$€-407] #,##0.00", "€ 12.50"),
        (12.5, '"$"#,##0.##', "$12.5"),
        (5, '0" pcs"', "5 pcs"),
        (7, "00000", "00007"),
        (0, '0;-0;"none"', "none"),
        (12345, "0.00E+00", "1.23E+04"),
        (0.1 + 0.2, "General", "0.3"),
        (3.0, "General", "3"),
        (1e20, "General", "1e+20"),
        (2.5, "# ?/?", "2.5"),
        (45352, "yyyy-mm-dd", "2024-03-01"),
        (45352, "d. mmmm yyyy", "2024-03-01"),
        (45352.75, "dd/mm/yyyy hh:mm", "2024-03-01 18:00"),
        (0.75, "h:mm AM/PM", "18:00"),
        (1.5, "[h]:mm", "36:00"),
        (45352, "mmm-yy", "2024-03"),
        (45352, "yyyy", "2024"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (60, "0.00 [$m]", "60.00 m"),
        (5, '"day" 0', "day 5"),
        (1e300, "yyyy-mm-dd", "1e+300"),
        (-1, "yyyy-mm-dd", "1899-12-30"),
        (-112000.5, "#,##0;[Red](#,##0)", "(112,001)"),
        (2.675, "0.00", "2.68"),
        (0.285, "0.0%", "28.5%"),
        (0, '_-* #,##0.00 €_-;-* #,##0.00 €_-;_-* "-"?? €_-;_-@_-', "- €"),
        (-3, '_-* #,##0.00 €_-;-* #,##0.00 €_-;_-* "-"?? €_-;_-@_-', "-3.00 €"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (1234567890123456, "General", "1234567890123456"),
        (0.0625, "[mm]:ss", "90:00"),
        (0.6354, "hh:mm", "15:14"),
    ],
)
def test_a_number_in_its_format(value: float, code: str, words: str) -> None:
    assert format_number(value, code) == words


def test_dates_since_1904() -> None:
    assert format_number(0, "yyyy-mm-dd", since_1904=True) == "1904-01-01"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["Name,Town", "Ann,Rome"], True),
        (["Country,2019,2020", "Spain,14%,15%"], True),
        ([",Jan,Feb", "Spain,1,2"], True),
        (["Q1,Q2", "1,2"], True),
        (["3,oak", "5,elm"], False),
        (["Ann,Ann", "Bo,Cy"], False),
        (["2019,2020", "2021,2022"], False),
        (["The tide is high today.,x", "The tide is low.,y"], False),
        (["oak", "elm"], False),
        (["Trees", "12", "17"], True),
        (["Name,Town"], False),
    ],
)
def test_whether_the_first_row_is_a_header(rows: list[str], expected: bool) -> None:
    assert has_header([row.split(",") for row in rows]) is expected


def test_csv_rows_are_counted_as_a_spreadsheet_counts_them() -> None:
    document = read('Port;Note;Share\nSandwick;"two\nlines; one cell";14,5%\n;;\n\nAlder Quay;x;9%\n')
    assert places(document) == {
        "row 2": "Port = Sandwick; Note = two lines; one cell; Share = 14,5%.",
        "row 5": "Port = Alder Quay; Note = x; Share = 9%.",
    }
    assert document.title == "x"


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (b"Name\tAge\nJos\xe9\t7\n", "x.tsv", "Name = José; Age = 7."),
        (b"\xef\xbb\xbfName,Age\nAnn,7\n", "x.csv", "Name = Ann; Age = 7."),
        ("Имя,Город\nАнна,Москва\nИван,Киев\n".encode("cp1251"), "x.csv", "Имя = Анна; Город = Москва."),
        ("Name,Age\nAnn,7\n".encode("utf-16"), "x.csv", "Name = Ann; Age = 7."),
        (b'"sep=|"\r\nName|Age\r\nAnn|7\r\n', "x.csv", "Name = Ann; Age = 7."),
        (b"Port;Cost\nAlder;2,5\nSandwick;4,5\n", "x.csv", "Port = Alder; Cost = 2,5."),
        (b"one line of words, and no table at all", "x.csv", "one line of words | and no table at all"),
        (b"a,b,c\n1,2,3,4,5\n6\n", "x.csv", "a = 1; b = 2; c = 3; 4; 5."),
    ],
)
def test_csv_in_any_encoding_and_dialect(data: bytes, name: str, words: str) -> None:
    assert words in read(data, name).text.split("\n\n")


def test_a_quote_that_is_never_closed() -> None:
    assert "a" in read('a,b\n"1,2\n3,4\n').text
    with pytest.raises(ReadError, match="a quote that is never closed"):
        read('a,b\n"' + "x" * (17 * 2**20))


def test_a_later_table_has_its_own_header_and_a_gap_keeps_it() -> None:
    document = book(["Port", "Visits"], ["Sandwick", 17], [None], ["Alder", 9], [None], ["Tree", "Height"], ["oak", 30])
    assert [*places(document).values()] == [
        "Port = Sandwick; Visits = 17.",
        "Port = Alder; Visits = 9.",
        "Tree = oak; Height = 30.",
    ]


CELLS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=9).filter(str.strip)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=8))
def test_every_row_is_in_order_with_its_cells(rows: list[list[str]]) -> None:
    out = StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([["one", "two", "three"], *rows])
    try:
        document = read(out.getvalue())
    except ReadError:
        return  # text that decodes in another encoding, or that is blank
    row_places = [place for place in document.places if place.name != "row 1"]
    assert [place.name for place in row_places] == sorted((p.name for p in row_places), key=lambda name: int(name[4:]))
    for place in row_places:
        words = place.span.of(document.text)
        for cell in rows[int(place.name[4:]) - 2]:
            assert " ".join(cell.replace("\ufeff", "").replace("\xad", "").split()) in words


@pytest.mark.parametrize("module", ["rows", "number_formats", "delimited", "docx_styles", "draft", "markdown"])
def test_the_doctests_of_the_readers(module: str) -> None:
    assert doctest.testmod(importlib.import_module(f"propcite.app.ingest.readers.{module}")).failed == 0
