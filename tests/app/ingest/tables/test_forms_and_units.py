"""Tables of names and values, rows of units, labels of sheets, and names in bold letters."""

from __future__ import annotations

from io import BytesIO

import pytest
from openpyxl import Workbook
from real_documents import read_text


def sheet(*rows: list[object]) -> str:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    out = BytesIO()
    book.save(out)
    return read_text("a.xlsx", out.getvalue()).removeprefix("Sheet\n\n")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("Name:,Ana Rossi\nBorn:,1961\nTown:,Leith", "Name: | Ana Rossi\nBorn: | 1961\nTown: | Leith"),
        ("Name,Fish Quay\nBuilt,1904\nOwner,Leith", "Name | Fish Quay\nBuilt | 1904\nOwner | Leith"),
        (
            "Port,Visits\nAlder,9\nLeith,n/a\nOban,-",
            "Port = Alder; Visits = 9.\n\nPort = Leith; Visits = n/a.\n\nPort = Oban; Visits = -.",
        ),
        ("Port,Visits\nAlder,9\nLeith,8", "Port = Alder; Visits = 9.\n\nPort = Leith; Visits = 8."),
        (
            "Question,Answer\nWhen?,At nine.\nWhere?,Here.",
            "Question = When?; Answer = At nine.\n\nQuestion = Where?; Answer = Here.",
        ),
    ],
)
def test_the_first_row_of_a_form_names_no_columns(rows: str, words: str) -> None:
    assert read_text("a.csv", rows) == words


@pytest.mark.parametrize(
    ("units", "words"),
    [
        (["", "m", "EUR"], "Boat = Anna; Length (m) = 6.5; Fee (EUR) = 212."),
        ([None, "[km/h]", "%"], "Boat = Anna; Length (km/h) = 6.5; Fee (%) = 212."),
        (["", "m", ""], "Boat = Anna; Length (m) = 6.5; Fee = 212."),
        (["", "long words", ""], "Length = long words.\n\nBoat = Anna; Length = 6.5; Fee = 212."),
    ],
)
def test_units_below_the_names_belong_to_them(units: list[object], words: str) -> None:
    assert sheet(["Boat", "Length", "Fee"], units, ["Anna", 6.5, 212]) == words


def test_a_label_of_a_sheet_is_in_front_of_its_rows() -> None:
    rows = [["Item", "Cost"], ["North"], ["Lights", 12], ["Paint", 3], ["South"], ["Lights", 14]]
    assert sheet(*rows).split("\n\n") == [
        "North",
        "North: Item = Lights; Cost = 12.",
        "North: Item = Paint; Cost = 3.",
        "South",
        "South: Item = Lights; Cost = 14.",
    ]


def test_names_of_columns_in_bold_letters() -> None:
    html = "<table><tr><td><b>Boat</b><td><strong>Fee</strong><tr><td>Sail<td>{}</table>"
    assert read_text("a.html", html.format("twelve")) == "Boat = Sail; Fee = twelve."
    assert read_text("a.html", html.format("<b>x</b> y")) == "Boat = Sail; Fee = x y."


def test_a_button_that_opens_text_is_its_heading_and_a_quote_keeps_its_author() -> None:
    html = (
        "<h2><button aria-expanded=false>When is it open?</button></h2><div>From nine.</div><button>Accept</button>"
        "<blockquote><p>We never saw such silt.</p><footer>Ana Rossi</footer></blockquote><footer>Imprint</footer>"
    )
    assert read_text("a.html", html) == "When is it open?\n\nFrom nine.\n\nWe never saw such silt.\n\nAna Rossi"
