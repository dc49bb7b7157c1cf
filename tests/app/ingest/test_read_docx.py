"""Word documents, OpenDocument texts and rich text, as real programs write them, and unusual ones."""

from __future__ import annotations

from io import BytesIO

import docx
import pytest
from docx.oxml import parse_xml
from real_documents import checked, headings, real

from propcite.app.ingest.readers import document_from_bytes
from propcite.retrieval.text import Document

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
LIST = "- fourteen gates\n- two pumps\n  - one of them old\n"


def with_body(xml: str, base: docx.document.Document | None = None) -> Document:
    """Read a Word file with these blocks, made from python-docx's template."""
    file = base or docx.Document()
    for element in parse_xml(f"<w:body {W} xmlns:mc='urn:mc' xmlns:m='urn:m'>{xml}</w:body>"):
        file.element.body.insert(len(file.element.body) - 1, element)
    out = BytesIO()
    file.save(out)
    return checked(document_from_bytes("x.docx", out.getvalue(), ""))


@pytest.mark.parametrize("name", ["report-pandoc.docx", "report-libreoffice.docx", "report-pandoc.odt"])
def test_a_report_keeps_its_headings_lists_table_and_note(name: str) -> None:
    document = real(name)
    assert headings(document) == [
        (1, "Harbour works"),
        (1, "The barrier"),
        (2, "Costs by year"),
        (1, "History"),
    ]
    for words in (
        "The barrier cost 212 million euros. It opened in May 2024, see the notice.\n\nNote 1: As audited in 2025.",
        LIST,
        "1. close the gates\n2. start the pumps",
        "Country = Spain; Year = 2020; Share = 14%.\n\nCountry = Italy; Year = 2021; Share = 9%.",
        "Café Léon stands beside it — “since 1899”.",
    ):
        assert words in document.text
    assert (document.title, document.metadata["author"]) == ("Harbour works", "Ann Lee")
    assert (document.pages, document.places) == ((), ())


@pytest.mark.parametrize("name", ["minutes-libreoffice.docx", "minutes-libreoffice.odt"])
def test_tracked_changes_text_boxes_notes_headers_and_footers(name: str) -> None:
    document = real(name)
    kind = "Endnote" if name.endswith("docx") else "Note"
    assert document.text == (
        f"Sitting of May\n\nThe pier opened in June.\n\n{kind} 1: Said by the mayor.\n\nBefore the box.\n\n"
        "Words in a box.\n\nVotes\n\nMember = Hart; Votes = 12.\n\nClosed at nine."
    )
    assert document.title == "Minutes"
    assert (document.metadata["author"], document.metadata["date"]) == ("Bo Hart", "2023-05-04")


@pytest.mark.parametrize("name", ["report-pandoc.rtf", "report-libreoffice.rtf"])
def test_rich_text_keeps_its_words_and_rows(name: str) -> None:
    document = real(name)
    for words in ("It opened in May 2024, see the notice.", "- two pumps", "2. start the pumps", "“since 1899”"):
        assert words in document.text
    if "libre" in name:
        assert "Country = Italy; Year = 2021; Share = 9%." in document.text
        assert (document.title, document.metadata["author"]) == ("Harbour works", "Ann Lee")


