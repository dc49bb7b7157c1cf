"""A Word document's styles and numbering: which paragraphs are headings, and the labels of list items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from propcite.app.ingest.readers.list_numbers import numbered
from propcite.app.ingest.readers.xml import attribute

_HEADING = re.compile(r"heading (\d)")
_FORMS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
_MAX_BASES = 20  # styles that one is based on in turn; more are a cycle


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph's style says: its heading level or 0, and its list, if any."""

    level: int = 0
    is_title: bool = False
    is_contents: bool = False  # whether it is a line of a table of contents
    number: tuple[str, str] = ("", "")  # of the list, and the level in it


@dataclass(frozen=True, slots=True)
class Label:
    marker: str
    depth: int
    is_bullet: bool
    continues: bool = False  # whether its bullet is blank: it is one more paragraph of the item above


class Styles:
    """Styles by id.  The names of Word's built-in styles are English in every language, their ids are not."""

    def __init__(self, root: Any | None) -> None:
        elements = root.iterfind("{*}style") if root is not None else ()
        self._elements = {attribute(element, "styleId"): element for element in elements}
        self._cache: dict[str, Style] = {}
        self._marks: dict[tuple[str, str], bool | None] = {}  # by style: whether it says that words are bold or hidden

    def of(self, paragraph: Any) -> Style:
        """Return the paragraph's style; an outline level of its own overrides that of the style."""
        id_ = value_of(paragraph, "pPr/pStyle")
        style = self._cache.get(id_) or self._cache.setdefault(id_, self._read(id_))
        own = value_of(paragraph, "pPr/outlineLvl")
        return Style(_level(own), False, style.is_contents, style.number) if own else style

    def _read(self, id_: str) -> Style:
        """Read a style; properties that it lacks come from the styles that it is based on."""
        level, title, contents, number, depth = 0, False, False, "", ""
        for element in self._bases(id_):
            name = value_of(element, "name").lower()
            title = title or name == "title"
            contents = contents or name.startswith(("toc ", "contents ", "index ", "table of figures"))
            heading = _HEADING.fullmatch(name)
            level = level or (int(heading[1]) if heading else _level(value_of(element, "pPr/outlineLvl")))
            number = number or value_of(element, "pPr/numPr/numId")
            depth = depth or value_of(element, "pPr/numPr/ilvl")
        contents = contents and not level
        return Style(1 if title else level, title, contents, (number, depth))

    def is_bold(self, row: Any) -> bool:
        """Whether all words of a table row are in bold letters, by their own format or by a style."""
        runs = [run for run in row.iter("{*}r") if "".join(run.itertext("{*}t")).strip()]
        return bool(runs) and all(self._says(run, "b") for run in runs)

    def is_hidden(self, run: Any) -> bool:
        """Whether the words of a run are hidden or struck out, by their own format or by a style."""
        return any(self._says(run, mark) for mark in ("vanish", "strike", "dstrike"))

    def has_bold_names(self, table: Any) -> bool:
        """Whether the style of a table shows its first row in bold letters."""
        look = table.find("{*}tblPr/{*}tblLook")
        if look is None or not (attribute(look, "firstRow") == "1" or _has_first_row(attribute(look, "val"))):
            return False
        parts = (part for style in self._bases(value_of(table, "tblPr/tblStyle")) for part in style)
        names = [part for part in parts if attribute(part, "type") == "firstRow"]
        return any(is_on(part, "rPr/b") for part in names)

    def _says(self, run: Any, mark: str) -> bool:
        """Whether a run has a mark, as it says itself, or else its style, or else that of its paragraph."""
        if (own := is_on(run, f"rPr/{mark}")) is not None:
            return own
        paragraph = next(run.iterancestors("{*}p"), None)
        styles = value_of(run, "rPr/rStyle"), value_of(paragraph, "pPr/pStyle") if paragraph is not None else ""
        said = (self._style_says(id_, mark) for id_ in styles)
        return next((is_marked for is_marked in said if is_marked is not None), False)

    def _style_says(self, id_: str, mark: str) -> bool | None:
        if (id_, mark) not in self._marks:
            said = (is_on(style, f"rPr/{mark}") for style in self._bases(id_))
            self._marks[id_, mark] = next((is_marked for is_marked in said if is_marked is not None), None)
        return self._marks[id_, mark]

    def _bases(self, id_: str) -> Iterator[Any]:
        """Yield a style and those that it is based on in turn."""
        for _ in range(_MAX_BASES):
            element = self._elements.get(id_)
            if element is None:
                return
            yield element
            id_ = value_of(element, "basedOn")


