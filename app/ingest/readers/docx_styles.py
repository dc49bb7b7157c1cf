"""A Word document's styles and numbers: which paragraph is a heading, and the label that stands before an item."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from propcite.app.ingest.readers.xml import attribute

_HEADING = re.compile(r"heading (\d)")
_DEEPEST = 20  # styles based on each other; more go round


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph's style says of it: a heading's level or 0, and its list where the style has one."""

    level: int = 0
    is_title: bool = False
    is_contents: bool = False  # a line of the table of contents
    number: tuple[str, str] = ("", "")  # list and level


@dataclass(frozen=True, slots=True)
class Label:
    marker: str
    depth: int
    is_bullet: bool


class Styles:
    """Styles by their ids.  The names of those that Word brings are English in every language, the ids are not."""

    def __init__(self, root: Any | None) -> None:
        found = root.iterfind("{*}style") if root is not None else ()
        self._styles = {attribute(style, "styleId"): style for style in found}
        self._known: dict[str, Style] = {}

    def of(self, paragraph: Any) -> Style:
        """The paragraph's style, with a level that it states itself."""
        name = _value(paragraph, "pPr/pStyle")
        style = self._known.get(name) or self._known.setdefault(name, self._read(name))
        own = _value(paragraph, "pPr/outlineLvl")
        return Style(_level(own), False, style.is_contents, style.number) if own else style

    def _read(self, name: str) -> Style:
        level, title, contents, number, depth = 0, False, False, "", ""
        for _ in range(_DEEPEST):
            style = self._styles.get(name)
            if style is None:
                break
            called = _value(style, "name").lower()
            title = title or called == "title"
            contents = contents or called.startswith(("toc ", "contents ", "index ", "table of figures"))
            outline = _value(style, "pPr/outlineLvl")
            stated = _HEADING.fullmatch(called)
            level = level or (int(stated[1]) if stated else _level(outline))
            number = number or _value(style, "pPr/numPr/numId")
            depth = depth or _value(style, "pPr/numPr/ilvl")
            name = _value(style, "basedOn")
        contents = contents and not level
        return Style(1 if title else level, title, contents, (number, depth))


class Numbering:
    """The lists of a document, counted as its paragraphs come."""

    def __init__(self, root: Any | None) -> None:
        self._levels: dict[str, dict[int, Any]] = {}  # of each abstract list
        self._lists: dict[str, str] = {}  # the abstract list of each
        self._starts: dict[tuple[str, int], int] = {}  # where a list starts a level anew
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()
        for abstract in root.iterfind("{*}abstractNum") if root is not None else ():
            levels = {_number(attribute(level, "ilvl")): level for level in abstract.iterfind("{*}lvl")}
            self._levels[attribute(abstract, "abstractNumId")] = levels
        for one in root.iterfind("{*}num") if root is not None else ():
            self._lists[attribute(one, "numId")] = _value(one, "abstractNumId")
            for changed in one.iterfind("{*}lvlOverride"):
                if start := _value(changed, "startOverride"):
                    self._starts[attribute(one, "numId"), _number(attribute(changed, "ilvl"))] = _number(start)

    def label(self, paragraph: Any, style: Style) -> Label | None:
        """What stands before the paragraph, counted on; None where it is in no list."""
        number = _value(paragraph, "pPr/numPr/numId") or style.number[0]
        depth = _number(_value(paragraph, "pPr/numPr/ilvl") or style.number[1])
        levels = self._levels.get(self._lists.get(number, ""), {})
        level = levels.get(depth)
        if level is None:
            return None
        counts = self._count(number, depth, levels)
        form = _value(level, "numFmt")
        if form in ("bullet", "none"):
            return Label("", depth + 1, is_bullet=True) if form == "bullet" else None
        marker = _value(level, "lvlText")
        for place in range(depth, -1, -1):
            shown = _shown(counts.get(place, 1), _value(levels[place], "numFmt") if place in levels else "")
            marker = marker.replace(f"%{place + 1}", shown)
        return Label(marker.strip(), depth + 1, is_bullet=False) if marker.strip() else None

    def _count(self, number: str, depth: int, levels: dict[int, Any]) -> dict[int, int]:
        counts = self._counts.setdefault(self._lists[number], {})
        anew = self._starts.get((number, depth))
        if anew is not None and (number, depth) not in self._begun:
            counts[depth] = anew
        elif depth in counts:
            counts[depth] += 1
        else:
            counts[depth] = _number(_value(levels[depth], "start") or "1")
        self._begun.add((number, depth))
        for deeper in [place for place in counts if place > depth]:
            del counts[deeper]
        return counts


def _shown(count: int, form: str) -> str:
    """
    >>> _shown(4, "lowerRoman"), _shown(28, "upperLetter"), _shown(4, "decimal")
    ('iv', 'BB', '4')
    """
    match form:
        case "lowerLetter" | "upperLetter":
            letters = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1) if 0 < count < 260 else str(count)
            return letters.upper() if form == "upperLetter" else letters
        case "lowerRoman" | "upperRoman":
            return _roman(count).lower() if form == "lowerRoman" else _roman(count)
    return str(count)


def _roman(count: int) -> str:
    if not 0 < count < 1000:
        return str(count)
    signs = ((900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"))
    found = ""
    for value, sign in (*signs, (5, "V"), (4, "IV"), (1, "I")):
        found += sign * (count // value)
        count %= value
    return found


def _level(outline: str) -> int:
    """A heading's level from 1; Word's 9 is the text itself."""
    level = _number(outline) if outline else 9
    return level + 1 if level < 9 else 0


def _value(element: Any, path: str) -> str:
    found = element.find("/".join(f"{{*}}{step}" for step in path.split("/")))
    return attribute(found, "val") if found is not None else ""


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else 0
