"""The shapes of a slide: what each is for, where it is seen, and in which order a person reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from propcite.app.ingest.readers.xml import attribute, local

_BAND = 300_000  # a third of an inch: shapes that begin this near to each other stand in one line
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class Shape:
    element: Any
    role: str  # of a placeholder: title, body, …; empty for other shapes
    left: float
    top: float


@dataclass(frozen=True, slots=True)
class _Frame:
    """How a group places its shapes: `outer = offset + inner * scale`."""

    left: float = 0
    top: float = 0
    across: float = 1
    down: float = 1


def shapes_of(tree: Any, layout: Any | None, frame: _Frame | None = None, depth: int = 0) -> Iterator[Shape]:
    """The shapes with words, those of groups among them."""
    frame = frame or _Frame()
    for element in tree:
        match local(element):
            case "grpSp" if depth < _DEEPEST:
                yield from shapes_of(element, layout, _framed(element, frame), depth + 1)
            case "AlternateContent":
                choice = element.find("{*}Choice")
                if choice is not None and depth < _DEEPEST:
                    yield from shapes_of(choice, layout, frame, depth + 1)
            case "sp" | "graphicFrame":
                role, number = _placeholder(element)
                left, top = _offset(element) or _offset_in(layout, role, number) or (0.0, 0.0)
                yield Shape(element, role, frame.left + left * frame.across, frame.top + top * frame.down)


def in_reading_order(shapes: Sequence[Shape]) -> list[Shape]:
    """From top to bottom, and those in one line from left to right."""
    ordered: list[Shape] = []
    band: list[Shape] = []
    for shape in sorted(shapes, key=lambda shape: shape.top):
        if band and shape.top > band[0].top + _BAND:
            ordered += sorted(band, key=lambda shape: shape.left)
            band = []
        band.append(shape)
    return ordered + sorted(band, key=lambda shape: shape.left)


def _placeholder(element: Any) -> tuple[str, str]:
    """Its role and number; one that states no role is for anything."""
    found = next(element.iterfind("*/{*}nvPr/{*}ph"), None)
    return ("", "") if found is None else (attribute(found, "type", "obj"), attribute(found, "idx", "0"))


def _offset_in(layout: Any | None, role: str, number: str) -> tuple[float, float] | None:
    """Where the layout has the placeholder that the slide fills."""
    if layout is None or not role:
        return None
    shapes = [(_placeholder(shape), shape) for shape in layout.iter("{*}sp")]
    same = [shape for (_, n), shape in shapes if n == number] or [shape for (r, _), shape in shapes if r == role]
    return _offset(same[0]) if same else None


def _offset(element: Any) -> tuple[float, float] | None:
    place = element.find("{*}spPr/{*}xfrm/{*}off")
    place = element.find("{*}xfrm/{*}off") if place is None else place
    return None if place is None else (_measure(place, "x"), _measure(place, "y"))


def _framed(group: Any, frame: _Frame) -> _Frame:
    placed = group.find("{*}grpSpPr/{*}xfrm")
    parts = [placed.find(f"{{*}}{name}") for name in ("off", "ext", "chOff", "chExt")] if placed is not None else []
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
