"""EPUB books: chapters in reading order, each with its title in the table of contents as a place."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.archive import Archive, damaged
from propcite.app.ingest.readers.draft import Draft, one_line
from propcite.app.ingest.readers.html.blocks import write_blocks
from propcite.app.ingest.readers.html.page import declared_charset
from propcite.app.ingest.readers.html.styles import apply_sheets
from propcite.app.ingest.readers.html.tree import html_tree, tag_of
from propcite.app.ingest.readers.office import core_properties, open_zip
from propcite.app.ingest.readers.plain_text import decode
from propcite.app.ingest.readers.xml import attribute, local_name, parse_xml
from propcite.retrieval.text import Document

_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read_epub(name: str, data: bytes) -> Document:
    archive = open_zip(name, data, "epub")
    book = _Book(archive)
    draft = Draft()
    for path in book.chapters():
        tree = html_tree(_decoded(name, archive.read(path)))
        if tree is None:
            continue
        for mark in tree.xpath(
            "//a[@role='doc-noteref' or @*[local-name()='epub:type' or name()='epub:type']='noteref']"
        ):
            mark.drop_tree()
        apply_sheets(tree, book.sheets(tree, path))
        title = book.titles.get(path, "")
        with draft.optional_place(title):
            if title and next(tree.iter("h1", "h2"), None) is None and not _mark_heading(tree, title):
                draft.block(title, level=1)
            write_blocks(draft, tree.find("body") if tree.find("body") is not None else tree)
    fields = core_properties(book.metadata) if book.metadata is not None else {}
    metadata = {"kind": "epub", "author": fields.get("author", ""), "date": fields.get("date", "")}
    return draft.document(name, fields.get("title", ""), metadata)


def _mark_heading(tree: Any, title: str) -> bool:
    """Turn a paragraph that is just the chapter's title into a heading; return whether there is one."""
    paragraph = next((p for p in tree.iter("p", "div") if one_line(p.text_content()) == title), None)
    if paragraph is not None:
        paragraph.tag = "h1"
    return paragraph is not None


def _decoded(name: str, data: bytes) -> str:
    return decode(name, data, declared=declared_charset(data)) if data.strip() else ""


class _Book:
    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        container = self._xml("META-INF/container.xml")
        roots = [attribute(file, "full-path") for file in container.iter("{*}rootfile")]
        if not roots:
            raise damaged(archive.name)
        self._folder = posixpath.dirname(roots[0])
        self._package = self._xml(roots[0])
        self.metadata = self._package.find("{*}metadata")
        self._items = {attribute(item, "id"): item for item in self._package.iterfind("{*}manifest/{*}item")}
        self._refuse_protected()
        self.titles = dict(reversed(list(self._contents())))

    def chapters(self) -> Iterator[str]:
        """Yield the paths of the pages in order, each once, without the table of contents."""
        seen: set[str] = set()
        for reference in self._package.iterfind("{*}spine/{*}itemref"):
            item = self._items.get(attribute(reference, "idref"))
            if item is None or "nav" in attribute(item, "properties").split():
                continue
            path = self._path(attribute(item, "href"))
            if attribute(item, "media-type") in _PAGES and path in self.archive.members and path not in seen:
                seen.add(path)
                yield path

    def sheets(self, tree: Any, page: str) -> Iterator[str]:
        """Yield the style sheets of a page, which it has itself or names."""
        for element in tree.iter("link", "style"):
            if tag_of(element) == "style":
                yield element.text_content() or ""
            elif "stylesheet" in (element.get("rel") or "").lower():
                path = self._path(element.get("href") or "", posixpath.dirname(page))
                if path in self.archive.members:
                    yield self.archive.read(path).decode("utf-8", "replace")

    def _contents(self) -> Iterator[tuple[str, str]]:
        """Yield paths of pages with their titles in the table of contents, in EPUB 3's form or EPUB 2's."""
        for item in self._items.values():
            path = self._path(attribute(item, "href"))
            if path not in self.archive.members:
                continue
            if "nav" in attribute(item, "properties").split():
                tree = html_tree(_decoded(self.archive.name, self.archive.read(path)))
                for link in tree.iterfind(".//nav//a[@href]") if tree is not None else ():
                    yield self._path(link.get("href"), posixpath.dirname(path)), one_line(link.text_content())
            elif attribute(item, "media-type") == "application/x-dtbncx+xml":
                for point in self._xml(path).iter("{*}navPoint"):
                    label, content = point.find("{*}navLabel/{*}text"), point.find("{*}content")
                    if label is not None and content is not None:
                        target = self._path(attribute(content, "src"), posixpath.dirname(path))
                        yield target, one_line(label.text or "")

    def _path(self, reference: str, folder: str | None = None) -> str:
        path = unquote(reference.partition("#")[0])
        return posixpath.normpath(posixpath.join(self._folder if folder is None else folder, path))

    def _xml(self, path: str) -> Any:
        if path not in self.archive.members:
            raise damaged(self.archive.name)
        return parse_xml(self.archive.name, self.archive.read(path))

    def _refuse_protected(self) -> None:
        """Raise an error if pages are encrypted, as DRM does.  Any book may have obfuscated fonts."""
        if "META-INF/encryption.xml" not in self.archive.members:
            return
        locked = {
            unquote(attribute(e, "URI"))
            for e in self._xml("META-INF/encryption.xml").iter()
            if local_name(e) == "CipherReference"
        }
        if locked & set(self.chapters()):
            raise ReadError(f"{self.archive.name} is locked by its seller (DRM): add a copy without DRM")
