"""Find the parts of a page that are hidden, and those of its site rather than its content."""

from __future__ import annotations

import re
from typing import Any

from propcite.app.ingest.readers.html.tree import tag_of

# Words that are struck out are deleted, as those of `del` are.
SKIPPED = frozenset(
    "annotation annotation-xml audio button canvas datalist del embed head iframe noscript object rp s script select "
    "strike style svg template textarea title video".split()
)
_SITE_ROLES = frozenset("banner contentinfo menu menubar navigation search".split())
# Classes and ids of menus, headers and footers, as Sphinx, DocBook, Doxygen, Texinfo, Javadoc, WordPress and others
# write them.  They count only outside of <main> and <article>.
_SITE_NAMES = frozenset(
    "bottomlang breadcrumb breadcrumbs docnav footer masthead mobile-nav nav nav-panel nav-path navbar navfooter "
    "navheader navigation page-footer path related-pages side-nav site-footer site-header site-nav skip-link "
    "skip-to-content social-share share-buttons sphinxsidebar toplang topnav".split()
)
_TERMS = frozenset("h1 h2 h3 h4 h5 h6 dt summary".split())
_ASIDE_NAMES = frozenset("sidebar side-bar".split())
_TITLES = frozenset("sidebar-title title titlepage".split())  # of sidebars that DocBook and docutils write in the text
_HIDDEN_CLASSES = frozenset("screen-reader-text sr-only ttc visually-hidden visuallyhidden".split())
_COOKIES = re.compile(
    r"(?:cookie|consent|gdpr)s?[-_]?(?:alert|banner|bar|box|consent|container|dialog|law|message|modal|notice|overlay"
    r"|popup|wrapper)\S*|onetrust\S*|cc-window",
    re.IGNORECASE,
)
_HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|text-decoration(?:-line)?\s*:[^;]*line-through|visibility\s*:\s*(?:hidden|collapse)"
    r"|(?:opacity|font-size)\s*:\s*0(?:\.0+)?(?:px|pt|em|rem|%)?\s*(?:;|!|$))",
    re.IGNORECASE,
)
# The words of links to a heading itself, and from a note back to its mark.
_PERMALINKS = frozenset((*"¶#§◆🔗⚓∞↩↑^", "↩\ufe0e", "↩\ufe0f"))


def is_main(element: Any) -> bool:
    return bool(element.tag == "main" or element.get("role") == "main")


def is_content(tag: str, element: Any) -> bool:
    """Whether an element is marked as content of its page."""
    return tag in ("main", "article") or element.get("role") == "main"


def is_hidden(tag: str, element: Any) -> bool:
    """Whether an element is not displayed.  A hidden body does not count: a script would show it."""
    if tag == "body":
        return False
    hidden = element.get("hidden") is not None or (tag == "dialog" and element.get("open") is None)
    style, classes = element.get("style"), element.get("class")
    if hidden or (style and _HIDING.search(style)) or (tag == "a" and _is_permalink(element)):
        return True
    return bool(classes) and not _HIDDEN_CLASSES.isdisjoint(classes.split())


def is_of_site(tag: str, element: Any, *, inside: bool) -> bool:
    """Whether an element is a menu or a cookie notice, or, unless `inside` the content, the site's header or footer."""
    role = element.get("role")
    if tag == "nav" or role == "navigation":
        return True
    names = f"{element.get('class') or ''} {element.get('id') or ''}".split()
    if names and any(map(_COOKIES.fullmatch, names)):
        return True
    if inside or (tag == "footer" and tag_of(element.getparent()) in ("blockquote", "figure")):
        return False
    return tag in ("header", "footer") or role in _SITE_ROLES or any(name.lower() in _SITE_NAMES for name in names)


def is_term(button: Any) -> bool:
    """Whether a button has words of the content: it is a heading, or opens the text below it."""
    return tag_of(button.getparent()) in _TERMS or "accordion" in (button.get("class") or "")


def is_aside(tag: str, element: Any, *, inside: bool) -> bool:
    """Whether an element stands beside the content."""
    named = not _ASIDE_NAMES.isdisjoint((element.get("class") or "").lower().split())
    if inside or not (named or tag == "aside" or element.get("role") == "complementary"):
        return False
    return not (named and len(element) and not _TITLES.isdisjoint((element[0].get("class") or "").split()))


def is_line_number(element: Any) -> bool:
    """Whether an element is the number of a line of code, as Pygments writes it into the line."""
    return "linenos" in (element.get("class") or "").split()


def _is_permalink(link: Any) -> bool:
    words = (link.text or "").strip()
    return words in _PERMALINKS and len(link) == 0 and (link.get("href") or "").startswith("#")
