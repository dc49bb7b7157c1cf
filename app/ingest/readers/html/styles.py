"""Apply the style sheets of a book to its pages, as far as they hide words, strike them or put them above the line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from propcite.app.ingest.readers.html.tree import tag_of

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CONDITION = re.compile(r"@[a-z-]+[^{};]*+\{(?:[^{}]*+\{[^{}]*+\})*+[^{}]*+\}")  # such as @media print
_CLASS = re.compile(r"(?:[a-z][a-z0-9]*)?\.([\w-]+)", re.IGNORECASE)
_SHOWN = re.compile(r"(?:^|;)\s*display\s*:\s*(?!none)\w")
_HIDING = r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|text-decoration(?:-line)?\s*:[^;]*line-through)"
_LOOKS = {
    "del": re.compile(_HIDING),
    "sup": re.compile(r"(?:^|;)\s*(?:vertical-align\s*:\s*super|top\s*:\s*-\s*0?\.\d+em)"),
    "sub": re.compile(r"(?:^|;)\s*vertical-align\s*:\s*sub\b"),
}
_RAISED = ("span", "a", "small", "font", "i", "b", "em")  # elements that may be within a word
_MAX_SHEET = 2**20  # characters
_MAX_RULE = 2000


def apply_sheets(tree: Any, sheets: Iterable[str]) -> None:
    """Turn elements whose classes give them such a look into `del`, `sup` or `sub`; later rules win.

    Notes that a reading program shows in a window of its own are hidden and stay.
    """
    looks: dict[str, str] = {}
    for sheet in sheets:
        looks |= _looks(sheet)
    for element in tree.iter() if any(looks.values()) else ():
        look = next((looks[name] for name in (element.get("class") or "").split() if looks.get(name)), "")
        is_note = tag_of(element) in ("aside", "body") or any("type" in name for name in element.attrib)
        if (look == "del" and not is_note) or (look in ("sup", "sub") and tag_of(element) in _RAISED):
            element.tag = look


@lru_cache(maxsize=8)
def _looks(sheet: str) -> dict[str, str]:
    """Return the look of each class that has one; an empty one where a rule only shows it again."""
    looks: dict[str, str] = {}
    for rule in _CONDITION.sub("", _COMMENT.sub("", sheet[:_MAX_SHEET])).split("}"):
        selectors, _, declarations = rule[-_MAX_RULE:].rpartition("{")
        declarations = declarations.lower()
        look = next((tag for tag, form in _LOOKS.items() if form.search(declarations)), "")
        if look or _SHOWN.search(declarations):
            for selector in selectors.split(","):
                if named := _CLASS.fullmatch(selector.strip()):
                    looks[named[1]] = look
    return looks
