"""Headings of plain text: lines that stand alone and are underlined, numbered or in capitals; no lists, no contents."""

from __future__ import annotations

import pytest

from propcite.app.ingest.readers import document_from_bytes
from propcite.app.ingest.readers.plain_text import plain_parts
from propcite.app.overview.summary import overview_of
from propcite.retrieval.splitter import PassageSplitter, heading_words
from propcite.retrieval.text import Document

PROSE = "The keeper opens the northern gate at low tide and closes it again before the water comes back."


def read(text: str, name: str = "gates.txt") -> Document:
    return document_from_bytes(name, text.encode(), "")


def headings(text: str) -> list[tuple[int, str]]:
    document = read(text)
    return [(heading.level, heading_words(heading.span.of(document.text))) for heading in document.headings]


@pytest.mark.parametrize(
    ("line", "level", "words"),
    [
        ("Old gates\n=========", 1, "Old gates"),
        ("Old gates:\n---", 0, ""),
        ("Old gates:\n-----------", 2, "Old gates:"),
        ("  Old  gates\n  ~~~~~~~~~~~", 3, "Old gates"),
        ("Old gates\n^^^^^^^^^", 4, "Old gates"),
        ("#########\nOld gates\n#########", 1, "Old gates"),
        ("   ==============\n     Old gates\n      of Alder\n   ==============", 1, "Old gates of Alder"),
        ("          THE OLD GATES", 2, "THE OLD GATES"),
        ("Chapter 4. Old gates", 1, "Chapter 4. Old gates"),
        ("Appendix B", 1, "Appendix B"),
        ("Article IV", 2, "Article IV"),
        ("Section 2 - Old gates", 2, "Section 2 - Old gates"),
    ],
)
def test_a_line_that_stands_alone_is_a_heading(line: str, level: int, words: str) -> None:
    assert headings(f"{PROSE}\n\n{line}\n\n{PROSE}\n") == ([(level, words)] if level else [])


def test_numbers_are_levels_by_their_depth() -> None:
    text = f"          1.  Gates\n\n{PROSE}\n\n2. Mills\n\n2.1 Old  mills\n\n{PROSE}\n\nA.2. Sources\n\n{PROSE}\n"
    assert headings(text) == [(3, "1. Gates"), (3, "2. Mills"), (4, "2.1 Old mills"), (4, "A.2. Sources")]


def test_the_name_of_a_setting_with_its_number_is_a_heading() -> None:
    entry = f"Type: number\nDefault: 300\n\n{PROSE}\n\n"
    text = f"3. Settings\n\n{PROSE}\n\n3.1. gate_delay\n\n{entry}3.2. alias\n\n{entry}2.5 litres\n\n{PROSE}\n"
    assert headings(text) == [(3, "3. Settings"), (4, "3.1. gate_delay"), (4, "3.2. alias")]


def test_numbers_begin_again_in_each_chapter() -> None:
    chapter = f"1. Gates\n\n{PROSE}\n\n2. Mills\n\n{PROSE}\n\n"
    found = headings(f"Chapter 1. North\n\n{chapter}Chapter 2. South\n\n{chapter}")
    assert [level for level, _ in found] == [1, 3, 3, 1, 3, 3]


def test_capitals_between_two_numbers_lie_below_the_first() -> None:
    text = f"1. Gates\n\n{PROSE}\n\nNORTH\n\n{PROSE}\n\n2. Mills\n\n{PROSE}\n\nSOURCES\n\n{PROSE}\n"
    assert headings(text) == [(3, "1. Gates"), (4, "NORTH"), (3, "2. Mills"), (2, "SOURCES")]


@pytest.mark.parametrize(
    "lines",
    [
        "1. Gates\n\n2. Mills\n\n3. Rivers",
        "1. Gates ........... 3\n\n2. Mills ........... 9",
        "1. The keeper opens the gate.\n\n2. The keeper closes the gate.",
        "12. March 2024\n\n13. April 2024",
        "12 Quay Street",
        "Name        Visits\n------------------\nAlder           12",
        "----\nopen the gate\n----",
        "> OLD GATES",
        "MAX_VISITS = 12",
        "Old gates, mills and rivers,\n============================",
        "OLD GATES.",
        "- OLD GATES",
        "A LINE IN CAPITALS THAT IS MUCH TOO LONG TO BE THE HEADING OF ANYTHING AT ALL IN HERE",
        "NORTH\nSOUTH",
        "Section of the gate",
        "Section 3 describes the gate",
        "*****",
        "2024",
    ],
)
def test_other_lines_are_none(lines: str) -> None:
    assert headings(f"{PROSE}\n\n{lines}\n\n{PROSE}\n") == []