class Numbering:
    """Numbers the list items of a document in the order of its paragraphs."""

    def __init__(self, root: Any | None) -> None:
        self._levels: dict[str, dict[int, Any]] = {}  # by abstract list
        self._lists: dict[str, str] = {}  # the abstract list of each list
        self._starts: dict[tuple[str, int], int] = {}  # the number at which a list restarts a level
        self._counts: dict[str, dict[int, int]] = {}  # by abstract list and level
        self._begun: set[tuple[str, int]] = set()
        for abstract in root.iterfind("{*}abstractNum") if root is not None else ():
            levels = {_number(attribute(level, "ilvl")): level for level in abstract.iterfind("{*}lvl")}
            self._levels[attribute(abstract, "abstractNumId")] = levels
        for element in root.iterfind("{*}num") if root is not None else ():
            self._lists[attribute(element, "numId")] = value_of(element, "abstractNumId")
            for override in element.iterfind("{*}lvlOverride"):
                if start := value_of(override, "startOverride"):
                    self._starts[attribute(element, "numId"), _number(attribute(override, "ilvl"))] = _number(start)

    def label(self, paragraph: Any, style: Style) -> Label | None:
        """Count the paragraph and return its label; None if it is not in a list or has no visible label."""
        number = value_of(paragraph, "pPr/numPr/numId") or style.number[0]
        depth = _number(value_of(paragraph, "pPr/numPr/ilvl") or style.number[1])
        levels = self._levels.get(self._lists.get(number, ""), {})
        level = levels.get(depth)
        if level is None:
            return None
        counts = self._count(number, depth, levels)
        form = value_of(level, "numFmt")
        marker = value_of(level, "lvlText")
        if form in ("bullet", "none"):
            return Label("", depth + 1, is_bullet=True, continues=marker.isspace()) if form == "bullet" else None
        for place in range(depth, -1, -1):
            number_format = value_of(levels[place], "numFmt") if place in levels else ""
            marker = marker.replace(f"%{place + 1}", numbered(counts.get(place, 1), _FORMS.get(number_format, "1")))
        return Label(marker.strip(), depth + 1, is_bullet=False) if marker.strip() else None

    def _count(self, number: str, depth: int, levels: dict[int, Any]) -> dict[int, int]:
        counts = self._counts.setdefault(self._lists[number], {})
        restart = self._starts.get((number, depth))
        if restart is not None and (number, depth) not in self._begun:
            counts[depth] = restart
        elif depth in counts:
            counts[depth] += 1
        else:
            counts[depth] = _number(value_of(levels[depth], "start") or "1")
        self._begun.add((number, depth))
        for deeper in [place for place in counts if place > depth]:
            del counts[deeper]
        return counts


def _level(outline: str) -> int:
    """Return a heading level from 1; 0 for Word's outline level 9, which is body text."""
    level = _number(outline) if outline else 9
    return level + 1 if level < 9 else 0


def value_of(element: Any, path: str) -> str:
    """Return the `val` of the element at a path; empty if there is none."""
    child = element.find("/".join(f"{{*}}{step}" for step in path.split("/")))
    return attribute(child, "val") if child is not None else ""


def is_on(element: Any, path: str) -> bool | None:
    """Return whether the switch at a path is on; None if there is none."""
    switch = element.find("/".join(f"{{*}}{step}" for step in path.split("/")))
    return attribute(switch, "val", "1") not in ("0", "false", "off") if switch is not None else None


def _has_first_row(mask: str) -> bool:
    """Whether a mask of the parts of a table that have a format of their own includes the first row."""
    return re.fullmatch("[0-9A-Fa-f]{4}", mask) is not None and bool(int(mask, 16) & 0x20)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else 0
