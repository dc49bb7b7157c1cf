"""Markdown and HTML with their layout, but without scripts, links, images and styles."""

from __future__ import annotations

from propcite.app.ingest.readers.html.page import declared_charset
from propcite.app.ingest.readers.markdown import front_matter
from propcite.app.ingest.readers.plain_text import decode

_TAGS = {
    *"h1 h2 h3 h4 h5 h6 p div span br hr blockquote pre code kbd samp ul ol li dl dt dd table caption".split(),
    *"colgroup col thead tbody tfoot tr th td b strong i em u s del ins sub sup small cite q abbr figure".split(),
    *"figcaption main article section header footer nav aside address time details summary".split(),
}
_REMOVED_WITH_CONTENT = set("script style title head noscript template iframe object svg math select".split())
_ATTRIBUTES = {"ol": {"start"}, "li": {"value"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}}


def markdown_html(name: str, data: bytes) -> str:
    from markdown_it import MarkdownIt

    _, body = front_matter(decode(name, data))
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
    return sanitize(parser.render(body))


def page_html(name: str, data: bytes) -> str:
    return sanitize(decode(name, data, declared=declared_charset(data)))


def sanitize(html: str) -> str:
    """Return the words with their layout; links, images, styles and ids are removed."""
    import nh3

    return nh3.clean(
        html,
        tags=_TAGS,
        clean_content_tags=_REMOVED_WITH_CONTENT,
        attributes=_ATTRIBUTES,
        link_rel=None,
        generic_attribute_prefixes=set(),
    )
