"""Numbers of PDFs are read as they are seen: raised, letterspaced, beside plots and in the captions of tables."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from test_read_pdf_layout import FIRST, SECOND, Drawing, read, wrapped, write

from propcite.app.ingest.readers.pdf.lines import Line
from propcite.app.ingest.readers.pdf.paragraphs import paragraphs

Pieces = Sequence[tuple[str, float, float]]  # words, size and rise


def in_a_line(pieces: Pieces, *, apart: bool = False) -> Drawing:
    """Return how to draw pieces side by side: as one text, or each alone, as TeX does."""

    def draw(pdf: Canvas) -> None:
        x = 72.0
        for words, size, rise in pieces:
            line = pdf.beginText(x, 700 + (rise if apart else 0))
            line.setFont("Times-Roman", size)
            line.setRise(0 if apart else rise)
            line.textOut(words)
            pdf.drawText(line)
            x += pdf.stringWidth(words, "Times-Roman", size)

    return draw


def turned(pdf: Canvas, words: str, x: float, y: float) -> None:
    pdf.saveState()
    pdf.translate(x, y)
    pdf.rotate(90)
    pdf.drawString(0, 0, words)
    pdf.restoreState()


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([("over 10", 10, 0), ("8", 7, 3.6), (" images", 10, 0)], "over 10⁸ images"),
        ([("about 10", 10, 0), ("-12", 7, 3.6), (" metres", 10, 0)], "about 10⁻¹² metres"),
        ([("in 2010", 10, 0), ("3,4", 7, 3.6), (" it grew", 10, 0)], "in 2010³,⁴ it grew"),
        ([("the number 1011", 10, 0), ("2", 7, -1.5), (" is eleven", 10, 0)], "the number 1011₂ is eleven"),
        ([("all 2", 10, 0), ("n-1", 7, 3.6), (" cases", 10, 0)], "all 2n-1 cases"),
        ([("of 40 km", 10, 0), ("2", 7, 3.6), (" and more", 10, 0)], "of 40 km² and more"),
        (
            [("the port", 10, 0), ("1,2", 7, 3.6), (" said so.", 10, 0), ("3", 7, 3.6), (" Later", 10, 0)],
            "the port¹,² said so.³ Later",
        ),
        ([("of CO", 10, 0), ("2", 7, -1.5), (" and H", 10, 0), ("2", 7, -1.5), ("O", 10, 0)], "of CO2 and H2O"),
        ([("room A", 10, 0), ("4", 10, 0), (" is free", 10, 0)], "room A4 is free"),
        ([("price 19", 10, 0), ("50", 7, 0), (" each", 10, 0)], "price 1950 each"),
    ],
)
def test_raised_and_lowered_digits_are_no_part_of_the_number_before(pieces: Pieces, text: str, apart: bool) -> None:
    assert read(in_a_line(pieces, apart=apart)).text == text


def test_a_letterspaced_number_is_one_and_numbers_side_by_side_are_not() -> None:
    def draw(pdf: Canvas) -> None:
        x = 72.0
        for char in "3.14159":
            pdf.drawString(x, 700, char)
            x += pdf.stringWidth(char, "Times-Roman", 10) + 1.3
        pdf.drawString(72, 680, "digits 0 1 2 3")

    assert read(draw).text == "3.14159 digits 0 1 2 3"


def test_limits_of_an_integral_are_two_numbers() -> None:
    lines = [
        Line(text="∫ 1", page=1, left=246, right=259, bottom=615, top=641, size=7),
        Line(text="0", page=1, left=251, right=255, bottom=614, top=621, size=7),
        Line(text="f(x) dx", page=1, left=262, right=290, bottom=623, top=633, size=7),
    ]
    assert paragraphs(lines)[0].text == "∫ 1 0 f(x) dx"


def test_labels_that_overlap_are_numbers_of_their_own() -> None:
    def draw(pdf: Canvas) -> None:
        for row, number in enumerate(("49", "30", "39", "35", "7")):
            pdf.drawRightString(130, 500 + 5 * row, number)

    assert sorted(read(draw).text.split()) == ["30", "35", "39", "49", "7"]


def test_turned_numbers_beside_the_plots_of_several_pages_stay() -> None:
    def page(pdf: Canvas) -> None:
        write(pdf, wrapped(FIRST, 400, 100, 700))
        for row in range(5):
            turned(pdf, f"0.{row}", 80, 300 + 40 * row)

    assert [read(page, page, page, page).text.count(f"0.{row}") for row in range(5)] == [4] * 5


def test_turned_words_of_some_pages_stay() -> None:
    def page(pdf: Canvas) -> None:
        write(pdf, wrapped(FIRST, 400, 100, 700))
        turned(pdf, "Survival", 80, 300)

    def other(pdf: Canvas) -> None:
        write(pdf, wrapped(SECOND, 400, 100, 700))

    assert read(page, page, page, other, other, other, other).text.count("Survival") == 3


def test_a_caption_between_the_rules_of_two_tables_stays() -> None:
    rows = [
        ("Code", "Output", "Meaning"),
        ("Main", "art.", "article"),
        ("Alt", "no words at all", "section"),
        ("Sub", "no.", "item"),
    ]

    def draw(pdf: Canvas) -> None:
        y = 700.0
        for number in (1, 2, 3):
            write(pdf, [(235, y, f"Table {number}")], 11)
            pdf.setFont("Times-Roman", 9)
            for row, cells in enumerate(rows):
                y -= 14
                for column, cell in enumerate(cells):
                    pdf.drawString(100 + 120 * column, y, cell)
                if row in (0, len(rows) - 1):
                    pdf.line(100, y - 4, 400, y - 4)
                if not row:
                    pdf.line(100, y + 11, 400, y + 11)
            y -= 30

    text = read(draw).text
    assert [f"Table {number}" in text for number in (1, 2, 3)] == [True] * 3


def test_lines_from_right_to_left_are_read_so_in_any_order_of_the_file() -> None:
    pdfmetrics.registerFont(TTFont("DejaVu", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"))
    words = "הנהר עולה בגבעות וזורם צפונה לאורך קילומטרים רבים לפני שהוא מגיע לים ומשם הוא זורם אל הים הגדול".split()
    lines = [words[:6], words[6:12], words[12:]]

    def draw(pdf: Canvas) -> None:
        pdf.setFont("DejaVu", 10)
        for row in (2, 0, 1):
            x = 500.0
            for word in lines[row]:
                x -= pdf.stringWidth(word, "DejaVu", 10)
                pdf.drawString(x, 700 - 14 * row, word[::-1])
                x -= 3.2

    assert read(draw).text.split() == words
