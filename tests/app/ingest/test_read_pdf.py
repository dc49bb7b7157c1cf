"""Generated PDFs: paragraphs, pages, headings, tables, running headers, and files that cannot be read."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen import canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    ListFlowable,
    PageBreak,
    PageTemplate,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
)

from propcite.app.errors import ReadError
from propcite.app.ingest.readers import document_from_bytes
from propcite.app.ingest.readers.line_ends import line_join
from propcite.app.ingest.readers.pdf.lines import Line
from propcite.app.ingest.readers.pdf.paragraphs import paragraphs
from propcite.retrieval.text import Document

STYLES = getSampleStyleSheet()
TEXT = (
    "The river rises in the hills and flows north for two hundred kilometres before it meets the sea. "
    "It was first mapped in 1820 by a party of surveyors who walked along both of its banks. "
)


def read(data: bytes, name: str = "x.pdf") -> Document:
    return document_from_bytes(name, data, "")


def refused(data: bytes) -> str:
    with pytest.raises(ReadError) as caught:
        read(data)
    return str(caught.value)


def drawn(*pages: list[tuple[float, float, str]], **options: Any) -> bytes:
    """Draw a PDF with words at positions, `(x, y, words)`, and nothing else."""
    file = io.BytesIO()
    pdf = canvas.Canvas(file, pagesize=A4, **options)
    for page in pages:
        pdf.setFont("Helvetica", 11)
        for x, y, words in page:
            pdf.drawString(x, y, words)
        pdf.showPage()
    pdf.save()
    return file.getvalue()


def lines_down(*words: str, x: float = 72, y: float = 700) -> list[tuple[float, float, str]]:
    return [(x, y - 14 * row, line) for row, line in enumerate(words)]


def flowed(*story: Any, **options: Any) -> bytes:
    """Build a PDF with a running header and page numbers."""

    def header_and_footer(page: canvas.Canvas, _: Any) -> None:
        page.setFont("Helvetica", 9)
        page.drawString(72, 800, "Annual report 2024")
        page.drawCentredString(300, 30, f"Page {page.getPageNumber()}")

    file = io.BytesIO()
    SimpleDocTemplate(file, pagesize=A4, **options).build(
        list(story), onFirstPage=header_and_footer, onLaterPages=header_and_footer
    )
    return file.getvalue()


@cache
def book() -> bytes:
    story = [Paragraph("The River Book", STYLES["Title"])]
    for chapter in range(1, 5):
        story += [
            Paragraph(f"Chapter {chapter}", STYLES["Heading1"]),
            Paragraph(f"{chapter}. {TEXT * 3}", STYLES["Normal"]),
        ]
        story += [Spacer(1, 12), Paragraph(f"Second paragraph. {TEXT * 2}", STYLES["Normal"]), PageBreak()]
    return flowed(*story, author="Ann Lee")


def test_a_book_reads_as_paragraphs_and_headings() -> None:
    document = read(book(), "book.pdf")
    chapters = [
        f"Chapter {chapter}\n\n{chapter}. {TEXT * 3}".strip() + f"\n\nSecond paragraph. {TEXT * 2}".rstrip()
        for chapter in range(1, 5)
    ]
    assert document.text == "\n\n".join(["The River Book", *chapters])
    assert [(heading.level, heading.span.of(document.text)) for heading in document.headings] == [
        (1, "The River Book"),
        *((2, f"Chapter {chapter}") for chapter in range(1, 5)),
    ]
    assert document.title == "The River Book"
    assert document.metadata == {"kind": "pdf", "pages": "4", "author": "Ann Lee"}


def test_page_spans_cover_the_text_of_each_page() -> None:
    document = read(book())
    assert [page.number for page in document.pages] == [1, 2, 3, 4]
    words = [page.span.of(document.text) for page in document.pages]
    assert words[0].startswith("The River Book\n\nChapter 1")
    assert all(text.startswith(f"Chapter {number}\n\n{number}. The") for number, text in enumerate(words[1:], start=2))
    assert "\n\n".join(words) == document.text


def test_the_title_is_the_property_the_first_heading_or_the_file_name() -> None:
    page = lines_down("Words on a page.")
    assert read(flowed(Paragraph("Heading", STYLES["Title"]), title="Stated  title")).title == "Stated title"
    assert read(flowed(Paragraph("Heading", STYLES["Title"]), Paragraph(TEXT, STYLES["Normal"]))).title == "Heading"
    assert read(drawn(page), "my rivers.pdf").title == "my rivers"
    for placeholder in ("untitled", "Microsoft Word - rivers.docx", "thesis.dvi", "(anonymous)"):
        assert read(flowed(Paragraph("Heading.", STYLES["Normal"]), title=placeholder), "x y.pdf").title == "x y"


def test_headers_that_differ_between_chapters_and_outer_page_numbers_are_left_out() -> None:
    pages = []
    for number in range(1, 9):
        number_at = (72, 800) if number % 2 else (500, 800)
        header = "Sources" if number < 5 else "Mouths"
        pages.append(
            [(*number_at, str(number)), (280, 800, header), *lines_down(f"Words of page {number} stand here.")]
        )
    document = read(drawn(*pages))
    assert document.text == "\n\n".join(f"Words of page {number} stand here." for number in range(1, 9))


def test_prose_at_the_same_height_of_many_pages_is_not_a_header() -> None:
    line = "The same first line of prose in each letter of"
    pages = [lines_down(line, f"the year {year}.", y=770) for year in range(4)]
    text = read(drawn(*pages)).text
    assert text.count(f"{line} the year") == 4


def test_pages_with_only_numbers_keep_them() -> None:
    assert read(drawn([(300, 30, "1")], [(300, 30, "2")])).text.split() == ["1", "2"]


def test_hyphens_at_line_ends() -> None:
    page = lines_down(
        "We found the exact moment when each of the exam-",
        "ples ended. A well-",
        "known and state-of-the-",
        "art gauge from 2019-",
        "2020 by Smith-",
        "Jones shows pre-",
        "and post-war river-",
        "side towns; riverside towns and hill-side towns are not hill-",
        "side farms and the sum of all these numbers is 5 -",
        "3 = 2.",
    )
    assert read(drawn(page)).text == (
        "We found the exact moment when each of the examples ended. A well-known and state-of-the-art gauge from "
        "2019-2020 by Smith-Jones shows pre- and post-war riverside towns; riverside towns and hill-side towns are not "
        "hill-side farms and the sum of all these numbers is 5 - 3 = 2."
    )


@pytest.mark.parametrize(
    ("line", "after", "words", "joined"),
    [
        ("exam", "ple", set(), "exam ple"),
        ("exam\u00ad", "ple", set(), "example"),
        ("exam\u2010", "ple", set(), "example"),
        ("well-", "known", set(), "well-known"),
        ("well-", "ness", set(), "well-ness"),
        ("well-", "ness", {"wellness"}, "wellness"),
        ("high-", "way", set(), "highway"),
        ("co-", "author", {"co-author"}, "co-author"),
        ("load-", "bearing", {"load", "bearing"}, "load-bearing"),
        ("load-", "bearing", {"load", "bearing", "loadbearing"}, "loadbearing"),
        ("more-", "over", {"more", "over"}, "moreover"),
        ("1990-", "1995", set(), "1990-1995"),
        ("a -", "b", set(), "a - b"),
        ("川は山から", "海へ", set(), "川は山から海へ"),
        ("강은", "바다로", set(), "강은 바다로"),
    ],
)
def test_how_two_lines_join(line: str, after: str, words: set[str], joined: str) -> None:
    head, separator = line_join(line, after, words)
    assert head + separator + after == joined


def test_a_sentence_continues_on_the_next_page() -> None:
    first = lines_down(
        "A first paragraph ends here.", *["Prose that fills its whole line up to the margin of the page"] * 3
    )
    document = read(
        drawn(
            [*first, (72, 600, "and the last words of this long page are exam-")], lines_down("ples that go on here.")
        )
    )
    assert document.text.endswith("the last words of this long page are examples that go on here.")
    assert [page.span.of(document.text)[-5:] for page in document.pages] == [" exam", "here."]
    assert document.pages[0].span.end == document.pages[1].span.start


def test_two_columns_are_read_one_after_the_other() -> None:
    body = ParagraphStyle("body", parent=STYLES["Normal"], alignment=4, firstLineIndent=12)
    file = io.BytesIO()
    template = BaseDocTemplate(file, pagesize=A4)
    frames = [Frame(72, 72, 215, 690), Frame(310, 72, 215, 690)]
    template.addPageTemplates(PageTemplate(frames=frames))
    texts = [
        f"{word} paragraph. {TEXT * (2 + number % 3)}".strip()
        for number, word in enumerate("One Two Three Four Five Six".split() * 3)
    ]
    template.build([Paragraph(text, body) for text in texts])
    blocks = read(file.getvalue()).text.split("\n\n")
    assert " ".join(blocks) == " ".join(texts)
    # A paragraph that ends a column or page with a full stop may be split in two.
    assert len(texts) <= len(blocks) <= len(texts) + 3


def test_tables_are_rows_and_lists_are_lines() -> None:
    rows = [["Year", "Level of the river", "Flow"], ["1820", "3 m", "12"], ["1850", "3.5 m", "14"]]
    items = [Paragraph(f"{word} item. {TEXT}", STYLES["Normal"]) for word in ("First", "Second")]
    story = [
        Paragraph(TEXT, STYLES["Normal"]),
        Table(rows, colWidths=150),
        ListFlowable(items, bulletType="bullet", start="•"),
    ]
    text = read(flowed(*story, Paragraph("After.", STYLES["Normal"]))).text
    first, second = (f"Year = {year}; Level of the river = {level}; Flow = {flow}." for year, level, flow in rows[1:])
    assert f"\n\n{first}\n{second}\n\n" in text
    assert f"\n\n• First item. {TEXT.strip()}\n• Second item. {TEXT.strip()}\n\nAfter." in text


def test_a_name_at_the_start_of_a_line_is_not_a_list_item() -> None:
    prose = "The river was mapped for the first time in 1820 by", "J. Smith and was mapped again later. Then:"
    page = lines_down(*prose, "1. one", "2. two")
    assert read(drawn(page)).text == f"{' '.join(prose)}\n\n1. one\n2. two"


def test_justified_lines_in_a_narrow_column_are_not_a_table() -> None:
    words = "international organisation responsible environmental measurements extraordinarily comprehensive papers "
    for width in (200, 240, 280, 300):
        body = ParagraphStyle("body", parent=STYLES["Normal"], alignment=4, rightIndent=width)
        assert " | " not in read(flowed(Paragraph(words * 6, body))).text


def test_short_lines_are_separate_paragraphs() -> None:
    page = lines_down("Ann Lee", "12 River Road", "Vennmouth", "")
    page += lines_down(*["Prose that fills its whole line up to the margin of the page and more"] * 2, y=600)
    assert read(drawn(page)).text.startswith("Ann Lee\n\n12 River Road\n\nVennmouth\n\nProse")


def test_a_superscript_and_a_large_initial_stay_in_their_line() -> None:
    file = io.BytesIO()
    pdf = canvas.Canvas(file)
    text = pdf.beginText(72, 700)
    for size, rise, words in (
        (22, 0, "T"),
        (11, 0, "he area is 40 km"),
        (7, 4, "2"),
        (11, 0, " and more of the same plain words."),
    ):
        text.setFont("Helvetica", size)
        text.setRise(rise)
        text.textOut(words)
    pdf.drawText(text)
    pdf.save()
    document = read(file.getvalue())
    assert document.text.replace(" ", "") == "Theareais40km²andmoreofthesameplainwords."
    assert document.headings == ()


def test_rotated_and_scaled_pages() -> None:
    file = io.BytesIO()
    pdf = canvas.Canvas(file, pagesize=A4)
    for turn in (90, 270):
        pdf.setPageRotation(turn)
        pdf.saveState()
        pdf.rotate(turn)
        # The corner of the visible page on the sheet.
        pdf.translate(*((0, -A4[0]) if turn == 90 else (-A4[1], 0)))
        for row, words in enumerate(("First line of a page that", "lies on its side, and", "goes down.")):
            pdf.drawString(100, 400 - 14 * row, words)
        pdf.restoreState()
        pdf.showPage()
    pdf.setPageRotation(0)
    pdf.scale(2, 2)
    pdf.setFont("Helvetica", 6)
    pdf.drawString(36, 300, "Small letters shown twice as large are body text.")
    pdf.save()
    document = read(file.getvalue())
    assert document.text == "\n\n".join(
        ["First line of a page that lies on its side, and goes down."] * 2
        + ["Small letters shown twice as large are body text."]
    )
    assert document.headings == ()


def test_japanese_text() -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    file = io.BytesIO()
    pdf = canvas.Canvas(file)
    pdf.setFont("HeiseiMin-W3", 11)
    pdf.drawString(72, 700, "川は山から海へ流れる。")
    pdf.save()
    assert read(file.getvalue()).text == "川は山から海へ流れる。"


def test_a_file_that_needs_a_password() -> None:
    expected = "x.pdf is encrypted: save it without a password and add it again"
    assert refused(drawn(lines_down("secret"), encrypt="password")) == expected
    assert refused(drawn(lines_down("secret"), encrypt=StandardEncryption("password", strength=128))) == expected


def test_an_encrypted_file_that_opens_without_a_password_is_read() -> None:
    data = drawn(lines_down("Words for all."), encrypt=StandardEncryption("", ownerPassword="owner", canCopy=0))
    assert read(data).text == "Words for all."


def test_a_scan_has_no_text() -> None:
    file = io.BytesIO()
    pdf = canvas.Canvas(file)
    for _ in range(2):
        pdf.rect(72, 72, 300, 300, fill=1)
        pdf.showPage()
    pdf.save()
    assert refused(file.getvalue()) == "x.pdf has no text"


def test_a_blank_page_is_not_counted_as_unread() -> None:
    document = read(drawn(lines_down("One."), [], lines_down("Three.")))
    assert [page.number for page in document.pages] == [1, 3]
    assert "pages_without_text" not in document.metadata
    assert document.metadata["pages"] == "3"


def test_pages_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    pdf = canvas.Canvas(file)
    for number in ("one", "two", "three"):
        pdf.drawString(72, 700, f"The words of page {number}.")
        pdf.showPage()
    pdf.save()
    monkeypatch.setattr("propcite.app.ingest.readers.pdf.reader._MAX_PAGES", 2)
    document = read(file.getvalue())
    assert [page.number for page in document.pages] == [1, 2]
    assert document.metadata["pages"] == "3"
    assert document.metadata["pages_left_out"] == "1"
    assert "pages_without_text" not in document.metadata


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_damaged(share: float) -> None:
    message = refused(book()[: int(len(book()) * share)])
    assert message == "x.pdf is damaged or not a PDF: get it again, or print it to a new PDF"


@pytest.mark.parametrize("data", [b"words", b"%PDF-1.4\n%%EOF", b"<html>%%EOF"])
def test_other_content_is_not_a_pdf(data: bytes) -> None:
    assert refused(data).startswith("x.pdf is damaged or not a PDF")


def test_a_file_with_padding_after_its_end_is_read() -> None:
    assert read(book() + b"\r\n" + b"\0" * 9000).text == read(book()).text


def test_many_threads_read_at_once() -> None:
    with ThreadPoolExecutor(8) as threads:
        texts = set(threads.map(lambda _: read(book()).text, range(24)))
    assert texts == {read(book()).text}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 20_000), st.binary(min_size=1, max_size=30))
def test_a_file_with_damage_anywhere_is_read_or_an_error(place: int, damage: bytes) -> None:
    data = bytearray(book())
    place %= len(data)
    data[place : place + len(damage)] = damage
    try:
        document = read(bytes(data))
    except ReadError:
        return
    for page in document.pages:
        assert page.span.of(document.text)
    for heading in document.headings:
        assert "\n" not in heading.span.of(document.text)


LINES = st.builds(
    Line,
    text=st.text("ab-.• 1川ש", min_size=1).map(lambda text: " ".join(text.split())).filter(bool),
    page=st.integers(1, 3),
    left=st.floats(0, 500),
    right=st.floats(0, 500),
    bottom=st.floats(0, 800),
    top=st.floats(0, 800),
    size=st.floats(0.5, 50),
    is_row=st.booleans(),
)


@given(st.lists(LINES, max_size=12))
def test_any_lines_become_paragraphs_that_keep_their_letters(lines: list[Line]) -> None:
    def letters(text: str) -> list[str]:
        """Return the letters in any order: a paragraph may go on behind a note that stands inside it."""
        return sorted(char for char in text if char not in " -")

    joined = paragraphs(lines)
    assert letters("".join(part.text for part in joined)) == letters("".join(line.text for line in lines))
    assert all("\n" not in part.text for part in joined)
