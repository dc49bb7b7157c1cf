"""Write the blocks of an HTML tree as text: headings, paragraphs, lists, table rows and preformatted lines."""

from __future__ import annotations

import re
from typing import Any

from propcite.app.ingest.readers.draft import Draft
from propcite.app.ingest.readers.rows import Row, write_rows

_SKIPPED = frozenset(
    "head script style noscript template svg iframe object embed canvas audio video select textarea button".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form header hgroup hr html legend main nav ol p pre section summary table tbody tfoot thead ul "
    "h1 h2 h3 h4 h5 h6 li tr td th".split()
)
_HEADING = re.compile("h[1-6]")
_LAYOUT_TAGS = ("table", "tr", "ul", "ol", "pre", "h1", "h2", "h3", "h4", "h5", "h6")
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)


def html_tree(html: str) -> Any | None:
    """Parse a page or a fragment, without comments and hidden parts; None if it is empty."""
    import lxml.etree
    import lxml.html

    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        tree = lxml.html.document_fromstring(html.encode("utf-8", errors="replace"), parser=parser)
    except lxml.etree.ParserError:
        return None
    for element in [element for element in tree.iterdescendants() if _is_hidden(element)]:
        element.drop_tree()
    return tree


def write_blocks(draft: Draft, tree: Any, *, content_only: bool = False) -> None:
    """Write the visible text of a tree; `content_only` leaves out menus and the header and footer of the site."""
    from lxml import etree

    writer = _Writer(draft)
    walk = etree.iterwalk(tree, events=("start", "end"))
    for event, element in walk:
        tag = _tag(element)
        skipped = tag in _SKIPPED or (content_only and _is_furniture(tag, element))
        if event == "start" and skipped:
            walk.skip_subtree()
        elif event == "start":
            writer.open(tag, element)
            writer.words(element.text)
        else:
            if not skipped:
                writer.close(tag)
            if element is not tree:
                writer.words(element.tail)
    writer.end()


def _tag(element: Any) -> str:
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def _is_furniture(tag: str, element: Any) -> bool:
    """Whether an element belongs to the site rather than to its content: an article's own <header> has its title."""
    in_site = tag in ("header", "footer") and next(element.iterancestors("main", "article"), None) is None
    return in_site or tag in ("nav", "aside")


def _is_hidden(element: Any) -> bool:
    """Whether an element is not displayed.  A hidden body does not count: a script would show it."""
    hidden = "hidden" in element.attrib or _HIDDEN.search(element.get("style", ""))
    return bool(hidden) and _tag(element) != "body"


class _Writer:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.level = 0
        self.verbatim = 0  # the number of open <pre>
        self.cells: list[str] | None = None  # of the open row
        self.rows: list[Row] = []  # of the open table
        self.named = False  # whether its first row is a header
        self._words: list[str] = []

    def words(self, text: str | None) -> None:
        if text:
            self._words.append(text if self.verbatim else re.sub(r"\s+", " ", text))

    def open(self, tag: str, element: Any) -> None:
        if tag == "br":
            self._words.append("\n")
        if tag not in _BLOCKS:
            return
        self.flush()
        if _HEADING.fullmatch(tag):
            self.level = int(tag[1])
        match tag:
            case "ul" | "ol" | "dl":
                self.draft.open_list(_first_number(element) if tag == "ol" else None)
            case "li":
                self.draft.open_item()
            case "pre":
                self.verbatim += 1
            case "table":
                self._write_rows()
            case "tr":
                self.cells = [] if _is_row(element) else None
                self.named = self.named or (not self.rows and _names_columns(element))

    def close(self, tag: str) -> None:
        if tag not in _BLOCKS:
            return
        if tag in ("td", "th") and self.cells is not None:
            self.cells.append(" ".join("".join(self._words).split()))
            self._words = []
        self.flush()
        if _HEADING.fullmatch(tag):
            self.level = 0
        match tag:
            case "ul" | "ol" | "dl":
                self.draft.close_list()
            case "li":
                self.draft.close_item()
            case "pre":
                self.verbatim -= 1
            case "tr" if self.cells is not None:
                self.rows.append(Row(self.cells))
                self.cells = None
            case "table":
                self._write_rows()

    def flush(self) -> None:
        """End the block; inside a table row only a space separates the blocks of a cell."""
        if self.cells is not None:
            self._words.append(" ")
            return
        words, self._words = "".join(self._words), []
        if not self.verbatim:
            words = re.sub(r" *\n *", "\n", re.sub(r" +", " ", words)).strip()
        if words.strip():
            self._write_rows()
        self.draft.block(words, level=self.level)

    def end(self) -> None:
        self.flush()
        self._write_rows()

    def _write_rows(self) -> None:
        rows, self.rows = self.rows, []
        write_rows(self.draft, rows, named=self.named)
        self.named = False


def _first_number(element: Any) -> int:
    start = element.get("start", "")
    return int(start) if re.fullmatch(r"\d{1,9}", start) else 1


def _names_columns(row: Any) -> bool:
    cells = [_tag(cell) for cell in row if _tag(cell) in ("td", "th")]
    return len(cells) > 1 and all(tag == "th" for tag in cells)


def _is_row(element: Any) -> bool:
    """Whether a <tr> is a row of data: one with whole blocks inside is used for page layout."""
    return next(element.iterdescendants(*_LAYOUT_TAGS), None) is None
