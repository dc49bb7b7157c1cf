"""Write the blocks of an HTML tree as text: headings, paragraphs, lists, table rows and preformatted lines."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from propcite.app.ingest.readers.draft import Draft
from propcite.app.ingest.readers.html.parts import (
    SKIPPED,
    is_aside,
    is_content,
    is_hidden,
    is_line_number,
    is_of_site,
    is_term,
)
from propcite.app.ingest.readers.html.table import Table
from propcite.app.ingest.readers.html.tree import tag_of
from propcite.app.ingest.readers.raised import lowered, raised
from propcite.app.ingest.readers.rows import SENTENCE_MARKS

_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form header hgroup hr html legend main nav ol p pre section summary table tbody tfoot thead ul "
    "h1 h2 h3 h4 h5 h6 li listing plaintext tr td th xmp".split()
)
_VERBATIM = ("pre", "listing", "plaintext", "xmp")
_MATHS = frozenset("mfrac mi mn mo mover mroot mrow msqrt mstyle msub msubsup msup mtext munder".split())
_POWERS = {"msup": 1, "msubsup": 2}  # the number of the part that is raised
_HEADING = re.compile("h[1-6]")
_MAX_LISTS = 40  # inside each other; those nested deeper are not indented further
_MAX_SHORT = 30  # words or elements of a definition whose term is no heading above it
_LOWEST_LEVEL = 6  # of a heading; terms come below
_MIN_PROSE = 8  # words outside links, of a block that says something


def write_blocks(draft: Draft, tree: Any, *, content_only: bool = False, main: Any = None) -> int:
    """Write the visible text of a tree; `content_only` leaves out the parts of the site, and all outside of `main`.

    Returns how many blocks of prose were left out for standing beside the content.
    """
    from lxml import etree

    writer = _Writer(draft, beside=main is not None)
    walk = etree.iterwalk(tree, events=("start", "end"))
    inside = 0  # elements that are marked as content
    aside: Any = None  # the open element whose blocks are only counted
    for event, element in walk:
        tag = tag_of(element)
        skipped = _is_skipped(tag, element, content_only, inside)
        if event == "start" and skipped:
            walk.skip_subtree()
        elif event == "start":
            if content_only and aside is None and is_aside(tag, element, inside=inside > 0):
                aside = element
                writer.turn(beside=True)
            elif element is main:
                writer.turn(beside=False)
            inside += is_content(tag, element)
            writer.open(tag, element)
            writer.words(element.text)
        else:
            if not skipped:
                writer.close(tag, element)
                inside -= is_content(tag, element)
            if element is aside:
                aside = None
                writer.turn(beside=main is not None)
            elif element is main:
                writer.turn(beside=True)
            if element is not tree:
                writer.words(element.tail)
    writer.end()
    return writer.num_beside


def _is_skipped(tag: str, element: Any, content_only: bool, inside: int) -> bool:
    if tag == "button" and is_term(element):
        return False
    if not tag or tag in SKIPPED or ((element.attrib or tag == "dialog") and is_hidden(tag, element)):
        return True
    return content_only and is_of_site(tag, element, inside=inside > 0)


class _Writer:
    def __init__(self, draft: Draft, *, beside: bool) -> None:
        self.draft = draft
        self.num_beside = 0
        self._beside = beside  # whether blocks are counted rather than written
        self._level = 0
        self._verbatim = 0  # the number of open <pre>
        self._links = 0
        self._scripts: list[str] = []  # the open elements that are above or below the line
        self._lists: list[bool] = []  # of the open lists, whether each is written as one
        self._terms: list[range | None] = []  # per open <dl>: the headings of its last term; None if terms are none
        self._table = Table()  # the open one
        self._words: list[str] = []
        self._lead = ""  # a term with a colon, which begins the line of its definition
        self._num_linked = 0

    @property
    def _writes_items(self) -> bool:
        return not self._beside and not self._table.in_row

    def turn(self, *, beside: bool) -> None:
        """End the block, and from here on count blocks as beside the content, or write them."""
        self.end()
        self._beside = beside

    def words(self, text: str | None) -> None:
        if text:
            words = text if self._verbatim else re.sub(r"\s+", " ", text)
            if self._scripts:
                before = "".join(self._words[-2:])
                words = lowered(words, before) if self._scripts[-1] == "sub" else raised(words)
            self._words.append(words)
            self._num_linked += len(text.split()) if self._beside and self._links else 0

    def open(self, tag: str, element: Any) -> None:
        if tag == "br":
            self._words.append("\n")
        elif tag == "q":
            self._words.append("“")
        elif tag in ("sub", "sup"):
            self._scripts.append(tag)
        elif tag in _MATHS:
            self._open_maths(tag, element)
        self._links += tag == "a"
        if tag not in _BLOCKS:
            return
        if tag in ("li", "dd") and self._table.in_row and element.getprevious() is not None:
            self._separate_item()
        self.flush()
        if _HEADING.fullmatch(tag):
            self._level = int(tag[1])
        match tag:
            case "ul" | "ol" | "dl":
                self._open_list(tag, element)
            case "dt" if self._terms and self._terms[-1] is not None:
                self.draft.end_terms(self._terms[-1])
                self._terms[-1] = range(len(self.draft.headings), 0)
                self._level = _LOWEST_LEVEL + len(self._terms)
            case "li" if self._writes_items:
                self.draft.open_item()
            case "pre" | "listing" | "plaintext" | "xmp":
                self._verbatim += 1
            case "table":
                self._write_rows()
            case "tr":
                self._table.open_row(element)

    def close(self, tag: str, element: Any) -> None:
        self._links -= tag == "a"
        if tag == "q":
            self._words.append("”")
        elif tag in ("sub", "sup") or (tag in _MATHS and _is_power(element)):
            self._scripts.pop()
        if tag in _MATHS and _is_sum_in_fraction(tag, element):
            self._words.append(")")
        if self._verbatim and is_line_number(element):
            self._words.append(" ")
        if tag not in _BLOCKS:
            return
        if tag in ("td", "th") and self._table.in_row:
            self._table.add_cell(element, "".join(self._words))
            self._words = []
        if tag == "dt" and self._lists and self._lists[-1]:
            self._keep_term()
        self.flush()
        if _HEADING.fullmatch(tag) or tag == "dt":
            self._level = 0
        match tag:
            case "ul" | "ol" | "dl":
                self._close_list(tag)
            case "dt" if self._terms and (terms := self._terms[-1]) is not None:
                self._terms[-1] = range(terms.start, len(self.draft.headings))
            case "li" if self._writes_items:
                self.draft.close_item()
            case "pre" | "listing" | "plaintext" | "xmp":
                self._verbatim -= 1
            case "tr":
                self._table.close_row()
            case "table":
                self._write_rows()

    def flush(self) -> None:
        """End the block; inside a table row only a space separates the blocks of a cell."""
        if self._table.in_row:
            self._words.append(" ")
            return
        words, self._words = "".join(self._words), []
        num_linked, self._num_linked = self._num_linked, 0
        if not self._verbatim:
            words = re.sub(r" *\n *", "\n", re.sub(r" +", " ", words)).strip()
        if self._beside:
            self.num_beside += len(words.split()) - num_linked >= _MIN_PROSE
            return
        if words.strip():
            self._write_rows()
            words, self._lead = self._lead + words, ""
        self.draft.block(words, level=self._level)

    def end(self) -> None:
        self.flush()
        self._write_lead()
        self._write_rows()

    def _separate_item(self) -> None:
        """Put a comma between two items of a list in a cell, unless the first ends with a mark of its own."""
        while self._words and not self._words[-1].strip():
            self._words.pop()
        if self._words and self._words[-1].rstrip()[-1] not in SENTENCE_MARKS:
            self._words[-1] = f"{self._words[-1].rstrip()},"

    def _open_maths(self, tag: str, element: Any) -> None:
        if tag_of(element.getparent()) == "mfrac" and element.getprevious() is not None:
            self._words.append("/")
        if _is_sum_in_fraction(tag, element):
            self._words.append("(")
        if _is_power(element):
            self._scripts.append("sup")

    def _keep_term(self) -> None:
        """Hold back a term that ends with a colon."""
        words = " ".join("".join(self._words).split())
        if words.endswith(":") and not self._table.in_row:
            self._lead, self._words = f"{self._lead}{words} ", []

    def _open_list(self, tag: str, element: Any) -> None:
        written = self._writes_items and sum(self._lists) < _MAX_LISTS and (tag != "dl" or _is_short_list(element))
        self._lists.append(written)
        if tag == "dl":
            self._terms.append(None if written or self._beside else range(0))
        if written:
            self.draft.open_list(_first_number(element) if tag == "ol" else None, element.get("type") or "1")

    def _close_list(self, tag: str) -> None:
        self._write_lead()
        if tag == "dl" and self._terms:
            self.draft.end_terms(self._terms.pop() or ())
        if self._lists and self._lists.pop():
            self.draft.close_list()

    def _write_lead(self) -> None:
        lead, self._lead = self._lead, ""
        self.draft.block(lead.strip())

    def _write_rows(self) -> None:
        table, self._table = self._table, Table()
        if not self._beside:
            table.write(self.draft)


def _is_power(element: Any) -> bool:
    """Whether a part of a formula is raised above the part before it."""
    parent = element.getparent()
    place = _POWERS.get(tag_of(parent), 0)
    return bool(place and len(parent) > place and parent[place] is element)


def _is_sum_in_fraction(tag: str, element: Any) -> bool:
    """Whether a part of a formula needs brackets, because a fraction is written in one line."""
    return tag == "mrow" and len(element) > 1 and tag_of(element.getparent()) == "mfrac"


def _first_number(element: Any) -> int | None:
    """Return the first item's number; None if the items do not count upwards one by one, or are not numbered."""
    if element.get("reversed") is not None or any(item.get("value") for item in element):
        return None
    start = element.get("start") or ""
    return int(start) if re.fullmatch(r"[0-9]{1,9}", start) else 1


def _is_short_list(element: Any) -> bool:
    """Return whether each definition is one short block; otherwise its term is a heading above it."""
    return all(sum(tag_of(block) in _BLOCKS for block in item) < 2 and _is_short(item) for item in element)


def _is_short(item: Any) -> bool:
    """Return whether a definition has few words; one of many elements is not read to its end."""
    if len(list(islice(item.iter(), _MAX_SHORT + 1))) > _MAX_SHORT:
        return False
    return sum(len(text.split()) for text in item.itertext()) <= _MAX_SHORT
