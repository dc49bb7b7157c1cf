"""The words of a paragraph of an OpenDocument file as they are shown, and the paragraphs of a cell."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath
from typing import Any

from propcite.app.ingest.readers.archive import Archive
from propcite.app.ingest.readers.formulas import formula
from propcite.app.ingest.readers.odf_styles import Look, Styles
from propcite.app.ingest.readers.raised import lowered, raised
from propcite.app.ingest.readers.xml import attribute, local_name, parse_xml

# Deleted text, comments, forms, generated tables of contents, numbers of list items, and what is hidden on a condition.
SKIPPED = frozenset(
    "tracked-changes annotation annotation-end forms table-of-content number ruby-text desc title hidden-text".split()
)
_ASIDE = ("note", "text-box")
_MAX_SPACES = 100


class Words:
    """Reads the words of paragraphs, with the formulas that the file has in parts of their own."""

    def __init__(self, archive: Archive, styles: Styles) -> None:
        self.styles = styles
        self._archive = archive

    def of(self, paragraph: Any, aside: list[Any] | None = None) -> str:
        """Return a paragraph's text, and add the notes and text boxes in it to `aside`."""
        return "".join(self._pieces(paragraph, aside if aside is not None else []))

    def in_cell(self, cell: Any) -> Iterator[tuple[str, str, bool]]:
        """Yield the text of each paragraph of a cell, without those of its comments and notes, as `cell_text` wants."""
        from lxml import etree

        walk = etree.iterwalk(cell, events=("start",))
        for _, element in walk:
            tag = local_name(element)
            if tag in SKIPPED or tag == "note":
                walk.skip_subtree()
            elif tag in ("p", "h"):
                yield self.of(element), "", local_name(element.getparent()) == "list-item"
                walk.skip_subtree()

    def _pieces(self, element: Any, aside: list[Any]) -> Iterator[str]:
        from lxml import etree

        looks = [Look(False)]
        before = ""
        walk = etree.iterwalk(element, events=("start", "end"))
        for event, part in walk:
            tag = local_name(part)
            is_span = tag in ("span", "p", "h")
            if event == "end":
                if is_span:
                    looks.pop()
                pieces = [_without_breaks(part.tail) if part is not element else ""]
            else:
                look = self._look(part, tag) if is_span else looks[-1]
                if tag in SKIPPED or tag in _ASIDE or (look.is_hidden and is_span):
                    if tag in _ASIDE:
                        aside.append(part)
                    if is_span:
                        looks.append(looks[-1])  # its end is still to come
                    walk.skip_subtree()
                    continue
                if is_span:
                    looks.append(look)
                pieces = [self._shown(tag, part), _without_breaks(part.text)]
            script = looks[-1].script
            for words in filter(None, pieces):
                if script:
                    words = raised(words) if script == "super" else lowered(words, before)
                before = words
                yield words

    def _look(self, part: Any, tag: str) -> Look:
        return self.styles.look(attribute(part, "style-name"), "text" if tag == "span" else "paragraph")

    def _shown(self, tag: str, part: Any) -> str:
        """Return what an element stands for; empty if it only holds others."""
        match tag:
            case "s":
                count = attribute(part, "c", "1")
                return " " * min(int(count) if count.isdecimal() and len(count) < 5 else 1, _MAX_SPACES)
            case "tab":
                return " "
            case "line-break":
                return "\n"
            case "object":
                return self._formula(part)
        return ""

    def _formula(self, part: Any) -> str:
        """Return the formula of an object, which is inside it or in a part of the file; empty for other objects."""
        path = normpath(attribute(part, "href").removeprefix("./")) + "/content.xml"
        inner = part.find("{*}math")
        if inner is None and path in self._archive.members:
            root = parse_xml(self._archive.name, self._archive.read(path))
            inner = root if local_name(root) == "math" else None
        return formula(inner) if inner is not None else ""


def _without_breaks(text: str | None) -> str:
    """Replace line breaks, which are only layout of the XML, by spaces."""
    return " ".join((text or "").replace("\n", " ").split(" "))