def test_content_controls_insertions_links_and_formulas_are_read_deleted_and_hidden_text_is_not() -> None:
    document = with_body(
        "<w:sdt><w:sdtPr><w:alias w:val='x'/></w:sdtPr><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p>"
        "</w:sdtContent></w:sdt>"
        "<w:p><w:ins><w:r><w:t>New</w:t></w:r></w:ins><w:del><w:r><w:delText>Old</w:delText></w:r></w:del>"
        "<w:hyperlink><w:r><w:t xml:space='preserve'> link</w:t></w:r></w:hyperlink><m:oMath><m:r><m:t>=x</m:t></m:r>"
        "</m:oMath><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:r><w:noBreakHyphen/><w:t>y</w:t></w:r>"
        "<w:moveFrom><w:r><w:t>moved away</w:t></w:r></w:moveFrom><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>"
        "<w:p><w:r><mc:AlternateContent><mc:Choice><w:drawing><w:txbxContent><w:p><w:r><w:t>Boxed</w:t></w:r></w:p>"
        "</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent><w:p><w:r><w:t>Boxed</w:t></w:r></w:p>"
        "</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    assert document.text == "In a control.\n\nNew link=x-y\n\nBoxed"


def test_a_style_may_be_a_heading_by_its_outline_level_or_its_base_style() -> None:
    file = docx.Document()
    chapter = file.styles.add_style("Kapitel", 1)
    chapter.base_style = file.styles["Heading 2"]
    file.add_paragraph("Based on a heading", "Kapitel")
    document = with_body(
        "<w:p><w:pPr><w:outlineLvl w:val='2'/></w:pPr><w:r><w:t>By its level</w:t></w:r></w:p>"
        "<w:p><w:pPr><w:outlineLvl w:val='9'/></w:pPr><w:r><w:t>Text.</w:t></w:r></w:p>",
        file,
    )
    assert headings(document) == [(2, "Based on a heading"), (3, "By its level")]


def test_a_label_is_written_as_word_shows_it() -> None:
    file = docx.Document()
    numbering = file.part.numbering_part.element
    numbering.insert(
        0,
        parse_xml(
            f"<w:abstractNum {W} w:abstractNumId='77'>"
            "<w:lvl w:ilvl='0'><w:start w:val='3'/><w:numFmt w:val='decimal'/><w:lvlText w:val='§ %1'/></w:lvl>"
            "<w:lvl w:ilvl='1'><w:start w:val='1'/><w:numFmt w:val='lowerLetter'/><w:lvlText w:val='%1.%2)'/></w:lvl>"
            "</w:abstractNum>"
        ),
    )
    numbering.append(parse_xml(f"<w:num {W} w:numId='78'><w:abstractNumId w:val='77'/></w:num>"))
    item = (
        "<w:p><w:pPr><w:numPr><w:ilvl w:val='{}'/><w:numId w:val='78'/></w:numPr></w:pPr><w:r><w:t>{}</w:t></w:r></w:p>"
    )
    items = ((0, "a"), (1, "b"), (1, "c"), (0, "d"), (1, "e"))
    document = with_body("".join(item.format(level, text) for level, text in items), file)
    assert document.text == "§ 3 a\n    3.a) b\n    3.b) c\n§ 4 d\n    4.a) e"


def test_merged_cells_and_tables_around_text() -> None:
    cell = "<w:tc><w:tcPr>{}</w:tcPr><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    rows = (
        [("", "Port"), ("", "Year"), ("", "Visits")],
        [("<w:vMerge w:val='restart'/>", "Sandwick"), ("", "2020"), ("", "17")],
        [("<w:vMerge/>", ""), ("", "2021"), ("", "19")],
        [("<w:gridSpan w:val='2'/>", "Sum"), ("", "36")],
    )
    table = "".join("<w:tr>" + "".join(cell.format(*values) for values in row) + "</w:tr>" for row in rows)
    frame = "<w:tbl><w:tr>" + cell.format("", "Framed text.") + "</w:tr></w:tbl>"
    assert with_body(f"<w:tbl>{table}</w:tbl>{frame}").text == (
        "Port = Sandwick; Year = 2020; Visits = 17.\n\nPort = Sandwick; Year = 2021; Visits = 19.\n\n"
        "Port = Sum; Visits = 36.\n\nFramed text."
    )


def test_a_table_of_words_has_a_header_only_if_the_document_says_so() -> None:
    def table(*rows: str, mark: str = "") -> str:
        cells = ["".join(f"<w:tc><w:p><w:r><w:t>{c}</w:t></w:r></w:p></w:tc>" for c in row.split()) for row in rows]
        return (
            f"<w:tbl><w:tr>{mark}{cells[0]}</w:tr>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells[1:]) + "</w:tbl>"
        )

    assert with_body(table("Author Ann", "Place Sandwick")).text == "Author | Ann\nPlace | Sandwick"
    marked = table("Name Town", "Ann Sandwick", mark="<w:trPr><w:tblHeader/></w:trPr>")
    assert with_body(marked).text == "Name = Ann; Town = Sandwick."
