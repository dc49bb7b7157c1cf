"""HTML to the text of its main part: trafilatura finds it; a small page is read block by block."""

from __future__ import annotations

import logging
import re
from typing import Any

from propcite.app.ingest.readers.decoding import decode
from propcite.app.ingest.readers.draft import Draft
from propcite.app.ingest.readers.html_blocks import html_tree, write_blocks
from propcite.retrieval.text import Document

_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w:.-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\A\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w.-]+)", re.IGNORECASE)
# A small page is read whole.  Of a large one the main part may be outweighed by menus and comments, to a point.
_SMALL = 300
_LEAST_SHARE = 0.25


def read_html(name: str, data: bytes) -> Document:
    tree = html_tree(decode(name, data, declared=declared_charset(data)))
    if tree is None:
        return Draft().document(name, "", {"kind": "html"})
    about = _metadata(tree)
    whole, main = _whole(tree), _main(tree)
    draft = whole if _too_little(main.text, whole.text) else main
    fields = {"kind": "html", "author": about.author or "", "date": about.date or ""}
    return draft.document(name, _title(draft, about.title or ""), fields)


def declared_charset(data: bytes) -> str:
    """The encoding that a page names in its first 4,096 bytes, or an empty string."""
    match = _CHARSET.search(data[:4096]) or _XML_ENCODING.match(data[:4096])
    return match[1].decode("ascii", errors="replace") if match else ""


def _title(draft: Draft, stated: str) -> str:
    """The page's one highest heading, else its stated title, which may be that of the site."""
    highest = [heading.span for heading in draft.headings if heading.level == 1]
    return highest[0].of(draft.text) if len(highest) == 1 else stated


def _metadata(tree: Any) -> Any:
    from copy import deepcopy

    from trafilatura.metadata import extract_metadata

    # The extensive search takes any year of the text for the page's date.
    return extract_metadata(deepcopy(tree), date_config={"extensive_search": False, "original_date": True})


def _main(tree: Any) -> Draft:
    """The main part as trafilatura finds it; an empty draft where it finds none."""
    import trafilatura

    # It reports each page without a main part on stderr as an error; for us that is an answer.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    found: Any = trafilatura.bare_extraction(tree, include_comments=False, include_tables=True, include_formatting=True)
    draft = Draft()
    if found is not None and found.body is not None:
        # It forgets where a numbered list starts; a bullet is better than a wrong number.
        numbered = not tree.xpath("//ol[@start or @reversed] | //li[@value]")
        write_blocks(draft, _as_html(found.body, numbered))
    return draft


def _as_html(body: Any, numbered: bool) -> Any:
    """Trafilatura's own tags under their HTML names.

    Its Markdown would lose lines of code, second paragraphs of list items and escaped signs.
    """
    plain = {"item": "li", "row": "tr", "cell": "td", "lb": "br", "quote": "blockquote"}
    for element in body.iter("head", "list", "code", *plain):
        if element.tag == "head":
            level = element.get("rend", "")
            element.tag = level if re.fullmatch("h[1-6]", level) else "h2"
        elif element.tag == "list":
            element.tag = "ol" if numbered and element.get("rend") == "ol" else "ul"
        elif element.tag == "code":
            element.tag = "pre" if _is_block(element) else "code"
        else:
            element.tag = "th" if element.get("role") == "head" else plain[element.tag]
    return body


def _is_block(code: Any) -> bool:
    return code.getparent() is None or code.getparent().tag in ("body", "div") or "\n" in "".join(code.itertext())


def _whole(tree: Any) -> Draft:
    """The page without what surrounds its content, or all of it where nothing else is there."""
    for without_surroundings in (True, False):
        draft = Draft()
        write_blocks(draft, tree, without_surroundings=without_surroundings)
        if draft.text:
            break
    return draft


def _too_little(main: str, whole: str) -> bool:
    """Whether to read the whole page: trafilatura also gives up on structure, and then writes all in one block."""
    found, there = len(main.split()), len(whole.split())
    return there < _SMALL or found < _LEAST_SHARE * there or "\n" not in main
