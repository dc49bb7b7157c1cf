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
SHAPES = frozenset("custom-shape rect ellipse circle polygon path line polyline connector caption".split())
_ASIDE = SHAPES | {"note", "text-box"}
_MAX_SPACES = 100


class Words:
    """Reads the words of paragraphs, with the formulas that the file has in parts of their own."""

    def __init__(self, archive: Archive, styles: Styles) -> None:
        self.styles = styles
        self._archive = archive

    def of(self, paragraph: Any, aside: list[Any] | None = None) -> str:
        """Return a paragraph's text, and add the notes, text boxes, charts and sheets in it to `aside`."""
        return "".join(self._pieces(paragraph, aside if aside is not None else []))

    def in_cell(self, cell: Any) -> Iterator[tuple[str, str, bool]]:
        """Yield the text of each paragraph of a cell, without those of its comments and notes, as `cell_text` wants."""
        from lxml import etree

        walk = etree.iterwalk(cell, events=("start",))
        for _, element in walk:
            tag = local_name(element)
            if tag in SKIPPED or tag == "note" or tag in SHAPES:
                walk.skip_subtree()
            elif tag in ("p", "h"):
                yield self.of(element), "", local_name(element.getparent()) == "list-item"
                walk.skip_subtree()

    def are_bold(self, element: Any) -> bool:
        """Whether all words in an element are in bold letters; not if it has none."""
        parts = (part for part in element.iter("{*}p", "{*}h", "{*}span") if _has_words(part))
        weights = [self._is_bold(part) for part in parts]
        return bool(weights) and all(weights)

    def _is_bold(self, part: Any) -> bool:
        for element in (part, *part.iterancestors()):
            tag = local_name(element)
            look = self._look(element, tag)
            if look.weight or tag in ("p", "h"):
                return look.is_bold
        return False

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
                if tag == "object":
                    if not pieces[0]:
                        aside.append(part)
                    walk.skip_subtree()
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
                return self.formula_of(part)
        return ""

    def inside(self, styles: Styles) -> Words:
        """Return what reads the words of an object with styles of its own."""
        return Words(self._archive, styles)

    def formula_of(self, part: Any) -> str:
        """Return the formula of an object; empty for other objects."""
        root = self.object_of(part)
        return formula(root) if root is not None and local_name(root) == "math" else ""

    def object_of(self, part: Any) -> Any | None:
        """Return the root of an object, which is inside it or in a part of the file; None if there is none."""
        for inner in part:
            if local_name(inner) in ("document", "math"):
                return inner
        path = normpath(attribute(part, "href").removeprefix("./")) + "/content.xml"
        return parse_xml(self._archive.name, self._archive.read(path)) if path in self._archive.members else None


def _has_words(part: Any) -> bool:
    """Whether a part has words that are in none of the parts inside it."""
    return any(words and words.strip() for words in (part.text, *(inner.tail for inner in part)))


def _without_breaks(text: str | None) -> str:
    """Replace line breaks, which are only layout of the XML, by spaces."""
    return " ".join((text or "").replace("\n", " ").split(" "))
