"""Markdown and HTML as they are meant to look, without anything that acts, loads or leads elsewhere."""

from __future__ import annotations

from propcite.app.ingest.readers.decoding import decode
from propcite.app.ingest.readers.html import declared_charset
from propcite.app.ingest.readers.markdown import front_matter

_TAGS = {
    *"h1 h2 h3 h4 h5 h6 p div span br hr blockquote pre code kbd samp ul ol li dl dt dd table caption".split(),
    *"colgroup col thead tbody tfoot tr th td b strong i em u s del ins sub sup small cite q abbr figure".split(),
    *"figcaption main article section header footer nav aside address time details summary".split(),
}
_UNREAD = {"script", "style", "title", "head", "noscript", "template", "iframe", "object", "svg", "math", "select"}
_ATTRIBUTES = {"ol": {"start"}, "li": {"value"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}}


def markdown_html(name: str, data: bytes) -> str:
    from markdown_it import MarkdownIt

    _, body = front_matter(decode(name, data))
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
    return harmless(parser.render(body))


def page_html(name: str, data: bytes) -> str:
    return harmless(decode(name, data, declared=declared_charset(data)))


def harmless(html: str) -> str:
    """What a reader may see: words and their arrangement.  Links, pictures, styles and names are left out."""
    import nh3

    return nh3.clean(
        html,
        tags=_TAGS,
        clean_content_tags=_UNREAD,
        attributes=_ATTRIBUTES,
        link_rel=None,
        generic_attribute_prefixes=set(),
    )
