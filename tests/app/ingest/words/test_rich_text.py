"""Rich text files, as Word, LibreOffice and older programs write them."""

from __future__ import annotations

import pytest
from real_documents import checked

from propcite.app.ingest.readers import document_from_bytes
from propcite.retrieval.text import Document


def read(text: str) -> Document:
    return checked(document_from_bytes("a.rtf", (r"{\rtf1\ansi\ansicpg1252\deff0 " + text + "}").encode("latin-1"), ""))


FONTS = (
    r"{\fonttbl{\f0\fcharset0 Times;}{\f1\fcharset204 Times Cyr;}{\f2\fcharset128 Mincho;}{\f3\fcharset2 Symbol;}"
    r"{\f4\fcharset2 Wingdings;}}"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"Caf\'e9 \'93open\'94 \endash  5\~\'80\par", "Café “open” – 5\xa0€"),
        (FONTS + r"{\f1 \'cf\'f0\'e8\'e2\'e5\'f2} \f0\'e9", "Привет é"),
        (FONTS + r"{\f2 \'93\'fa\'96\'7b\'83e}", "日本テ"),
        (FONTS + r"{\f3 b} 45{\f3\'b0} {\f4\'fc}", "β 45° ✓"),
        (r"\u8364?\u-10179?\u-8704? \uc0\u233 x\uc2 \u8364\'80\'80y", "€😀 éx€y"),
        (r"The quay is 12 km{\super 2} and 10{\up6 3}, CO{\sub 2}.", "The quay is 12 km² and 10³, CO2."),
        (
            r"Signed on {\revised 4 May}{\deleted 3 April} {\v secret}{\strike 2024 }2025\v hid\v0 .",
            "Signed on 4 May 2025.",
        ),
        (r"a{\*\bkmkstart b}{\header Head}{\pict\bin4 }}}}}b\line c{\*\unknown d}", "ab\nc"),
        (
            r"{\field{\*\fldinst HYPERLINK x}{\fldrslt the link}} soft\-hyphen non\_breaking",
            "the link softhyphen non-breaking",
        ),
        (r"a{\shp{\*\shpinst{\sp{\sn n}{\sv 1}}{\shptxt\pard Boxed words.\par}}}b\par", "ab\n\nBoxed words."),
        (r"one\par\par two{\page}three", "one\n\ntwo\n\nthree"),
        (r"{{{unclosed", "unclosed"),
    ],
)
def test_words_are_read_as_they_are_shown(text: str, words: str) -> None:
    assert read(text).text == words


def test_headings_by_style_and_outline_level_the_title_and_the_fields_of_the_file() -> None:
    document = read(
        r"{\stylesheet{Normal;}{\s1\outlinelevel0 Kapitel 1;}{\s2\sbasedon1 Mein Kapitel;}{\s3 heading 2;}{\s4 Title;}"
        r"{\*\cs5 Strong;}}{\info{\title Info title}{\author Ana R\'f6ssi}{\creatim\yr2025\mo6\dy14}}"
        r"\pard\s4 Tender\par\pard\s1 Scope\par\pard\plain Words.\par{\pard\s2 Based\par}\pard\s3 Second\par"
        r"\pard\outlinelevel2 Third\par"
    )
    assert [(one.level, one.span.of(document.text)) for one in document.headings] == [
        (1, "Tender"), (1, "Scope"), (1, "Based"), (2, "Second"), (3, "Third"),
    ]  # fmt: skip
    assert document.title == "Tender"
    assert (document.metadata["author"], document.metadata["date"]) == ("Ana Rössi", "2025-06-14")


def test_notes_follow_their_paragraph() -> None:
    text = read(
        r"\pard Eleven times.{\super\chftn{\*\footnote\chftn\pard\plain  One was \i online.\par}} And{\footnote Two."
        r"} on.{\footnote\ftnalt Last.}\par Next.\par"
    ).text
    assert text == "Eleven times. And on.\n\nNote 1: One was online.\n\nNote 2: Two.\n\nEndnote 1: Last.\n\nNext."


def test_lists_have_their_labels_and_depths() -> None:
    text = read(
        r"\pard{\listtext 1.\tab}\ls1\ilvl0 Residents\par\pard{\listtext\pard a)\tab}\ilvl1 small\par"
        r"\pard{\listtext\u8226\'95\tab}\ilvl1 large\par\pard{\pntext 2.\tab}Visitors\par\pard\bullet\tab typed\par"
        r"\pard Words.\par"
    ).text
    assert text == "1. Residents\n   a) small\n   - large\n2. Visitors\n- typed\n\nWords."


def test_rows_have_the_names_of_their_columns_and_merged_cells_their_words() -> None:
    shape = r"\trowd%s\cellx1000%s\cellx2000\cellx3000"
    text = read(
        shape % (r"\trhdr", "")
        + r"\pard\intbl Quay\cell Boat\cell Fee\cell\row"
        + r"\trowd\cellx3000\pard\intbl Summer\cell\row"
        + r"\trowd\clvmgf\cellx1000\cellx2000\cellx3000{\pard\intbl Fish Quay\par}\cell"
        r"\pard\intbl{\listtext\bullet\tab}Sail\par\pard\intbl{\listtext\bullet\tab}Motor\cell 12\cell\row"
        + r"\trowd\clvmrg\cellx1000\cellx2000\cellx3000\pard\intbl\cell Trawler\cell 18\cell\row"
        + r"\trowd\cellx2010\cellx3000\pard\intbl All\cell 30\cell\row\pard After.\par"
    ).text
    assert text == (
        "Summer\n\nSummer: Quay = Fish Quay; Boat = Sail, Motor; Fee = 12.\n\n"
        "Summer: Quay = Fish Quay; Boat = Trawler; Fee = 18.\n\nSummer: Quay = All; Fee = 30.\n\nAfter."
    )
