"""Office files as packages: a zip of XML parts with relations between them, a title, an author and a date."""

from __future__ import annotations

import posixpath
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.archive import Archive, damaged, is_encrypted
from propcite.app.ingest.readers.draft import one_line
from propcite.app.ingest.readers.xml import parse_xml

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# How files of other types begin, with their right suffix.
_SIGNATURES = (
    (b"%PDF-", "a PDF", ".pdf"),
    (b"{\\rtf", "a rich text file", ".rtf"),
    (b"<!doctype html", "a web page", ".html"),
    (b"<html", "a web page", ".html"),
)
# The folder of a package's main part, or the media type of an OpenDocument or EPUB file, with its suffix.
_SUFFIXES = {
    "word/": ".docx",
    "ppt/": ".pptx",
    "xl/": ".xlsx",
    "opendocument.text": ".odt",
    "opendocument.spreadsheet": ".ods",
    "opendocument.presentation": ".odp",
    "epub": ".epub",
}


class Package:
    """An Office file's parts by path, and their relations."""

    def __init__(self, name: str, data: bytes, folder: str) -> None:
        self.name = name
        self.archive = open_zip(name, data, folder)
        main = [path for kind, path in self.related("").values() if kind == "officeDocument"]
        if not main or main[0] not in self.archive.members:
            raise damaged(name)
        self.main = main[0]
        self.root: Any = self.xml(self.main)

    def xml(self, path: str) -> Any | None:
        """Return the root of a part; None if there is no such part."""
        if path not in self.archive.members:
            return None
        return parse_xml(self.name, self.archive.read(path))

    def related(self, path: str) -> dict[str, tuple[str, str]]:
        """Return the relations of a part by id: their types, and the paths of the related parts."""
        folder, base = posixpath.split(path)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        relations: dict[str, tuple[str, str]] = {}
        for relation in root if root is not None else ():
            target = unquote(relation.get("Target", ""))
            if relation.get("TargetMode") != "External":
                part = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
                relations[relation.get("Id", "")] = (relation.get("Type", "").rpartition("/")[2], part)
        return relations

    def first_related(self, path: str, kind: str) -> Any | None:
        """Return the root of the first part with this type of relation; None if there is none."""
        parts = [part for type_, part in self.related(path).values() if type_ == kind]
        return self.xml(parts[0]) if parts else None

    def properties(self) -> dict[str, str]:
        """Return the file's title, author and date; empty if it has no properties."""
        root = self.first_related("", "core-properties")
        return core_properties(root) if root is not None else {}


def core_properties(root: Any) -> dict[str, str]:
    """Return title, author and date from Dublin Core elements."""

    def first(*names: str) -> str:
        for name in names:
            for element in root.iter(f"{{*}}{name}"):
                if words := one_line("".join(element.itertext())):
                    return words
        return ""

    date = first("created", "creation-date", "date")
    return {"title": first("title"), "author": first("initial-creator", "creator"), "date": date[:10]}


def open_zip(name: str, data: bytes, kind: str) -> Archive:
    """Open a zipped file of this kind; the error for one of another kind names its right suffix."""
    if data.startswith(OLE):
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise ReadError(f"{name} is encrypted: save it without a password and add it again")
        raise ReadError(f"{name} is actually a legacy Office file: open it and save it as {PurePath(name).suffix}")
    for start, actual, suffix in _SIGNATURES:
        if data[:64].lstrip(b"\xef\xbb\xbf \r\n\t").lower().startswith(start.lower()):
            raise _misnamed(name, actual, suffix)
    if not data.startswith(b"PK"):
        raise damaged(name)
    archive = Archive(name, data)
    manifest = archive.members.get("META-INF/manifest.xml")  # OpenDocument encrypts each part
    locked = manifest is not None and b"encryption-data" in archive.read(manifest.filename)
    if locked or any(is_encrypted(info) for info in archive.members.values()):
        raise ReadError(f"{name} is encrypted: save it without a password and add it again")
    _check_kind(archive, kind)
    return archive


def _check_kind(archive: Archive, kind: str) -> None:
    media_type = _media_type(archive)

    def is_of(kind: str) -> bool:
        return kind in media_type if media_type else any(name.startswith(kind) for name in archive.members)

    if is_of(kind):
        return
    for other, suffix in _SUFFIXES.items():
        if is_of(other):
            raise _misnamed(archive.name, "another type of file", suffix)
    raise _misnamed(archive.name, "a plain archive", ".zip")


def _media_type(archive: Archive) -> str:
    """Return the media type that an OpenDocument or EPUB file states; empty for others."""
    info = archive.members.get("mimetype")
    if info is None or info.file_size > 256:
        return ""
    return archive.read("mimetype", 256).decode("ascii", errors="replace")


def _misnamed(name: str, actual: str, suffix: str) -> ReadError:
    return ReadError(f"{name} is actually {actual}: name it {PurePath(name).stem}{suffix} and add it again")
