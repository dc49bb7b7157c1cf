"""What Office files have in common: a zip of XML parts that name each other, with a title, an author and a date."""

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
# How a file begins that has the wrong suffix, and the right one.
_TRUTHS = (
    (b"%PDF-", "a PDF", ".pdf"),
    (b"{\\rtf", "a rich text file", ".rtf"),
    (b"<!doctype html", "a web page", ".html"),
    (b"<html", "a web page", ".html"),
)
# The folder of a package's main part, or an OpenDocument's or EPUB's type, and the suffix that goes with it.
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
    """An Office file's parts by their paths, and their relations."""

    def __init__(self, name: str, data: bytes, folder: str) -> None:
        self.name = name
        self.archive = open_zipped(name, data, folder)
        main = [path for kind, path in self.related("").values() if kind == "officeDocument"]
        if not main or main[0] not in self.archive.members:
            raise damaged(name)
        self.main = main[0]
        self.root: Any = self.xml(self.main)

    def xml(self, path: str) -> Any | None:
        """The root of a part, or None where there is no such part."""
        if path not in self.archive.members:
            return None
        return parse_xml(self.name, self.archive.read(path))

    def related(self, path: str) -> dict[str, tuple[str, str]]:
        """By their ids the parts that a part names: the kind of relation and the path."""
        folder, base = posixpath.split(path)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: dict[str, tuple[str, str]] = {}
        for relation in root if root is not None else ():
            target = unquote(relation.get("Target", ""))
            if relation.get("TargetMode") != "External":
                place = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
                found[relation.get("Id", "")] = (relation.get("Type", "").rpartition("/")[2], place)
        return found

    def one(self, path: str, kind: str) -> Any | None:
        """The root of the one part that a part names by this kind of relation."""
        places = [place for found, place in self.related(path).values() if found == kind]
        return self.xml(places[0]) if places else None

    def properties(self) -> dict[str, str]:
        """The title, author and date that the file states."""
        places = [place for kind, place in self.related("").values() if kind == "core-properties"]
        root = self.xml(places[0]) if places else None
        return stated(root) if root is not None else {}


def stated(root: Any) -> dict[str, str]:
    """Title, author and date from Dublin Core elements."""

    def first(*names: str) -> str:
        for name in names:
            for element in root.iter(f"{{*}}{name}"):
                if words := one_line("".join(element.itertext())):
                    return words
        return ""

    date = first("created", "creation-date", "date")
    return {"title": first("title"), "author": first("initial-creator", "creator"), "date": date[:10]}


def open_zipped(name: str, data: bytes, kind: str) -> Archive:
    """The zip behind a file of this kind; a file of another kind says which it is."""
    if data.startswith(OLE):
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise ReadError(f"{name} is encrypted: save it without a password and add it again")
        raise ReadError(f"{name} is an old Office file in truth: open it and save it as {PurePath(name).suffix}")
    for start, what, suffix in _TRUTHS:
        if data[:64].lstrip(b"\xef\xbb\xbf \r\n\t").lower().startswith(start.lower()):
            raise _misnamed(name, what, suffix)
    if not data.startswith(b"PK"):
        raise damaged(name)
    archive = Archive(name, data)
    manifest = archive.members.get("META-INF/manifest.xml")  # of an OpenDocument, which locks part by part
    locked = manifest is not None and b"encryption-data" in archive.read(manifest.filename)
    if locked or any(is_encrypted(info) for info in archive.members.values()):
        raise ReadError(f"{name} is encrypted: save it without a password and add it again")
    _check_kind(archive, kind)
    return archive


def _check_kind(archive: Archive, kind: str) -> None:
    names = archive.members
    stated = archive.read("mimetype", 256).decode("ascii", errors="replace") if _states(archive) else ""
    is_it = kind in stated if stated else any(name.startswith(kind) for name in names)
    if is_it:
        return
    for other, suffix in _SUFFIXES.items():
        if other in stated if stated else any(name.startswith(other) for name in names):
            raise _misnamed(archive.name, "another kind of file", suffix)
    raise _misnamed(archive.name, "a plain archive", ".zip")


def _states(archive: Archive) -> bool:
    info = archive.members.get("mimetype")
    return info is not None and info.file_size <= 256


def _misnamed(name: str, what: str, suffix: str) -> ReadError:
    return ReadError(f"{name} is {what} in truth: name it {PurePath(name).stem}{suffix} and add it again")
