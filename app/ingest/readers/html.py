"""HTML pages: the main part as trafilatura extracts it; small pages whole, block by block."""

from __future__ import annotations

import logging
import re
from typing import Any

from propcite.app.ingest.readers.draft import Draft
from propcite.app.ingest.readers.html_blocks import html_tree, write_blocks
from propcite.app.ingest.readers.plain_text import decode
from propcite.retrieval.text import Document

_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w:.-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\A\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w.-]+)", re.IGNORECASE)
# Pages of fewer words are read whole.  On a larger page the main part must have at least this share of the words.
_SMALL = 300
_MIN_SHARE = 0.25


def read_html(name: str, data: bytes) -> Document:
    tree = html_tree(decode(name, data, declared=declared_charset(data)))
    if tree is None:
        return Draft().document(name, "", {"kind": "html"})
    metadata = _metadata(tree)
    whole, main = _whole(tree), _main(tree)
    draft = whole if _too_little(main.text, whole.text) else main
    fields = {"kind": "html", "author": metadata.author or "", "date": metadata.date or ""}
    return draft.document(name, _title(draft, metadata.title or ""), fields)


def declared_charset(data: bytes) -> str:
    """Return the encoding that a page declares in its first 4,096 bytes, or an empty string."""
    match = _CHARSET.search(data[:4096]) or _XML_ENCODING.match(data[:4096])
    return match[1].decode("ascii", errors="replace") if match else ""


def _title(draft: Draft, declared: str) -> str:
    """Return the page's only top heading, else its declared title, which may be that of the site."""
    top = [heading.span for heading in draft.headings if heading.level == 1]
    return top[0].of(draft.text) if len(top) == 1 else declared


def _metadata(tree: Any) -> Any:
    from copy import deepcopy

    from trafilatura.metadata import extract_metadata

    # The extensive search takes any year in the text for the page's date.
    return extract_metadata(deepcopy(tree), date_config={"extensive_search": False, "original_date": True})


def _main(tree: Any) -> Draft:
    """Write the main part as trafilatura extracts it; an empty draft if it finds none."""
    import trafilatura

    # It logs each page without a main part as an error, though that is an expected result here.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    main: Any = trafilatura.bare_extraction(tree, include_comments=False, include_tables=True, include_formatting=True)
    draft = Draft()
    if main is not None and main.body is not None:
        # It loses the start of a numbered list; bullets are better than wrong numbers.
        numbered = not tree.xpath("//ol[@start or @reversed] | //li[@value]")
        write_blocks(draft, _as_html(main.body, numbered))
    return draft


def _as_html(body: Any, numbered: bool) -> Any:
    """Rename trafilatura's own tags to those of HTML.

    Its Markdown output would lose lines of code, second paragraphs of list items and escaped characters.
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
    """Write the page without the site's menus, header and footer, or all of it if there is nothing else."""
    for content_only in (True, False):
        draft = Draft()
        write_blocks(draft, tree, content_only=content_only)
        if draft.text:
            break
    return draft


def _too_little(main: str, whole: str) -> bool:
    """Whether the main part is unusable: too short, or one block, as trafilatura writes it if it loses structure."""
    num_main, num_whole = len(main.split()), len(whole.split())
    return num_whole < _SMALL or num_main < _MIN_SHARE * num_whole or "\n" not in main
