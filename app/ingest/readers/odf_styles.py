"""The styles of an OpenDocument file: titles, hidden and struck words, raised ones, and the labels of list items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from propcite.app.ingest.readers.list_numbers import numbered
from propcite.app.ingest.readers.xml import attribute, local_name

_KEYS = ("display", "text-line-through-style", "text-line-through-type", "text-position", "font-weight")
_MAX_PARENTS = 20  # styles that one is based on in turn; more are a cycle


@dataclass(frozen=True, slots=True)
class Look:
    """How the words of a style look: `super` or `sub` if they are above or below the line.

    `weight` is empty if the style does not say how bold they are.
    """

    is_hidden: bool = False
    script: str = ""
    weight: str = ""

    @property
    def is_bold(self) -> bool:
        return self.weight in ("bold", "600", "700", "800", "900")


class Styles:
    """The named and the automatic styles."""

    def __init__(self, elements: Iterable[Any]) -> None:
        self._elements: dict[tuple[str, str], Any] = {}
        for element in elements:
            if not attribute(element, "name"):
                continue  # the default of a family
            self._elements["", attribute(element, "name")] = element
            self._elements[attribute(element, "family"), attribute(element, "name")] = element
        self._looks: dict[tuple[str, str], Look] = {}

    def get(self, name: str, family: str = "") -> Any | None:
        return self._elements.get((family, name))

    def is_title(self, paragraph: Any) -> bool:
        """Whether a paragraph's style is Title, or is based on it."""
        name = attribute(paragraph, "style-name")
        bases = (attribute(style, "name") for style in self._bases(name, "paragraph"))
        return name == "Title" or "Title" in bases

    def look(self, name: str, family: str) -> Look:
        """Return how words of a style look; what it does not say, the styles that it is based on do."""
        if (family, name) not in self._looks:
            said: dict[str, str] = {}
            for style in self._bases(name, family):
                properties = style.find("{*}text-properties")
                for key in _KEYS:
                    if properties is not None and (value := attribute(properties, key)):
                        said.setdefault(key, value)
            struck = {said.get(f"text-line-through-{key}", "none") for key in ("style", "type")} != {"none"}
            hidden = struck or said.get("display") == "none"
            self._looks[family, name] = Look(hidden, _script(said), said.get("font-weight", ""))
        return self._looks[family, name]

    def _bases(self, name: str, family: str) -> Iterator[Any]:
        for _ in range(_MAX_PARENTS):
            style = self.get(name, family)
            if style is None:
                return
            yield style
            name = attribute(style, "parent-style-name")


def _script(said: dict[str, str]) -> str:
    place = said.get("text-position", "").split()
    if not place or place[0] in ("super", "sub"):
        return place[0] if place else ""
    height = place[0].removesuffix("%")
    return "" if not height.lstrip("-").rstrip("0.") else "sub" if height.startswith("-") else "super"


class Numbering:
    """Counts the list items of a document, each list by itself or as the one that it continues."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._by_id: dict[str, dict[int, int]] = {}
        self._by_style: dict[str, dict[int, int]] = {}

    def counts(self, element: Any) -> dict[int, int]:
        """Return the last number at each depth of an outermost list, before its first item."""
        name = attribute(element, "style-name")
        counts: dict[int, int] = {}
        if (before := attribute(element, "continue-list")) in self._by_id:
            counts = self._by_id[before]
        elif attribute(element, "continue-numbering") == "true":
            counts = self._by_style.get(name, counts)
        self._by_style[name] = counts
        if own := attribute(element, "id"):
            self._by_id[own] = counts
        return counts

    def label(self, style: Any | None, counts: dict[int, int], depth: int, item: Any) -> str:
        """Count an item and return its number as it is shown; empty if it has a bullet, a space if that is blank."""
        levels = {attribute(level, "level"): level for level in style} if style is not None else {}
        level = levels.get(str(depth))
        first = _number(attribute(item, "start-value"), -1)
        if first < 0:
            first = counts[depth] + 1 if depth in counts else _start(level)
        counts[depth] = first
        for deeper in [place for place in counts if place > depth]:
            del counts[deeper]
        if level is None or not local_name(level).endswith("number") or not attribute(level, "num-format"):
            return " " if level is not None and attribute(level, "bullet-char").isspace() else ""
        shown = range(depth - max(1, _number(attribute(level, "display-levels"), 1)) + 1, depth + 1)
        numbers = [
            numbered(counts.get(place, 1), attribute(levels[str(place)], "num-format"))
            for place in shown
            if str(place) in levels and attribute(levels[str(place)], "num-format")
        ]
        return f"{attribute(level, 'num-prefix')}{'.'.join(numbers)}{attribute(level, 'num-suffix')}".strip()


def _start(level: Any | None) -> int:
    return _number(attribute(level, "start-value"), 1) if level is not None else 1


def _number(text: str, default: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else default
