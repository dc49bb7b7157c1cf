"""Tables of PDFs that a page divides: below their names, below a label, and with their names on each page."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from drawn_pdfs import FIRST, read, table, wrapped, write
from reportlab.lib import colors
from reportlab.pdfgen.canvas import Canvas

NAMES = [["", "2023", "", "2024", ""], ["Boat", "Summer", "Winter", "Summer", "Winter"]]
ROWS = [["Sail", "12", "8", "13", "9"], ["Motor", "18", "12", "20", "14"]]
SENTENCES = [
    "Boat = Sail; 2023 Summer = 12; 2023 Winter = 8; 2024 Summer = 13; 2024 Winter = 9.",
    "Boat = Motor; 2023 Summer = 18; 2023 Winter = 12; 2024 Summer = 20; 2024 Winter = 14.",
]
CENTERED = [("ALIGN", (1, 0), (-1, -1), "CENTER")]
WIDE: list[tuple[object, ...]] = [("SPAN", (1, 0), (2, 0)), ("SPAN", (3, 0), (4, 0)), *CENTERED]
GRID: list[tuple[object, ...]] = [("GRID", (0, 0), (-1, -1), 0.5, colors.black)]
LEVELS = [
    ["Port", "Visits", "Level"],
    ["Sandwick", "1,204", "3.5"],
    ["Kirkwall", "37", "12.1"],
    ["Lervik", "980", "7.0"],
]


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


@pytest.mark.parametrize("rules", [[], GRID])
def test_names_in_two_rows_at_the_end_of_a_page_name_the_rows_on_the_next(rules: list[tuple[object, ...]]) -> None:
    text = read(
        lambda pdf: table(pdf, NAMES, [*WIDE, *rules], 80), lambda pdf: table(pdf, ROWS, [*CENTERED, *rules], 740)
    ).text
    assert lines(text)[-2:] == SENTENCES


@pytest.mark.parametrize("rules", [[], GRID])
def test_a_label_at_the_end_of_a_page_is_in_front_of_the_rows_on_the_next(rules: list[tuple[object, ...]]) -> None:
    rows = [*LEVELS[:3], ["Harbours of the far south", "", ""]]
    style = [*rules, ("SPAN", (0, 3), (-1, 3))]
    text = read(lambda pdf: table(pdf, rows, style, 90), lambda pdf: table(pdf, LEVELS[3:] * 2, rules, 740)).text
    assert lines(text)[2:] == [
        "Harbours of the far south",
        *["Harbours of the far south: Port = Lervik; Visits = 980; Level = 7.0."] * 2,
    ]


def test_words_below_a_table_at_the_end_of_a_page_are_no_label_of_other_text() -> None:
    rows = [*LEVELS[:3], ["Harbours of the far south", "", ""]]
    style: Sequence[tuple[object, ...]] = [("SPAN", (0, 3), (-1, 3))]
    text = read(lambda pdf: table(pdf, rows, style, 90), lambda pdf: write(pdf, wrapped(FIRST, 400, 72, 740))).text
    assert lines(text)[2:] == ["Harbours of the far south", FIRST.strip()]


def test_names_on_each_page_are_no_running_line_and_no_record() -> None:
    pages = [[LEVELS[0], *[[f"Port {letter}{n}", f"{n},204", "3.5"] for n in range(1, 4)]] for letter in "ABCD"]
    pages[2][0] = LEVELS[0]
    style = [*GRID, ("TOPPADDING", (0, 0), (-1, -1), 5), ("BOTTOMPADDING", (0, 0), (-1, -1), 5)]
    text = read(*((lambda pdf, rows=rows: table(pdf, rows, style, 700)) for rows in pages)).text
    assert lines(text) == [
        f"Port = Port {letter}{n}; Visits = {n},204; Level = 3.5." for letter in "ABCD" for n in range(1, 4)
    ]


def test_borders_in_relief_are_lines_around_cells() -> None:
    def draw(pdf: Canvas) -> None:
        rows = [["Boat", "Summer"], ["Up to 6 m\nof length", "12 EUR"], ["Any other\nlonger boat", "20 EUR"]]
        for number, row in enumerate(rows):
            for column, words in enumerate(row):
                left, bottom = 72 + 57 * column, 600 - 32 * number
                for x, y, width, height in (
                    (left, bottom, 55, 0.75), (left, bottom + 29.25, 55, 0.75), (left, bottom, 0.75, 30),
                    (left + 54.25, bottom, 0.75, 30),
                ):  # fmt: skip
                    pdf.rect(x, y, width, height, stroke=0, fill=1)
                for place, line in enumerate(words.split("\n")):
                    pdf.drawString(left + 3, bottom + 18 - 12 * place, line)

    assert read(draw).text == (
        "Boat = Up to 6 m of length; Summer = 12 EUR.\nBoat = Any other longer boat; Summer = 20 EUR."
    )
