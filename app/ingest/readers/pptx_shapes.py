"""The shapes of a slide with their roles and positions, in reading order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from propcite.app.ingest.readers.xml import attribute, local_name

_BAND = 300_000  # a third of an inch: shapes whose tops are this close are in one row
_MAX_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Shape:
    element: Any
    role: str  # of a placeholder, such as title or body; empty for other shapes
    left: float
    top: float


@dataclass(frozen=True, slots=True)
class _Frame:
    """The coordinates inside a group: `outer = offset + inner * scale`."""

    left: float = 0
    top: float = 0
    across: float = 1
    down: float = 1


def shapes_of(tree: Any, layout: Any | None, frame: _Frame | None = None, depth: int = 0) -> Iterator[Shape]:
    """Yield the shapes that are shown and may have text, including those in groups."""
    frame = frame or _Frame()
    for element in tree:
        if any(attribute(properties, "hidden") in ("1", "true") for properties in element.iterfind("*/{*}cNvPr")):
            continue
        match local_name(element):
            case "grpSp" if depth < _MAX_DEPTH:
                yield from shapes_of(element, layout, _group_frame(element, frame), depth + 1)
            case "AlternateContent":
                choice = element.find("{*}Choice")
                if choice is not None and depth < _MAX_DEPTH:
                    yield from shapes_of(choice, layout, frame, depth + 1)
            case "sp" | "graphicFrame":
                role, number = _placeholder(element)
                left, top = _offset(element) or _offset_in(layout, role, number) or (0.0, 0.0)
                yield Shape(element, role, frame.left + left * frame.across, frame.top + top * frame.down)


def in_reading_order(shapes: Sequence[Shape]) -> list[Shape]:
    """Sort shapes from top to bottom, and those in one row from left to right."""
    ordered: list[Shape] = []
    band: list[Shape] = []
    for shape in sorted(shapes, key=lambda shape: shape.top):
        if band and shape.top > band[0].top + _BAND:
            ordered += sorted(band, key=lambda shape: shape.left)
            band = []
        band.append(shape)
    return ordered + sorted(band, key=lambda shape: shape.left)


def _placeholder(element: Any) -> tuple[str, str]:
    """Return the role and number of a placeholder, whose role is `obj` by default; empty for other shapes."""
    placeholder = next(element.iterfind("*/{*}nvPr/{*}ph"), None)
    if placeholder is None:
        return "", ""
    return attribute(placeholder, "type", "obj"), attribute(placeholder, "idx", "0")


def _offset_in(layout: Any | None, role: str, number: str) -> tuple[float, float] | None:
    """Return the position of the layout's placeholder that the slide's one inherits; None if there is none."""
    if layout is None or not role:
        return None
    shapes = [(_placeholder(shape), shape) for shape in layout.iter("{*}sp")]
    same = [shape for (_, n), shape in shapes if n == number] or [shape for (r, _), shape in shapes if r == role]
    return _offset(same[0]) if same else None


def _offset(element: Any) -> tuple[float, float] | None:
    offset = element.find("{*}spPr/{*}xfrm/{*}off")
    offset = element.find("{*}xfrm/{*}off") if offset is None else offset
    return None if offset is None else (_measure(offset, "x"), _measure(offset, "y"))


def _group_frame(group: Any, frame: _Frame) -> _Frame:
    transform = group.find("{*}grpSpPr/{*}xfrm")
    names = ("off", "ext", "chOff", "chExt") if transform is not None else ()
    parts = [transform.find(f"{{*}}{name}") for name in names]
    if not parts or any(part is None for part in parts):
        return frame
    off, size, inner, inner_size = parts
    across = _measure(size, "cx") / (_measure(inner_size, "cx") or 1)
    down = _measure(size, "cy") / (_measure(inner_size, "cy") or 1)
    left, top = _measure(off, "x") - _measure(inner, "x") * across, _measure(off, "y") - _measure(inner, "y") * down
    return _Frame(
        frame.left + left * frame.across, frame.top + top * frame.down, frame.across * across, frame.down * down
    )


def _measure(element: Any, name: str) -> float:
    try:
        return float(attribute(element, name, "0"))
    except ValueError:
        return 0.0