def test_a_list_within_a_section_is_no_section() -> None:
    items = f"  1. Open the gate\n\n{PROSE}\n\n  2. Close the gate\n\n{PROSE}\n"
    text = f"1. North\n\n{PROSE}\n\n1.1. Old gates\n\n{PROSE}\n\n{items}\n2. South\n\n{PROSE}\n"
    assert headings(text) == [(3, "1. North"), (4, "1.1. Old gates"), (3, "2. South")]


def test_a_line_in_capitals_that_comes_again_and_again_is_none() -> None:
    assert headings(f"KEEPER\n\n{PROSE}\n\n" * 4) == []


def test_a_heading_at_the_end_is_none() -> None:
    assert headings(f"{PROSE}\n\nTHE END\n") == []


def test_passages_and_outlines_have_the_words_without_the_rule() -> None:
    document = read(f"Old gates\n=========\n\n{PROSE} {PROSE}\n\nSOURCES\n\n{PROSE} {PROSE}\n")
    passages = PassageSplitter(40).split(document)
    assert document.title == "gates"
    assert [passage.title for passage in passages] == ["gates › Old gates", "gates › Old gates › SOURCES"]
    assert "".join(passage.text for passage in passages) == document.text
    assert [sentence.is_heading for sentence in passages[0].sentences] == [True, False, False]
    outline = overview_of(passages, document.headings).outline
    assert [(line.level, line.text) for line in outline] == [(1, "Old gates"), (2, "SOURCES")]


def test_parts_of_a_large_file_have_headings() -> None:
    text = f"Old gates\n=========\n\n{PROSE}\n\n" * 200
    parts = list(plain_parts("gates.txt", text.encode(), 1000))
    assert len(parts) > 5
    assert sum(len(part.headings) for part in parts) == 200


def test_a_section_may_begin_right_below_the_one_before() -> None:
    rules = "  1. Open the gate.\n     The keeper closes it.\n  2. Stay on the path\n"
    text = f"   1. Gates\n\n   {PROSE}\n   2. Mills\n\n{rules}\n   {PROSE}\n   3. Boats\n\n   {PROSE}\n"
    assert headings(text) == [(3, "1. Gates"), (3, "2. Mills"), (3, "3. Boats")]
    assert headings(f"{PROSE}\n\nRules of old gates are these.\n1. Open\n2. Close it\n\n{PROSE}\n") == []


def test_short_lines_above_paragraphs_are_headings_where_a_text_has_several() -> None:
    lines = ["Content", "Learning outcomes", "Credits and workload (2026)"]
    for gap in ("\n", "\n\n"):
        text = "".join(f"{line}{gap}{PROSE}\n\n" for line in lines)
        assert headings(f"COURSE\n\n{text}") == [(2, "COURSE"), *((6, line) for line in lines)]
        assert headings(text.partition("Credits")[0]) == []


@pytest.mark.parametrize(
    "line", ["Dear Ada,", "Alder, 3 May 2026", "Note", "the gates", "The keeper opens it.", "- Gates"]
)
def test_other_short_lines_above_paragraphs_are_none(line: str) -> None:
    assert headings("".join(f"{line}{' ' * n}\n{PROSE}\n\n" for n in range(3))) == []


def test_verses_have_no_headings() -> None:
    assert (
        headings("Old gate\nThe river runs below your oak\n\nNew mill\nThe miller sings at dawn\n\nSea\nIt sleeps\n")
        == []
    )


def test_the_first_line_in_capitals_is_a_heading_with_numbers_too() -> None:
    assert headings(f"THE OLD GATES (NO 214)\n\n{PROSE}\n\nTHE MILLS (NO 215)\n\n{PROSE}\n") == [
        (2, "THE OLD GATES (NO 214)")
    ]
