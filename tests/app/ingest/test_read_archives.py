"""Zip archives: each member is a source of its own; bombs, links, encrypted members and path traversal are refused."""

from __future__ import annotations

import struct
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from real_documents import FOLDER

from propcite.app.errors import ReadError
from propcite.app.ingest.readers import document_from_bytes
from propcite.app.ingest.readers.archive import Member, members


def packed(files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def refused(data: bytes, name: str = "x.zip") -> str:
    with pytest.raises(ReadError) as caught:
        members(name, data, name)
    return str(caught.value)


def read(member: Member) -> str:
    return document_from_bytes(member.name, member.read(), member.location).text


def test_members_of_supported_types_are_sources_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "papers.zip"
    path.write_bytes(
        packed(
            {
                "b/minutes.docx": (FOLDER / "minutes-libreoffice.docx").read_bytes(),
                "a.txt": b"One.",
                "c/": b"",
                "photo.gif": b"x",
                ".hidden.txt": b"x",
                "__MACOSX/._a.txt": b"x",
            }
        )
    )
    accepted, errors = members("papers.zip", path, str(path))
    assert [member.location for member in accepted] == [f"{path}!/a.txt", f"{path}!/b/minutes.docx"]
    assert errors == []
    assert read(accepted[0]) == "One."
    assert "The pier opened in June." in read(accepted[1])


def test_members_are_named_by_their_folders_however_these_are_written() -> None:
    files = {"a/notes.md": b"One.", "b\\notes.md": b"Two.", "c/no\ntes.md": b"Three.", "__pycache__/d.txt": b"x"}
    accepted, errors = members("town.zip", packed(files), "town.zip")
    assert [member.location for member in accepted] == [f"town.zip!/{x}/notes.md" for x in "abc"]
    assert [(member.name, read(member)) for member in accepted] == [
        ("notes.md", "One."), ("notes.md", "Two."), ("notes.md", "Three."),
    ]  # fmt: skip
    assert errors == []


def test_encrypted_nested_linked_and_path_traversing_members_are_refused() -> None:
    link = zipfile.ZipInfo("link.txt")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(link, "/etc/passwd")
        for name in ("../up.txt", "/root.txt", "C:\\a.txt", "inner.zip", "locked.txt", "ok.txt"):
            archive.writestr(name, "words")
    data = bytearray(out.getvalue())
    at = data.index(b"locked.txt", data.index(b"PK\1\2"))
    data[at - 38] |= 1  # its flags in the directory
    accepted, errors = members("x.zip", bytes(data), "x.zip")
    assert [member.path for member in accepted] == ["ok.txt"]
    assert sorted(str(error).partition(":")[0] for error in errors) == [
        "../up.txt leads out of x.zip",
        "/root.txt leads out of x.zip",
        "C",
        "inner.zip is an archive inside x.zip",
        "locked.txt is encrypted in x.zip",
    ]
    assert {error.source for error in errors} >= {"x.zip!/inner.zip", "x.zip!/../up.txt"}


def test_a_member_over_the_limit_is_refused_by_itself() -> None:
    accepted, _ = members("x.zip", packed({"a.txt": b"words " * 99}), "x.zip")
    with pytest.raises(ReadError, match=r"^a.txt is .* over the limit"):
        accepted[0].read(100)


def test_bombs_are_not_opened() -> None:
    zeros = packed({"a.txt": bytes(40 * 2**20)})
    assert "would unpack to 40 MB" in refused(zeros)
    many = packed({f"{number}.txt": b"x" for number in range(20_001)}, zipfile.ZIP_STORED)
    assert refused(many) == "x.zip contains more than 20,000 files: unpack it and add those that you need"
    huge = bytearray(packed({"a.txt": b"x"}))
    struct.pack_into("<L", huge, len(huge) - 10, 0xF0000000)
    assert "more than 20,000 files" in refused(bytes(huge))


def test_members_larger_than_they_state_are_damaged() -> None:
    data = bytearray(packed({"a.txt": bytes(2**20)}))
    for at in (22, data.index(b"PK\1\2") + 24):
        struct.pack_into("<L", data, at, 1000)
    accepted, _ = members("x.zip", bytes(data), "x.zip")
    with pytest.raises(ReadError, match="damaged"):
        accepted[0].read()


@pytest.mark.parametrize("data", [b"PK", b"PK\3\4" + bytes(99), b"words", packed({"a.txt": b"words"})[:-9]])
def test_a_broken_archive(data: bytes) -> None:
    assert refused(data) == "x.zip is damaged or incomplete: get it again, or save it again and add that"


def test_an_archive_without_supported_files() -> None:
    assert refused(packed({"a.gif": b"x"})).startswith("x.zip contains no file that can be read: add one of txt, md,")
    with pytest.raises(ReadError, match=r"^x.zip is an archive inside another file"):
        document_from_bytes("x.zip", packed({"a.txt": b"x"}), "")
