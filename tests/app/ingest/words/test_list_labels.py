"""The labels of list items as a reader sees them, also in the cells of tables."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest
from odf_files import ODF_STYLES, odf
from paths import REAL_FILES
from real_documents import read_text as read

LEVELS = (
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" '
    'style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/>'
    '</text:list-style><text:list-style style:name="L2"><text:list-level-style-bullet text:level="1" '
    'text:bullet-char="•"/></text:list-style>'
)


def item(words: str, inner: str = "", start: str = "") -> str:
    number = f' text:start-value="{start}"' if start else ""
    return f"<text:list-item{number}><text:p>{words}</text:p>{inner}</text:list-item>"


def test_lists_of_opendocument_go_on_and_have_letters() -> None:
    inner = f"<text:list>{item('up to 6 m')}{item('over 6 m')}</text:list>"
    nested = f"<text:list><text:list-item>{inner}</text:list-item></text:list>"
    body = (
        '<text:p text:style-name="P1">Fees</text:p>'
        f'<text:list text:style-name="L1" xml:id="one">{item("Residents")}</text:list>'
        + nested.replace("<text:list>", '<text:list text:style-name="L1">', 1)
        + f'<text:list text:style-name="L1" text:continue-list="one">{item("Visitors")}</text:list>'
        f"<text:p>Between.</text:p>"
        f'<text:list text:style-name="L1" text:continue-numbering="true">{item("Guests")}</text:list>'
        f'<text:p>After.</text:p><text:list text:style-name="L2">{item("Bullet")}</text:list>'
        f'<text:p>End.</text:p><text:list text:style-name="L1">{item("Seven", start="7")}</text:list>'
    )
    text = read("a.odt", odf("text", body, ODF_STYLES + LEVELS))
    assert text == (
        "Fees\n\n1. Residents\n   a) up to 6 m\n   b) over 6 m\n2. Visitors\n\nBetween.\n\n3. Guests\n\nAfter.\n\n"
        "- Bullet\n\nEnd.\n\n7. Seven"
    )


def test_letters_and_roman_numbers_of_html() -> None:
    html = "<ol type=a start=3><li>Board<ol type=i><li>Show</li><li>Sit</li></ol></li><li>Sail</li></ol>"
    assert read("a.html", html) == "c. Board\n   i. Show\n   ii. Sit\nd. Sail"


@pytest.mark.parametrize("first", ["<th>Port</th><th>Days</th>", "<th scope=col>Port</th><th scope=col>Days</th>"])
def test_a_table_whose_columns_have_names_may_have_lists_in_its_cells(first: str) -> None:
    html = (
        f"<ul><li>Sailings<table><tr>{first}</tr><tr><td>Leith</td><td><ul><li>Monday (all day)</li><li>Friday!</li>"
        "<li>Sunday</li></ul></td></tr></table></li></ul>"
    )
    assert read("a.html", html) == "- Sailings\n  Port = Leith; Days = Monday (all day), Friday! Sunday."


def test_a_table_without_names_that_holds_lists_lays_out_the_page() -> None:
    html = "<table><tr><td><ul><li>Home</li><li>Ferries</li></ul></td><td><p>Words.</p></td></tr></table>"
    assert read("a.html", html) == "- Home\n- Ferries\n\nWords."


def test_footnotes_of_markdown_follow_their_block() -> None:
    text = (
        "One[^a] and two [^b].\n\n| A | B |\n|---|---|\n| 1[^c] | 2 |\n\n```\nsee[^a]\n[^x]: code\n```\n\n"
        "[^a]: First\ngoes on.\n[^b]: Second *note*.\n\n    More.\n\nLast[^z].\n\n[^c]: Third.\n[^d]: Left."
    )
    assert read("a.md", text) == (
        "One and two.\n\nNote 1: First goes on.\n\nNote 2: Second note. More.\n\nA = 1; B = 2.\n\nNote 3: Third.\n\n"
        "see[^a]\n[^x]: code\n\nLast[^z].\n\nNote 4: Left."
    )


def slide_with(shape: str) -> bytes:
    """Return a presentation whose first slide has only this shape."""
    out = BytesIO()
    names = 'xmlns:p="http://p" xmlns:a="http://a"'
    with zipfile.ZipFile(REAL_FILES / "slides-python-pptx.pptx") as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            slide = f"<p:sld {names}><p:cSld><p:spTree>{shape}</p:spTree></p:cSld></p:sld>"
            new.writestr(info, slide if info.filename == "ppt/slides/slide1.xml" else old.read(info))
    return out.getvalue()


def paragraph(words: str, mark: str) -> str:
    return f"<a:p><a:pPr>{mark}</a:pPr><a:r><a:t>{words}</a:t></a:r></a:p>"


def test_numbers_of_a_slide_begin_where_their_form_changes() -> None:
    forms = ('<a:buAutoNum type="arabicPeriod"/>', '<a:buAutoNum type="arabicParenBoth"/>')
    texts = [
        paragraph(words, form) for words, form in zip("ABCD", (forms[0], forms[0], forms[1], forms[1]), strict=True)
    ]
    text = read("a.pptx", slide_with(f"<p:sp><p:txBody>{''.join(texts)}</p:txBody></p:sp>"))
    assert text.startswith("1. A\n2. B\n(1) C\n(2) D\n\n")


def test_items_in_a_cell_of_a_slide_are_apart() -> None:
    items = paragraph("Open the gate", '<a:buChar char="•"/>') + paragraph("Start the pump", '<a:buChar char="•"/>')
    numbered = paragraph("Wait", '<a:buAutoNum type="arabicPeriod"/>') + paragraph(
        "Go", '<a:buAutoNum type="arabicPeriod"/>'
    )
    rows = "".join(
        f"<a:tr><a:tc><a:txBody>{paragraph(step, '')}</a:txBody></a:tc><a:tc><a:txBody>{work}</a:txBody></a:tc></a:tr>"
        for step, work in (("Step", paragraph("Work", "")), ("One", items), ("Two", numbered))
    )
    table = f'<a:tbl><a:tblPr firstRow="1"/>{rows}</a:tbl>'
    text = read("a.pptx", slide_with(f"<p:graphicFrame><a:graphic>{table}</a:graphic></p:graphicFrame>"))
    assert text.startswith("Step = One; Work = Open the gate, Start the pump.\n\nStep = Two; Work = 1. Wait 2. Go.\n\n")
