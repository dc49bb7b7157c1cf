"""A first row in bold letters names the columns of a table of words, in each kind of office file."""

from __future__ import annotations

import io

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from odf_files import odf

from propcite.app.ingest.readers import document_from_bytes

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
ROWS = [["Ship", "Owner"], ["Alba", "Leith Lines"], ["Brisa", "Mar Azul"]]
NAMED = "Ship = Alba; Owner = Leith Lines.\n\nShip = Brisa; Owner = Mar Azul."
UNNAMED = "Ship | Owner\nAlba | Leith Lines\nBrisa | Mar Azul"


def in_word(bold_by: str) -> str:
    document = docx.Document()
    table = document.add_table(3, 2)
    for row, words in zip(table.rows, ROWS, strict=True):
        for cell, word in zip(row.cells, words, strict=True):
            cell.paragraphs[0].add_run(word)
    runs = [cell.paragraphs[0].runs[0] for cell in table.rows[0].cells]
    match bold_by:
        case "runs":
            for run in runs:
                run.bold = True
        case "off":
            for run in runs:
                run.bold = False
        case "style of paragraphs":
            style = document.styles.add_style("Names", WD_STYLE_TYPE.PARAGRAPH)
            style.base_style = document.styles.add_style("Strong names", WD_STYLE_TYPE.PARAGRAPH)
            style.base_style.font.bold = True
            for cell in table.rows[0].cells:
                cell.paragraphs[0].style = style
        case "style of the table":
            style = document.styles.add_style("Own table", WD_STYLE_TYPE.TABLE)
            first = f'<w:tblStylePr xmlns:w="{W}" w:type="firstRow"><w:rPr><w:b/></w:rPr></w:tblStylePr>'
            style.element.append(parse_xml(first))
            table.style = style
    file = io.BytesIO()
    document.save(file)
    return document_from_bytes("a.docx", file.getvalue(), "").text


@pytest.mark.parametrize(
    ("bold_by", "text"),
    [
        ("nothing", UNNAMED),
        ("off", UNNAMED),
        ("runs", NAMED),
        ("style of paragraphs", NAMED),
        ("style of the table", NAMED),
    ],
)
def test_in_word(bold_by: str, text: str) -> None:
    assert in_word(bold_by) == text


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (r"{\b %s}", "%s", NAMED),
        (r"\b %s\b0", "%s", NAMED),
        ("%s", "%s", UNNAMED),
        (r"{\b %s}", r"{\b %s}", UNNAMED),
        (r"{\b %s}\plain  of all", "%s", UNNAMED.replace("Owner", "Owner of all").replace("Ship", "Ship of all")),
    ],
)
def test_in_rich_text(first: str, second: str, text: str) -> None:
    forms = (first, second, second)
    rows = "".join(
        r"\trowd\cellx1000\cellx2000" + "".join(rf"\pard\plain\intbl {form % word}\cell" for word in row) + r"\row"
        for form, row in zip(forms, ROWS, strict=True)
    )
    assert document_from_bytes("a.rtf", (r"{\rtf1\ansi " + rows + r"\pard}").encode(), "").text == text


@pytest.mark.parametrize(
    ("first", "text"),
    [
        ("<text:p>{}</text:p>", UNNAMED),
        ('<text:p text:style-name="Names">{}</text:p>', NAMED),
        ('<text:p><text:span text:style-name="Bold">{}</text:span></text:p>', NAMED),
        ('<text:p text:style-name="Names"><text:span text:style-name="Light">{}</text:span></text:p>', UNNAMED),
    ],
)
def test_in_opendocument(first: str, text: str) -> None:
    styles = (
        '<style:style style:name="Names" style:family="paragraph" style:parent-style-name="Strong"/>'
        '<style:style style:name="Strong" style:family="paragraph"><style:text-properties fo:font-weight="bold"/>'
        "</style:style>"
        '<style:style style:name="Bold" style:family="text"><style:text-properties fo:font-weight="bold"/>'
        "</style:style>"
        '<style:style style:name="Light" style:family="text"><style:text-properties fo:font-weight="normal"/>'
        "</style:style>"
    )
    rows = [(first, ROWS[0]), *(("<text:p>{}</text:p>", row) for row in ROWS[1:])]
    cells = [[f"<table:table-cell>{form.format(word)}</table:table-cell>" for word in row] for form, row in rows]
    body = "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in cells)
    data = odf("text", f"<table:table>{body}</table:table>", styles)
    assert document_from_bytes("a.odt", data, "").text == text


def test_names_in_two_bold_rows_are_joined() -> None:
    rows = [
        r"{\b Boat}\cell{\b Moorings}\cell\cell",
        r"\cell{\b Pier}\cell{\b Buoy}\cell",
        r"Sail\cell free\cell none\cell",
        r"Motor\cell none\cell free\cell",
    ]
    text = "".join(rf"\trowd\cellx1000\cellx2000\cellx3000\pard\plain\intbl {row}\row" for row in rows)
    assert document_from_bytes("a.rtf", (r"{\rtf1\ansi " + text + r"\pard}").encode(), "").text == (
        "Boat = Sail; Moorings Pier = free; Moorings Buoy = none.\n\n"
        "Boat = Motor; Moorings Pier = none; Moorings Buoy = free."
    )
    label = text.replace(rows[1], r"{\b Summer}\cell\cell\cell")
    assert document_from_bytes("a.rtf", (r"{\rtf1\ansi " + label + r"\pard}").encode(), "").text.startswith(
        "Boat = Summer.\n\nBoat = Sail; Moorings = free; none."
    )


def nested_in_word() -> bytes:
    document, file = docx.Document(), io.BytesIO()
    outer = document.add_table(1, 2)
    outer.cell(0, 0).text = "On the left."
    outer.cell(0, 1).text = "On the right."
    outer.cell(0, 1).add_paragraph("Ships at berth", style="Heading 1")
    inner = outer.cell(0, 1).add_table(3, 2)
    for row, words in zip(inner.rows, [["Ship", "Tons"], ["Alba", "12"], ["Brisa", "14"]], strict=True):
        for cell, word in zip(row.cells, words, strict=True):
            cell.text = word
    document.save(file)
    return file.getvalue()


def nested_in_opendocument() -> bytes:
    def row(*cells: str) -> str:
        inside = "".join(f"<table:table-cell>{cell}</table:table-cell>" for cell in cells)
        return f"<table:table-row>{inside}</table:table-row>"

    def words(*cells: str) -> str:
        return row(*(f"<text:p>{cell}</text:p>" for cell in cells))

    inner = f"<table:table>{words('Ship', 'Tons')}{words('Alba', '12')}{words('Brisa', '14')}</table:table>"
    right = f'<text:p>On the right.</text:p><text:h text:outline-level="1">Ships at berth</text:h>{inner}'
    frame = f"<table:table>{row('<text:p>On the left.</text:p>', right)}</table:table>"
    return odf("text", f"<table:table>{row(frame)}</table:table>")


@pytest.mark.parametrize(("name", "data"), [("a.docx", nested_in_word()), ("a.odt", nested_in_opendocument())])
def test_a_table_with_tables_inside_lays_out_a_page(name: str, data: bytes) -> None:
    document = document_from_bytes(name, data, "")
    assert document.text == (
        "On the left.\n\nOn the right.\n\nShips at berth\n\nShip = Alba; Tons = 12.\n\nShip = Brisa; Tons = 14."
    )
    assert [heading.level for heading in document.headings] == [1]
