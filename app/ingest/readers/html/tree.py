"""Parse HTML in time linear in its size, whatever it nests or repeats."""

from __future__ import annotations

import re
from typing import Any

_MAX_ATTRIBUTES = 4000  # characters of a tag; libxml2 compares each attribute of a tag with all others
_TAG = re.compile(r"<[a-zA-Z][^\s<>/]*+((?:[^<>\"']++|\"[^\"]*\"|'[^']*')*+)")
_VALUE = r"\"[^\"<]{0,400}\"|'[^'<]{0,400}'|[^\s\"'<>]{1,400}"
_KEPT = re.compile(rf"\s(?:class|hidden|id|role|start|style|value|colspan|rowspan)(?:\s*=\s*(?:{_VALUE}))?")
_HTML_TAG = re.compile(r"</?(?!/?(?:head|script|style|template|title|textarea)\b)[a-zA-Z][^<>]*+>", re.IGNORECASE)


def html_tree(html: str) -> Any | None:
    """Parse a page or a fragment, without comments; None if it is empty."""
    tree, too_deep = _parsed(_with_short_tags(html))
    if too_deep:  # the parser drops what is nested deeper, so the words are kept without their structure
        tree, _ = _parsed(_HTML_TAG.sub("<br>", html))
    return tree


def tag_of(element: Any) -> str:
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def _parsed(html: str) -> tuple[Any | None, bool]:
    """Return the tree, and whether parts of it were nested too deep to be parsed."""
    import lxml.etree
    import lxml.html

    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        tree = lxml.html.document_fromstring(html.encode("utf-8", errors="replace"), parser=parser)
    except lxml.etree.ParserError:
        tree = None
    return tree, any("depth" in entry.message for entry in parser.error_log)


def _with_short_tags(html: str) -> str:
    return _TAG.sub(_shortened, html)


def _shortened(tag: re.Match[str]) -> str:
    if len(tag[1]) <= _MAX_ATTRIBUTES:
        return tag[0]
    return tag[0][: tag.start(1) - tag.start()] + "".join(_KEPT.findall(tag[1])[:20])
