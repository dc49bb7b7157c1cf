"""Truncated, changed, encrypted, misnamed and malicious files: one line of error, in limited time and memory."""

from __future__ import annotations

import zipfile
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from real_documents import FOLDER, checked

from propcite.app.errors import ReadError
from propcite.app.ingest.readers import document_from_bytes

REAL = sorted(path for path in FOLDER.iterdir() if path.suffix not in (".py", ".md", ".doc") and path.is_file())
ZIPPED = {path.suffix: path for path in REAL if zipfile.is_zipfile(path)}


def refused(name: str, data: bytes) -> str:
    with pytest.raises(ReadError) as caught:
        document_from_bytes(name, data, "")
    assert str(caught.value).startswith(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def with_part(path: Path, part: str, data: bytes) -> bytes:
    """Return a real file with one part replaced."""
    out = BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            new.writestr(info, data if info.filename == part else old.read(info))
    return out.getvalue()


def main_part(path: Path) -> str:
    parts = ("word/document.xml", "ppt/presentation.xml", "xl/workbook.xml", "content.xml", "META-INF/container.xml")
    return next(part for part in parts if part in zipfile.ZipFile(path).namelist())


def test_an_encrypted_file_and_a_legacy_file_under_a_new_name() -> None:
    locked = (FOLDER / "locked.docx").read_bytes()
    assert refused("x.docx", locked) == "x.docx is encrypted: save it without a password and add it again"
    legacy = (FOLDER / "report-libreoffice.doc").read_bytes()
    assert refused("x.docx", legacy) == "x.docx is actually a legacy Office file: open it and save it as .docx"
    assert refused("x.doc", legacy) == "x.doc has a legacy format that cannot be read: open it and save it as .docx"


@pytest.mark.parametrize(
    ("name", "data", "actual"),
    [
        ("x.docx", b"%PDF-1.7\n", "a PDF: name it x.pdf"),
        ("x.xlsx", b"<html><body>", "a web page: name it x.html"),
        ("x.pptx", b"{\\rtf1 x}", "a rich text file: name it x.rtf"),
        ("x.docx", (FOLDER / "budget-openpyxl.xlsx").read_bytes(), "another type of file: name it x.xlsx"),
        ("x.epub", (FOLDER / "minutes-libreoffice.odt").read_bytes(), "another type of file: name it x.odt"),
        ("x.rtf", (FOLDER / "slides-python-pptx.pptx").read_bytes(), "another type of file: name it x.pptx"),
    ],
)
def test_the_error_for_a_wrong_suffix_names_the_right_one(name: str, data: bytes, actual: str) -> None:
    assert refused(name, data) == f"{name} is actually {actual} and add it again"


@pytest.mark.parametrize("suffix", ZIPPED)
def test_entities_are_neither_resolved_nor_expanded(suffix: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("SECRET")
    path = ZIPPED[suffix]
    many = "".join(
        f'<!ENTITY {a} "&{b};&{b};&{b};&{b};&{b};&{b};&{b};&{b};">'
        for a, b in zip("bcdefghij", "abcdefghi", strict=True)
    )
    for entities in (f'<!ENTITY j SYSTEM "file://{tmp_path}/secret">', f'<!ENTITY a "ha">{many}'):
        part = f"<!DOCTYPE x [{entities}]><x a='&amp;'>&j;</x>".encode()
        assert refused(f"x{suffix}", with_part(path, main_part(path), part)).startswith(f"x{suffix} ")


@pytest.mark.parametrize("suffix", ZIPPED)
def test_a_part_that_is_a_bomb_is_not_unpacked(suffix: str) -> None:
    path = ZIPPED[suffix]
    assert "would unpack to" in refused(f"x{suffix}", with_part(path, main_part(path), bytes(40 * 2**20)))


@pytest.mark.parametrize("suffix", ZIPPED)
def test_a_part_that_is_nested_deeply_or_is_not_xml(suffix: str) -> None:
    path = ZIPPED[suffix]
    for part in (b"<a>" * 90_000, b"<a/>", b"no xml", b""):
        refused(f"x{suffix}", with_part(path, main_part(path), part))


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_truncated_or_changed_file_is_read_or_an_error(path: Path, data: st.DataObject) -> None:
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    for _ in range(data.draw(st.integers(0, 4))):
        if content:
            content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with suppress(ReadError):
        checked(document_from_bytes(path.name, bytes(content), ""))


@pytest.mark.parametrize("suffix", ZIPPED)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_changed_part_is_read_or_an_error(suffix: str, data: st.DataObject) -> None:
    """Change a part inside the zip, where checksums do not catch it before the reader."""
    path = ZIPPED[suffix]
    with zipfile.ZipFile(path) as archive:
        part = data.draw(
            st.sampled_from([n for n in archive.namelist() if n.endswith((".xml", ".rels", ".opf", ".ncx"))])
        )
        content = bytearray(archive.read(part))
    for _ in range(data.draw(st.integers(1, 6))):
        if content:
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.sampled_from(list(b'"<>/&;0a9-')))
    with suppress(ReadError):
        checked(document_from_bytes(path.name, with_part(path, part, bytes(content)), ""))


def test_a_few_bytes_that_expand_to_very_many_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("propcite.app.ingest.readers.rows._MAX_CELLS", 200_000)
    wide = "".join(f"<row r='{n}'><c r='XFD{n}'><v>1</v></c></row>" for n in range(1, 20))
    sheet = f"<worksheet><sheetData>{wide}</sheetData></worksheet>".encode()
    message = refused("x.xlsx", with_part(FOLDER / "budget-openpyxl.xlsx", "xl/worksheets/sheet1.xml", sheet))
    assert message == "x.xlsx has a table of more than 200,000 cells: delete empty columns or split it"
    names = "xmlns:o='urn:o' xmlns:t='urn:t' xmlns:x='urn:x'"
    cell = "<t:table-cell t:number-columns-repeated='16000'><x:p>1</x:p></t:table-cell>"
    row = f"<t:table-row t:number-rows-repeated='900'>{cell}</t:table-row>"
    for suffix, kind in ((".ods", "spreadsheet"), (".odt", "text")):
        content = f"<o:c {names}><o:body><o:{kind}><t:table t:name='a'>{row * 15}</t:table></o:{kind}></o:body></o:c>"
        assert "200,000 cells" in refused(f"x{suffix}", with_part(ZIPPED[suffix], "content.xml", content.encode()))
