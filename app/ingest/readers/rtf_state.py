"""How the words of a rich text file look at a place in it, and its fonts and styles."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from propcite.app.ingest.readers.rtf_tokens import code_page

_MAX_NAME = 200
_HEADING = re.compile(r"heading ([1-9])")


@dataclass(frozen=True, slots=True)
class State:
    """What a group hands to the groups inside it: where its words go, how they look, and the paragraph's form."""

    into: str = "body"  # or `note`, `box`, `label`, `title`, `author`, or a place that is not read
    font: int = -1
    hidden: frozenset[str] = frozenset()
    script: str = ""
    bold: bool = False
    skip_after_unicode: int = 1
    level: int = 0
    style: int = 0
    depth: int = 0
    in_table: bool = False

    def look(self, word: str, number: int | None) -> State | None:
        """Return the state after a word on how words look; None for other words."""
        match word:
            case "f":
                return replace(self, font=number or 0)
            case "uc":
                return replace(self, skip_after_unicode=max(0, number or 0))
            case "plain":
                return replace(self, font=-1, hidden=frozenset(), script="", bold=False)
            case "b":
                return replace(self, bold=number != 0)
            case "v" | "deleted" | "strike" | "striked":
                return replace(self, hidden=self.hidden - {word} if number == 0 else self.hidden | {word})
            case "super" | "sub":
                return replace(self, script="" if number == 0 else word)
            case "up" | "dn":
                return replace(self, script="" if number == 0 else "super" if word == "up" else "sub")
            case "nosupersub":
                return replace(self, script="")
        return None


class Fonts:
    """The code pages and names of fonts by number."""

    def __init__(self) -> None:
        self.default = 0
        self.default_page = "cp1252"  # of fonts that state none
        self._open = 0
        self._fonts: dict[int, tuple[str, str]] = {}

    def word(self, word: str, number: int | None) -> None:
        """Take a word of the list of fonts."""
        if word == "f":
            self._open = number or 0
            self._fonts[self._open] = self.default_page, ""
        elif word == "fcharset":
            self._fonts[self._open] = code_page(number or 0, self.default_page), ""

    def text(self, words: str) -> None:
        """Take a part of the open font's name."""
        page, name = self._fonts.get(self._open, (self.default_page, ""))
        self._fonts[self._open] = page, (name + words).partition(";")[0].strip()[:_MAX_NAME]

    def page(self, number: int) -> str:
        """Return the code page of a font; -1 is the default one."""
        return self._fonts.get(number if number >= 0 else self.default, (self.default_page, ""))[0]

    def name(self, number: int) -> str:
        return self._fonts.get(number, ("", ""))[1]


@dataclass(slots=True)
class _Style:
    name: str = ""
    level: int = 0
    base: int = -1


class Styles:
    """The names, heading levels and bases of paragraph styles by number; those of characters are negative."""

    def __init__(self) -> None:
        self._open = 0
        self._styles = {0: _Style()}

    def word(self, word: str, number: int | None) -> None:
        """Take a word of the list of styles."""
        match word:
            case "s" | "cs" | "ds" | "ts":
                self._open = number or 0 if word == "s" else -1 - (number or 0)
                self._styles[self._open] = _Style()
            case "sbasedon":
                self._styles[self._open].base = number if number is not None else -1
            case "outlinelevel":
                self._styles[self._open].level = level_of(number)

    def text(self, words: str) -> None:
        """Take a part of the open style's name."""
        style = self._styles[self._open]
        style.name = (style.name + words).partition(";")[0][:_MAX_NAME]

    def heading(self, number: int) -> tuple[int, bool]:
        """Return the heading level of a style or of those that it is based on, and whether it is the title's."""
        for _ in range(len(self._styles)):
            style = self._styles.get(number)
            if style is None:
                break
            name = style.name.strip().lower()
            if name == "title":
                return 1, True
            if named := _HEADING.fullmatch(name):
                return int(named[1]), False
            if style.level:
                return style.level, False
            number = style.base
        return 0, False


def level_of(outline: int | None) -> int:
    """Return a heading level from 1; 0 for body text."""
    return (outline or 0) + 1 if 0 <= (outline or 0) < 9 else 0
