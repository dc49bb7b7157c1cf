"""HTML pages, read as a browser shows them, without the menus, header and footer of their site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from propcite.app.ingest.readers.draft import Draft, one_line
from propcite.app.ingest.readers.html.blocks import write_blocks
from propcite.app.ingest.readers.html.parts import is_main
from propcite.app.ingest.readers.html.tree import html_tree
from propcite.app.ingest.readers.plain_text import decode
from propcite.retrieval.text import Document

_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w:.-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\A\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w.-]+)", re.IGNORECASE)
_MIN_MAIN = 0.5  # the share of the words outside menus that a page's main element must have to be read alone
_AUTHORS = ("author", "article:author", "citation_author", "dc.creator", "dcterms.creator")
_DATES = (
    "article:published_time",
    "citation_publication_date",
    "dc.date",
    "dc.date.issued",
    "dcterms.created",
    "dcterms.issued",
    "datepublished",
    "date",
)
_PUBLISHED = re.compile(r'"datePublished"\s*:\s*"([^"]{4,40})"')
_DAY = re.compile(r"(?:1[5-9]|20|21)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)")


def read_html(name: str, data: bytes) -> Document:
    tree = html_tree(decode(name, data, declared=declared_charset(data)))
    if tree is None:
        return Draft().document(name, "", {"kind": "html"})
    draft, num_dropped = _content(tree)
    fields = {"kind": "html", "author": _meta(tree, _AUTHORS), "date": _date(tree)}
    fields["dropped_blocks"] = str(num_dropped) if num_dropped else ""
    return draft.document(name, _title(draft, tree), fields)


def declared_charset(data: bytes) -> str:
    """Return the encoding that a page declares in its first 4,096 bytes, or an empty string."""
    match = _CHARSET.search(data[:4096]) or _XML_ENCODING.match(data[:4096])
    return match[1].decode("ascii", errors="replace") if match else ""


def _content(tree: Any) -> tuple[Draft, int]:
    """Write the page's content; return it with the number of blocks of prose beside it, which are left out."""
    whole = Draft()
    num_beside = write_blocks(whole, tree, content_only=True)
    if not whole.text:
        write_blocks(whole, tree)
        return whole, 0
    if (main := _main(tree)) is not None:
        draft = Draft()
        num_outside = write_blocks(draft, tree, content_only=True, main=main)
        if len(draft.text.split()) >= _MIN_MAIN * len(whole.text.split()):
            return draft, num_outside
    return whole, num_beside


def _main(tree: Any) -> Any:
    """Return the one element that the page marks as its main part; None if there are none or several."""
    mains = [element for element in tree.iter("main", "{*}main", "div", "article", "section") if is_main(element)]
    return mains[0] if len(mains) == 1 else None


def _title(draft: Draft, tree: Any) -> str:
    """Return the page's only top heading, else its declared title, which may be that of the site."""
    top = [heading.span for heading in draft.headings if heading.level == 1]
    return top[0].of(draft.text) if len(top) == 1 else tree.findtext(".//title") or _meta(tree, ("og:title",))


def _meta(tree: Any, names: tuple[str, ...]) -> str:
    """Return the content of the first of the meta elements with these names, or an empty string."""
    found = {key.lower(): words for key, words in _meta_fields(tree)}
    return next((found[name] for name in names if name in found), "")


def _meta_fields(tree: Any) -> Iterator[tuple[str, str]]:
    for meta in tree.iter("meta"):
        words = one_line(meta.get("content") or "")
        for attribute in ("name", "property", "itemprop"):
            if words and (key := meta.get(attribute)):
                yield key, words


def _date(tree: Any) -> str:
    """Return the day on which the page says that it was published, or an empty string."""
    said = [_meta(tree, (name,)) for name in _DATES]
    said += [time.get("datetime") or "" for time in tree.iter("time") if time.get("itemprop") == "datePublished"]
    said += [match[1] for data in tree.iter("script") if (match := _PUBLISHED.search(data.text or ""))]
    return next((day[0] for one in said if (day := _DAY.match(one))), "")
