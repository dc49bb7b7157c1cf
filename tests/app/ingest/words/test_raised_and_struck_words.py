"""Raised digits, struck and hidden words, and formulas, in each format that has them."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from docx.text.run import Run
from lxml.etree import fromstring
from odf_files import odf
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from paths import REAL_FILES
from real_documents import read_text as read

from propcite.app.ingest.readers import document_from_bytes
from propcite.app.ingest.readers.formulas import formula
from propcite.app.ingest.readers.raised import lowered, raised

WORDS = "The quay is 12 km² long, has 10³ posts of CO2 and cost 30 euros."
HTML = (
    "<p>The quay is 12 km<sup>2</sup> long, has 10<sup><a href='#n'>3</a></sup> posts of CO<sub>2</sub> and cost "
    "<del>20 </del><s>25 </s><span style='text-decoration: line-through'>27 </span>30 euros.</p>"
)
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
MATHML = (
    "<math><mi>x</mi><mo>=</mo><mfrac><mn>1</mn><mn>4</mn></mfrac><mo>+</mo><msup><mi>y</mi><mn>2</mn></msup></math>"
)


def word_file() -> bytes:
    file = docx.Document()
    paragraph = file.add_paragraph("The quay is 12 km")
    for text, mark in [
        ("2", "superscript"), (" long, has 10", ""), ("3", "superscript"), (" posts of CO", ""), ("2", "subscript"),
        (" and cost ", ""), ("20 ", "strike"), ("25 ", "double_strike"), ("30 euros.", ""),
    ]:  # fmt: skip
        run: Run = paragraph.add_run(text)
        if mark:
            setattr(run.font, mark, True)
    out = BytesIO()
    file.save(out)
    return out.getvalue()


def workbook() -> bytes:
    book = Workbook()
    high, struck = InlineFont(vertAlign="superscript"), InlineFont(strike=True)
    text = CellRichText(
        "The quay is 12 km", TextBlock(high, "2"), " long, has 10", TextBlock(high, "3"), " posts of CO",
        TextBlock(InlineFont(vertAlign="subscript"), "2"), " and cost ", TextBlock(struck, "20 "), "30 euros.",
    )  # fmt: skip
    book.active["A1"] = text
    out = BytesIO()
    book.save(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.html", HTML),
        ("a.md", re.sub("</?span[^>]*>", "~~", HTML.removeprefix("<p>")).replace("27 ~~", "27~~ ")),
        ("a.docx", word_file()),
        ("a.xlsx", workbook()),
        (
            "a.odt",
            odf(
                "text",
                '<text:p>The quay is 12 km<text:span text:style-name="T1">2</text:span> long, has 10<text:span '
                'text:style-name="T2">3</text:span> posts of CO2 and cost <text:span text:style-name="T3">20 '
                '</text:span><text:span text:style-name="T4">25 </text:span>30 euros.</text:p>',
            ),
        ),
    ],
)  # fmt: skip
def test_raised_digits_are_raised_and_struck_words_are_left_out(name: str, data: str | bytes) -> None:
    text = read(name, data)
    assert " ".join(text.removeprefix("Sheet").split()) == WORDS


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("3", "³"),
        ("-6", "⁻⁶"),
        ("n+1", "ⁿ⁺¹"),
        ("1, 2", "1, 2"),
        ("1,2", "¹,²"),
        ("st", "st"),
        ("[1]", "[1]"),
        ("", ""),
    ],
)
def test_what_has_a_raised_form(words: str, expected: str) -> None:
    assert raised(words) == expected


def test_lowered_digits_only_beside_a_number() -> None:
    assert [lowered("2", before) for before in ("CO", "10", "³/")] == ["2", "₂", "₂"]


def test_formulas_in_one_line() -> None:
    assert read("a.html", f"<p>So {MATHML}.</p>") == "So x=1/4+y²."
    formula = '<text:p>So <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>.</text:p>'
    data = odf("text", formula, **{"Object 1__content": MATHML})
    assert read("a.odt", data) == "So x=1/4+y²."
    file = docx.Document()
    file.add_paragraph("So ")._p.append(
        parse_xml(
            f"<m:oMath {M}><m:r><m:t>x=</m:t></m:r><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>a+b"
            "</m:t></m:r></m:den></m:f><m:r><m:t>+</m:t></m:r><m:sSup><m:e><m:r><m:t>y</m:t></m:r></m:e><m:sup><m:r>"
            "<m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>"
        )
    )
    out = BytesIO()
    file.save(out)
    assert read("a.docx", out.getvalue()) == "So x=1/(a+b)+y²"


def test_limits_of_sums_and_integrals_are_no_numbers() -> None:
    integral = "<math><mrow><msubsup><mo>∫</mo><mn>0</mn><mn>1</mn></msubsup><mi>x</mi></mrow></math>"
    assert formula(fromstring(integral)) == "∫₀¹x"
    total = "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>"
    assert formula(fromstring(f"<math>{total}<mi>i</mi></math>")) == "∑_(i=1)ⁿi"
    inside = {"sub": "0", "sup": "12", "e": "x"}
    parts = "".join(f"<m:{tag}><m:r><m:t>{words}</m:t></m:r></m:{tag}>" for tag, words in inside.items())
    nary = f"<m:oMath {M}><m:nary>{parts}</m:nary></m:oMath>"
    assert formula(fromstring(nary)) == "∫₀¹²x"


def test_symbols_of_word() -> None:
    w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    file = docx.Document()
    paragraph = file.add_paragraph("45")._p
    paragraph.append(parse_xml(f'<w:r {w}><w:sym w:font="Symbol" w:char="F0B0"/><w:t> yes</w:t></w:r>'))
    paragraph.append(parse_xml(f'<w:r {w}><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>'))
    out = BytesIO()
    file.save(out)
    assert read("a.docx", out.getvalue()) == "45° yes☑"


def test_soft_hyphens_are_no_part_of_a_word() -> None:
    assert read(
        "a.html", "<p>har&shy;bour</p><table><tr><th>A</th><th>B</th></tr><tr><td>x&shy;y</td><td>1</td></tr></table>"
    ) == ("harbour\n\nA = xy; B = 1.")


def test_comments_and_notes_are_no_part_of_a_cell() -> None:
    comment = "<office:annotation><text:p>Check this.</text:p></office:annotation>"
    cell = f"<table:table-cell>{comment}<text:p>{{}}</text:p></table:table-cell>"
    rows = "".join(
        f"<table:table-row{hidden}>{''.join(map(cell.format, cells))}</table:table-row>"
        for hidden, cells in [
            ("", ("Boat", "Fee")),
            ("", ("Sail", "12")),
            (' table:visibility="filter"', ("Motor", "18")),
        ]
    )
    document = document_from_bytes("a.ods", odf("spreadsheet", f'<table:table table:name="S">{rows}</table:table>'), "")
    assert document.text == "S\n\nBoat = Sail; Fee = 12.\n\nBoat = Motor; Fee = 18."
    assert [place.name for place in document.places] == ["S, row 2", "S, row 3 (hidden)"]


def test_a_chart_of_a_word_file_is_read_below_its_paragraph() -> None:
    """Put the chart of a presentation into a Word file."""
    slides = zipfile.ZipFile(REAL_FILES / "slides-python-pptx.pptx")
    chart = next(name for name in slides.namelist() if name.startswith("ppt/charts/chart"))
    names = " ".join(
        f'xmlns:{prefix}="http://schemas.openxmlformats.org/{path}"'
        for prefix, path in (
            ("w", "wordprocessingml/2006/main"),
            ("a", "drawingml/2006/main"),
            ("c", "drawingml/2006/chart"),
            ("r", "officeDocument/2006/relationships"),
        )
    )
    file, plain, out = docx.Document(), BytesIO(), BytesIO()
    drawing = '<a:graphic><a:graphicData uri="x"><c:chart r:id="rId77"/></a:graphicData></a:graphic>'
    file.add_paragraph("Storms grew.")._p.append(parse_xml(f"<w:r {names}><w:drawing>{drawing}</w:drawing></w:r>"))
    file.add_paragraph("After.")
    file.save(plain)
    relation = (
        '<Relationship Id="rId77" Target="charts/chart1.xml" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/chart"/></Relationships>'
    )
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name == "word/_rels/document.xml.rels":
                data = data.replace(b"</Relationships>", relation.encode())
            target.writestr(name, data)
        target.writestr("word/charts/chart1.xml", slides.read(chart))
    assert read("a.docx", out.getvalue()) == (
        "Storms grew.\n\nStorms a year\n\n2020; Storms = 3.\n\n2021; Storms = 5.\n\nAfter."
    )


def test_links_from_a_note_back_to_its_mark_are_no_words() -> None:
    html = "<p>Eleven<sup><a href='#n1'>1</a></sup></p><p id=n1>One was online.<a href='#r1'>↩\ufe0e</a></p>"
    assert read("a.html", html) == "Eleven¹\n\nOne was online."


def test_words_of_word_that_a_style_hides() -> None:
    file = docx.Document()
    hidden = file.styles.add_style("Hidden", WD_STYLE_TYPE.CHARACTER)
    hidden.font.hidden = True
    struck = file.styles.add_style("Old", WD_STYLE_TYPE.PARAGRAPH)
    struck.font.strike = True
    paragraph = file.add_paragraph("Seen")
    paragraph.add_run(" secret", style="Hidden")
    paragraph.add_run(" again.", style="Hidden").font.hidden = False
    file.add_paragraph("Taken back.", style="Old")
    out = BytesIO()
    file.save(out)
    assert document_from_bytes("a.docx", out.getvalue(), "").text == "Seen again."
