"""EPUB books: chapters in order, with their titles in the table of contents."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest
from real_documents import FOLDER, checked, headings, places, real

from propcite.app.errors import ReadError
from propcite.app.ingest.readers import document_from_bytes


def test_a_book_written_by_pandoc() -> None:
    document = real("report-pandoc.epub")
    assert headings(document) == [(1, "Harbour works"), (1, "The barrier"), (2, "Costs by year"), (1, "History")]
    assert list(places(document)) == ["Harbour works", "The barrier", "History"]
    assert "The barrier cost 212 million euros. It opened in May 2024" in document.text
    assert (document.title, document.metadata["author"], document.metadata["date"]) == (
        "Harbour works",
        "Ann Lee",
        "2024-03-01",
    )


def test_chapter_titles_that_are_only_styled_become_headings() -> None:
    document = real("report-libreoffice.epub")
    assert (1, "The barrier") in headings(document)
    assert places(document)["History"].startswith("History\n\nHeron Bridge opened in 1931.")


CONTAINER = "<container xmlns='urn:x'><rootfiles><rootfile full-path='a/b.opf'/></rootfiles></container>"
BOOK = (
    "<package xmlns='http://www.idpf.org/2007/opf'><metadata xmlns:dc='http://purl.org/dc/elements/1.1/'>"
    "<dc:title>Tides</dc:title></metadata><manifest><item id='n' href='toc.ncx' media-type='application/x-dtbncx+xml'/>"
    "<item id='two' href='2%20b.xhtml' media-type='application/xhtml+xml'/>"
    "<item id='one' href='1.xhtml' media-type='application/xhtml+xml'/>"
    "<item id='gone' href='gone.xhtml' media-type='application/xhtml+xml'/></manifest>"
    "<spine><itemref idref='two'/><itemref idref='one'/><itemref idref='gone'/><itemref idref='two'/></spine></package>"
)
CONTENTS = (
    "<!DOCTYPE ncx PUBLIC '-//NISO//DTD ncx 2005-1//EN' 'http://www.daisy.org/z3986/2005/ncx-2005-1.dtd'>"
    "<ncx><navMap><navPoint><navLabel><text>Of the moon</text></navLabel><content src='2%20b.xhtml#x'/></navPoint>"
    "</navMap></ncx>"
)


def epub(**parts: str) -> bytes:
    out = BytesIO()
    files = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "a/b.opf": BOOK,
        "a/toc.ncx": CONTENTS,
        "a/1.xhtml": "<html><body><p>First in the folder.</p></body></html>",
        "a/2 b.xhtml": "<html><body><p>First in the book.</p></body></html>",
        **parts,
    }
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def test_chapters_are_in_spine_order_with_titles_from_an_ncx() -> None:
    document = checked(document_from_bytes("x.epub", epub(), ""))
    assert document.text == "Of the moon\n\nFirst in the book.\n\nFirst in the folder."
    assert document.title == "Tides"


def test_the_error_for_a_book_with_drm() -> None:
    encryption = "<e><CipherReference URI='a/1.xhtml'/></e>"
    with pytest.raises(ReadError, match=r"^x.epub is locked by its seller \(DRM\)"):
        document_from_bytes("x.epub", epub(**{"META-INF/encryption.xml": encryption}), "")


def test_a_book_without_a_container_is_damaged() -> None:
    with pytest.raises(ReadError, match=r"^x.epub is damaged"):
        document_from_bytes("x.epub", epub(**{"META-INF/container.xml": "<x/>"}), "")


def test_the_type_is_recognized_by_content_not_by_name() -> None:
    data = (FOLDER / "report-pandoc.epub").read_bytes()
    with pytest.raises(ReadError) as caught:
        document_from_bytes("x.odt", data, "")
    assert str(caught.value) == "x.odt is actually another type of file: name it x.epub and add it again"


def test_words_that_style_sheets_hide_strike_or_raise() -> None:
    sheet = (
        "/* .kept {display: none} */ @media print { .kept {display: none} } .high, span.up {vertical-align: super}"
        ".low {vertical-align: sub} p.off, .shown {display: none} .shown {display: block} .old {color: red;"
        "text-decoration: line-through} .note {display: none}"
    )
    page = (
        "<html xmlns:epub='http://www.idpf.org/2007/ops'><head><link rel='stylesheet' href='css/a.css'/>"
        "<style>.own {display: none}</style></head><body><p class='kept'>The basin has 12 km<span class='high'>2</span>"
        " and 10<span class='up'>6</span> m<span class='big high'>3</span>, CO<span class='low'>2</span>"
        "<span class='old'> and more</span>.</p><p class='off'>secret</p><p class='own'>secret too</p>"
        "<p class='shown'>Shown.</p><aside class='note' epub:type='footnote'><p>A note.</p></aside></body></html>"
    )
    text = document_from_bytes("b.epub", epub(**{"a/1.xhtml": page, "a/css/a.css": sheet}), "").text
    assert "The basin has 12 km² and 10⁶ m³, CO2.\n\nShown.\n\nA note." in text
    assert "secret" not in text
