"""Layouts of PDFs: columns, tables, notes, line numbers and turned pages are read in order."""

from __future__ import annotations

import io
import string
from collections.abc import Iterator
from random import Random

import pypdfium2
import pytest
from drawn_pdfs import FIRST, SECOND, Drawing, drawn, read, table, wrapped, write
from pdf_words import letters, text_in_box
from PIL import Image
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table

from propcite.app.ingest.ocr.choosing import choose
from propcite.app.ingest.readers import document_from_bytes

ROWS = [["Port", "Visits", "Level"], ["Sandwick", "1,204", "3.5"], ["Kirkwall", "37", "12.1"], ["Lervik", "980", "7.0"]]
SENTENCES = [
    "Port = Sandwick; Visits = 1,204; Level = 3.5.",
    "Port = Kirkwall; Visits = 37; Level = 12.1.",
    "Port = Lervik; Visits = 980; Level = 7.0.",
]


@pytest.mark.parametrize("columns", [2, 3])
def test_columns_that_are_drawn_row_by_row_are_read_one_after_the_other(columns: int) -> None:
    words = (FIRST + SECOND) * 3
    width = 450 / columns - 18
    lines = [line for _, _, line in wrapped(words, width, 0, 0)]
    height = -(-len(lines) // columns)
    placed = [(72 + (width + 18) * (n // height), 700 - 12 * (n % height), line) for n, line in enumerate(lines)]
    placed.sort(key=lambda line: (-line[1], line[0]))
    assert read(lambda pdf: write(pdf, placed)).text == words.strip()


@pytest.mark.parametrize(
    "style",
    [
        [("GRID", (0, 0), (-1, -1), 0.5, colors.black)],
        [("BOX", (0, 0), (-1, -1), 1, colors.black), ("BOX", (0, 0), (-1, 0), 1, colors.black)],
        [("LINEABOVE", (0, 0), (-1, 0), 1, colors.black), ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black)],
        [],
        [("ALIGN", (1, 0), (-1, -1), "RIGHT")],
    ],
    ids=["grid", "two boxes", "rules", "aligned to the left", "aligned to the right"],
)
def test_a_row_is_a_sentence_with_the_names_of_its_columns(style: list[tuple[object, ...]]) -> None:
    data = drawn(lambda pdf: table(pdf, ROWS, style))
    document = document_from_bytes("x.pdf", data, "")
    assert document.text.split("\n") == SENTENCES
    pdf = pypdfium2.PdfDocument(data)
    boxes = [box for box in document.boxes if box.span.start < len(SENTENCES[0])]
    assert [box.span.of(document.text) for box in boxes] == ["Port", "Sandwick", "Visits", "1,204", "Level", "3.5"]
    assert all(letters(box.span.of(document.text)) in letters(text_in_box(pdf, box)) for box in boxes)


def test_a_table_of_words_has_named_columns_only_if_a_rule_shows_its_header() -> None:
    rows = [["Port", "Keeper"], ["Sandwick", "Ann Lee"], ["Kirkwall", "Bo Ek"]]
    rule = [("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black), ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black)]
    rule.append(("LINEBELOW", (0, -1), (-1, -1), 1, colors.black))
    assert read(lambda pdf: table(pdf, rows, [])).text == "Port | Keeper\nSandwick | Ann Lee\nKirkwall | Bo Ek"
    ruled = "Port = Sandwick; Keeper = Ann Lee.\nPort = Kirkwall; Keeper = Bo Ek."
    assert read(lambda pdf: table(pdf, rows, rule)).text == ruled


@pytest.mark.parametrize("is_ruled", [True, False])
def test_a_label_inside_a_table_is_in_front_of_its_rows_and_goes_on_with_the_next_page(is_ruled: bool) -> None:
    rows = [ROWS[0], ["North", "", ""], *ROWS[1:3], ["South", "", ""], ["Sandwick", "9", "1.5"]]
    style: list[tuple[object, ...]] = [("SPAN", (0, place), (-1, place)) for place in (1, 4)]
    style += [("GRID", (0, 0), (-1, -1), 0.5, colors.black)] if is_ruled else []
    after = [["Lervik", "980", "7.0"], ["Oban", "33", "4.0"]]
    document = read(lambda pdf: table(pdf, rows, style), lambda pdf: table(pdf, after, style[2:], 700))
    assert [line for line in document.text.split("\n") if line] == [
        "North",
        *(f"North: {sentence}" for sentence in SENTENCES[:2]),
        "South",
        "South: Port = Sandwick; Visits = 9; Level = 1.5.",
        "South: Port = Lervik; Visits = 980; Level = 7.0.",
        "South: Port = Oban; Visits = 33; Level = 4.0.",
    ]
    boxes = [box.span.of(document.text) for box in document.boxes]
    assert boxes[:8] == ["North", "North", "Port", "Sandwick", "Visits", "1,204", "Level", "3.5"]


def test_a_label_wider_than_its_column_shows_that_the_others_of_one_cell_are_labels() -> None:
    rows = [ROWS[0], ["Harbours of the far north", "", ""], *ROWS[1:3], ["South", "", ""], ROWS[3]]
    style: list[tuple[object, ...]] = [("SPAN", (0, place), (-1, place)) for place in (1, 4)]
    assert read(lambda pdf: table(pdf, rows, style)).text.split("\n") == [
        "Harbours of the far north",
        *(f"Harbours of the far north: {sentence}" for sentence in SENTENCES[:2]),
        "South",
        f"South: {SENTENCES[2]}",
    ]


def test_ruling_lines_divide_cells_whose_words_are_close() -> None:
    rows = [["Boat", "Summer"], ["Up to 6 m", "12 EUR"], ["Longer", "20 EUR"]]
    style = [("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("FONT", (0, 0), (-1, -1), "Times-Roman", 10)]
    close = Table(rows, colWidths=48, style=[*style, ("LEFTPADDING", (0, 0), (-1, -1), 3)])
    close.wrapOn(Canvas(io.BytesIO()), 400, 400)
    text = read(lambda pdf: close.drawOn(pdf, 72, 500)).text
    assert text == "Boat = Up to 6 m; Summer = 12 EUR.\nBoat = Longer; Summer = 20 EUR."


@pytest.mark.parametrize("is_ruled", [True, False])
def test_a_cell_of_several_lines_stays_together(is_ruled: bool) -> None:
    rows = [
        ["Port", "Visits", "Remarks"],
        ["Sandwick", "1,204", "Rebuilt after\nthe storm"],
        ["Lervik", "980", "Work took prece-\ndence here"],
    ]
    style: list[tuple[object, ...]] = [("VALIGN", (0, 0), (-1, -1), "TOP")]
    style += [("GRID", (0, 0), (-1, -1), 0.5, colors.black)] if is_ruled else []
    assert read(lambda pdf: table(pdf, rows, style)).text == (
        "Port = Sandwick; Visits = 1,204; Remarks = Rebuilt after the storm.\n"
        "Port = Lervik; Visits = 980; Remarks = Work took precedence here."
    )


def test_a_cell_of_several_rows_is_in_each_of_them() -> None:
    rows = [["Port", "Visits"], ["Sandwick", "1"], ["", "2"], ["Lervik", "3"]]
    style = [
        ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
        ("SPAN", (0, 1), (0, 2)),
        ("VALIGN", (0, 1), (0, 2), "MIDDLE"),
    ]
    assert read(lambda pdf: table(pdf, rows, style)).text.split("\n") == [
        "Port = Sandwick; Visits = 1.",
        "Port = Sandwick; Visits = 2.",
        "Port = Lervik; Visits = 3.",
    ]


def test_a_table_goes_on_to_the_next_page() -> None:
    document = read(lambda pdf: table(pdf, ROWS[:3], [], 60), lambda pdf: table(pdf, ROWS[3:], [], 760))
    assert [line for line in document.text.split("\n") if line] == SENTENCES


def test_a_footnote_is_read_after_the_sentence_that_it_divides() -> None:
    words = (FIRST + SECOND) * 2
    lines = wrapped(words, 450, 72, 200)

    def first(pdf: Canvas) -> None:
        write(pdf, lines[:5])
        pdf.line(72, 120, 150, 120)
        write(pdf, wrapped("1 A note in smaller letters. It has a second sentence.", 450, 72, 108, 8), 8)

    def second(pdf: Canvas) -> None:
        write(pdf, [(x, 700 - 12 * row, line) for row, (x, _, line) in enumerate(lines[5:])])

    document = read(first, second)
    note = "1 A note in smaller letters. It has a second sentence."
    assert document.text == f"{words.strip()}\n\n{note}"
    assert [page.number for page in document.pages] == [1, 2, 1]
    assert "".join(page.span.of(document.text) for page in document.pages).replace("\n", "").endswith(note)


def test_a_caption_and_a_table_do_not_divide_a_paragraph() -> None:
    lines = wrapped(FIRST + SECOND, 450, 72, 700)

    def draw(pdf: Canvas) -> None:
        write(pdf, lines[:3])
        write(pdf, [(72, 620, "Table 1. Visits of ships in the three ports.")], 9)
        table(pdf, ROWS, [], 520)

    document = read(draw, lambda pdf: write(pdf, [(x, y + 36, line) for x, y, line in lines[3:]]))
    first, *others = [block for block in document.text.split("\n") if block]
    assert first == (FIRST + SECOND).strip()
    assert others == ["Table 1. Visits of ships in the three ports.", *SENTENCES]


def test_marginal_notes_are_read_after_the_text_of_their_page() -> None:
    lines = wrapped(FIRST + SECOND, 300, 200, 700)

    def draw(pdf: Canvas) -> None:
        for number, line in enumerate(lines):
            write(pdf, [line])
            if number == 1:
                write(pdf, [(72, 688, "A note in the"), (72, 678, "margin here.")], 8)

    assert read(draw).text == f"{(FIRST + SECOND).strip()}\n\nA note in the margin here."


@pytest.mark.parametrize("every", [1, 5])
def test_line_numbers_are_left_out(every: int) -> None:
    lines = wrapped((FIRST + SECOND) * 6, 400, 100, 750)

    def draw(pdf: Canvas) -> None:
        for number, (x, y, line) in enumerate(lines, start=1):
            if number % every == 0:
                pdf.drawRightString(85, y, str(number))
            pdf.drawString(x, y, line)

    assert read(draw).text == ((FIRST + SECOND) * 6).strip()


def test_numbers_of_rows_and_items_stay() -> None:
    rows = [["No", "Port"], *([str(n), name] for n, name in enumerate(("Sandwick", "Kirkwall", "Lervik", "Ystad"), 1))]
    assert "No = 3; Port = Lervik." in read(lambda pdf: table(pdf, rows, [])).text
    rows_of_states = [(72, 700 - 12 * n, f"{2758 + n % 2} of the students that were there") for n in range(4)]
    assert read(lambda pdf: write(pdf, rows_of_states)).text.count("2758 of the students") == 2


@pytest.mark.parametrize("words", ["Item of a list", "open box", "Female 4.5 0.21", "if left == right:"])
def test_numbers_of_rows_and_of_lines_of_code_stay_below_prose(words: str) -> None:
    rows = [(72.0, 700.0 - 12 * n, f"{n} {words}") for n in range(1, 13)]
    text = read(lambda pdf: write(pdf, [*wrapped(FIRST + SECOND, 400, 72, 780), *rows])).text
    assert all(f"{n} {words}" in text for n in range(1, 13))


def test_numbers_that_a_turned_page_draws_before_their_words_stay() -> None:
    def draw(pdf: Canvas) -> None:
        pdf.translate(300, 400)
        pdf.rotate(180)
        for n in range(9):
            pdf.drawString(100, 200 - 14 * n, str(n + 1))
            pdf.drawString(-150, 200 - 14 * n, "words of the day in march")

    text = read(draw).text
    assert all(str(n) in text.split() for n in range(1, 10))


def test_the_marks_of_a_plot_do_not_come_between_the_words_beside_it() -> None:
    marks = Random(3)

    def draw(pdf: Canvas) -> None:
        write(pdf, wrapped(FIRST, 160, 330, 700))
        for _ in range(160):
            pdf.drawString(marks.uniform(72, 315), marks.uniform(590, 710), "o")

    assert FIRST.strip() in " ".join(read(draw).text.split())


def test_words_that_only_the_spacing_of_letters_divides() -> None:
    def draw(pdf: Canvas) -> None:
        line = pdf.beginText(72, 700)
        for words, spacing in (("[It create", 0.0), ("s]", 2.6), ("[new mo", 0.0), ("dules]", 0.3)):
            line.setCharSpace(spacing)
            line.textOut(words)
        pdf.drawText(line)

    assert read(draw).text == "[It creates] [new modules]"


@pytest.mark.parametrize("angle", [90, 180, 270])
@pytest.mark.parametrize("is_declared", [True, False], ids=["page turned", "sheet upright"])
def test_a_page_with_turned_text_is_read_level_and_shown_as_it_is(angle: int, is_declared: bool) -> None:
    def draw(pdf: Canvas) -> None:
        pdf.setPageRotation(angle if is_declared else 0)
        width, height = A4[::-1] if is_declared and angle != 180 else A4  # reportlab turns the sheet
        pdf.translate(*{90: (width, 0), 180: (width, height), 270: (0, height)}[angle])
        pdf.rotate(angle)
        write(pdf, wrapped(FIRST, 400, 72, 450))
        table(pdf, ROWS, [], 250)

    data = drawn(draw)
    document = document_from_bytes("x.pdf", data, "")
    assert [line for line in document.text.split("\n") if line] == [FIRST.strip(), *SENTENCES]
    pdf = pypdfium2.PdfDocument(data)
    for box in document.boxes:
        assert letters(box.span.of(document.text)) in letters(text_in_box(pdf, box))


def test_words_along_the_edge_of_a_page_are_read_after_its_text() -> None:
    def draw(pdf: Canvas) -> None:
        lines = wrapped(FIRST, 400, 100, 700)
        write(pdf, lines[:2])
        pdf.saveState()
        pdf.translate(40, 400)
        pdf.rotate(90)
        pdf.drawString(0, 0, "Stamped in March")
        pdf.restoreState()
        write(pdf, lines[2:])

    assert read(draw).text == f"{FIRST.strip()}\n\nStamped in March"


def test_accents_that_are_drawn_by_themselves_are_on_their_letters() -> None:
    def draw(pdf: Canvas) -> None:
        x = 72.0
        for accent, letters_after in (("\u00b4", "et"), ("\u00a8", "uber "), ("\u00b4", "nski")):
            width, own = (pdf.stringWidth(one, "Times-Roman", 10) for one in (letters_after[0], accent))
            pdf.drawString(x + (width - own) / 2, 700, accent)
            pdf.drawString(x, 700, letters_after)
            x += pdf.stringWidth(letters_after, "Times-Roman", 10)

    assert read(draw).text == "\u00e9t\u00fcber \u0144ski"


def test_an_accent_without_a_letter_stays() -> None:
    assert read(lambda pdf: pdf.drawString(72, 700, "a sign \u00b4 and more")).text == "a sign \u00b4 and more"


def test_right_to_left_text_is_read_in_its_own_order() -> None:
    pdfmetrics.registerFont(TTFont("DejaVu", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"))
    lines = ["הנהר עולה בגבעות וזורם צפונה לאורך מאתיים", "קילומטרים לפני שהוא מגיע לים."]

    def draw(pdf: Canvas) -> None:
        pdf.setFont("DejaVu", 10)
        for row, line in enumerate(lines):
            pdf.drawRightString(500, 700 - 14 * row, line[::-1])  # as programs draw it: from the left

    assert read(draw).text == " ".join(lines)


def test_vertical_text_is_read_from_the_right_column_to_the_left() -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3", isVertical=True))
    columns = [
        "川は山から海へ流れる。それは長く、",
        "町は川の北にある。橋は一つしかなく",
        "船は春から秋まで毎日川を下るのだ。",
        "冬は氷。",
    ]

    def draw(pdf: Canvas) -> None:
        pdf.setFont("HeiseiMin-W3", 12)
        for number, column in enumerate(columns):
            pdf.drawString(500 - 20 * number, 700, column)

    document = read(draw)
    assert document.text == "".join(columns)
    box = document.boxes[0]
    assert (box.left + box.right) / 2 == pytest.approx(494 / A4[0], abs=0.015)  # the machine has the font, or another
    assert box.bottom - box.top > 3 * (box.right - box.left)


@pytest.fixture
def _without_recogniser() -> Iterator[None]:
    choose("off")
    yield
    choose("auto")


def cells(pdf: Canvas, y: float, *words: tuple[float, str]) -> None:
    for x, word in words:
        pdf.drawString(x, y, word)


def test_a_table_below_another_one_has_its_own_names() -> None:
    def draw(pdf: Canvas) -> None:
        cells(pdf, 700, (170, "Visits"), (250, "Level"), (330, "Depth"))
        for number, (port, *values) in enumerate([("Sandwick", "120", "3.5", "9"), ("Lervik", "98", "7.0", "4")]):
            cells(pdf, 688 - 12 * number, (90, port), *zip((170, 250, 330), values, strict=True))
        pdf.setFont("Times-Roman", 12)
        pdf.drawString(90, 648, "2.2 Rivers")
        pdf.setFont("Times-Roman", 10)
        pdf.drawString(90, 632, "summary(rivers)")
        cells(pdf, 616, (150, "Length"), (210, "Width"), (290, "Mouth"))
        for number, (river, *values) in enumerate([("Alder", "200", "31", "62"), ("Brenn", "80", "12", "40")]):
            cells(pdf, 604 - 12 * number, (90, river), *zip((150, 210, 290), values, strict=True))

    assert read(draw).text == (
        "Sandwick; Visits = 120; Level = 3.5; Depth = 9.\nLervik; Visits = 98; Level = 7.0; Depth = 4.\n\n"
        "2.2 Rivers\n\nsummary(rivers)\n\n"
        "Alder; Length = 200; Width = 31; Mouth = 62.\nBrenn; Length = 80; Width = 12; Mouth = 40."
    )


def test_columns_with_little_space_between_them_are_apart() -> None:
    def draw(pdf: Canvas) -> None:
        cells(pdf, 700, (120, "grade"), (153, "sex"), (220, "score"))
        for number, row in enumerate([("6", "M", "43"), ("7", "F", "88"), ("5", "F", "34"), ("3", "M", "65")]):
            cells(pdf, 688 - 12 * number, (90, str(number + 1)), *zip((136, 153, 220), row, strict=True))

    assert read(draw).text.splitlines()[0] == "1; grade = 6; sex = M; score = 43."


def test_a_heading_on_the_next_page_is_no_row_of_the_table_before() -> None:
    def first(pdf: Canvas) -> None:
        cells(pdf, 148, (90, "No"), (120, "Visits"), (250, "Level"))
        cells(pdf, 136, (90, "7"), (120, "120"), (250, "3.5"))
        cells(pdf, 124, (90, "8"), (120, "98"), (250, "7.0"))

    def second(pdf: Canvas) -> None:
        pdf.setFont("Times-Roman", 13)
        cells(pdf, 760, (90, "2.3"), (120, "Rivers"))
        write(pdf, wrapped(FIRST * 2, 450, 90, 735))

    text = read(first, second).text
    assert text.endswith(f"No = 8; Visits = 98; Level = 7.0.\n\n2.3 Rivers\n\n{(FIRST * 2).strip()}")


def across(pdf: Canvas, words: str) -> None:
    pdf.saveState()
    pdf.translate(200, 250)
    pdf.rotate(50)
    pdf.setFont("Helvetica", 110)
    pdf.drawString(0, 0, words)
    pdf.restoreState()


def test_words_across_each_page_are_neither_text_nor_title() -> None:
    def page(number: int) -> Drawing:
        def draw(pdf: Canvas) -> None:
            across(pdf, "draft")
            write(pdf, wrapped(f"{FIRST}{number} ships came. {SECOND}", 450, 72, 700))

        return draw

    document = read(*map(page, (5, 6, 7)))
    assert "draft" not in document.text
    assert document.title == "x"
    alone = read(page(5))
    assert alone.text == f"{FIRST}5 ships came. {SECOND}".strip() + "\n\ndraft"
    assert not alone.headings


@pytest.mark.usefixtures("_without_recogniser")
@pytest.mark.parametrize("is_nonsense", [False, True])
def test_an_invisible_layer_over_a_scan_is_read_unless_it_is_nonsense(is_nonsense: bool) -> None:
    key = str.maketrans(string.ascii_lowercase, "qwrtzpsdfghjklxcvbnmeyuioa")
    words = ((FIRST + SECOND) * 2).translate(key if is_nonsense else {}).strip()

    def scan(pdf: Canvas) -> None:
        pdf.drawInlineImage(Image.new("L", (60, 80), 200), 0, 0, *A4)
        for x, y, line in wrapped(words, 450, 72, 700):
            text = pdf.beginText(x, y)
            text.setTextRenderMode(3)
            text.textOut(line)
            pdf.drawText(text)

    document = read(scan, lambda pdf: write(pdf, wrapped(FIRST, 450, 72, 500)))
    assert document.metadata.get("pages_without_text") == ("1" if is_nonsense else None)
    assert (words in document.text) is not is_nonsense
