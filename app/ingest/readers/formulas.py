"""Write the formulas of Word and OpenDocument files (Office's own XML, and MathML) in one line."""

from __future__ import annotations

from typing import Any

from propcite.app.ingest.readers.raised import lowered, raised
from propcite.app.ingest.readers.xml import attribute, local_name

_INVISIBLE = dict.fromkeys(range(0x2061, 0x2065))  # signs of multiplication and the like
_OVER_LIMITS = frozenset(("lim", "max", "min", *"∫∬∭∮∑∏⋃⋂"))
_BRACKETS = ("(", ")")


def formula(element: Any) -> str:
    """Return a formula or a part of one as text; empty for properties and annotations.

    >>> from lxml.etree import fromstring
    >>> formula(fromstring("<math><msup><mi>x</mi><mn>2</mn></msup><mo>=</mo><mn>4</mn></math>"))
    'x²=4'
    """
    name = local_name(element)
    if name.endswith("Pr") or name.startswith("annotation"):
        return ""
    parts = [part for part in element if not local_name(part).endswith("Pr")]
    match name:
        case "t" | "mi" | "mn" | "mo" | "mtext":
            return "".join(element.itertext()).translate(_INVISIBLE).strip()
        case "sSup" | "msup" if len(parts) == 2:
            return formula(parts[0]) + _above(formula(parts[1]))
        case "msub" | "munder" if len(parts) == 2 and formula(parts[0]) in _OVER_LIMITS:
            return _with_limits(*map(formula, parts))
        case "msubsup" | "munderover" if len(parts) == 3 and formula(parts[0]) in _OVER_LIMITS:
            return _with_limits(*map(formula, parts))
        case "sSub" | "msub" if len(parts) == 2:
            return _below(formula(parts[0]), formula(parts[1]))
        case "sSubSup" | "msubsup" if len(parts) == 3:
            return _below(formula(parts[0]), formula(parts[1])) + _above(formula(parts[2]))
        case "f" | "mfrac" if len(parts) == 2:
            return "/".join(_in_brackets(formula(part)) for part in parts)
        case "rad" | "mroot" | "msqrt":
            root = next((part for part in parts if local_name(part) == "e"), None)
            inner = (
                formula(root) if root is not None else "".join(map(formula, parts[:1] if name == "mroot" else parts))
            )
            return f"√{_in_brackets(inner)}"
        case "d":
            return _bracketed(element, parts)
        case "nary":
            sign = element.find("{*}naryPr/{*}chr")
            by_name = {local_name(part): formula(part) for part in parts}
            shown = attribute(sign, "val") if sign is not None else "∫"
            return _with_limits(shown, by_name.get("sub", ""), by_name.get("sup", "")) + by_name.get("e", "")
    return "".join(map(formula, parts))


def _above(words: str) -> str:
    """Return an exponent; letters have no raised form."""
    level = raised(words)
    return level if level != words or not words.strip() else f"^{_in_brackets(words)}"


def _below(base: str, words: str) -> str:
    return base + lowered(words, base)


def _with_limits(sign: str, below: str, above: str = "") -> str:
    """Return a sum or an integral with its limits, which would else read as one number: ∫₀¹ or ∑_(i=1)ⁿ."""
    level = lowered(below, "0")
    if below.strip() and level == below:
        level = f"_{_in_brackets(below)}"
    return sign + level + (_above(above) if above.strip() else "")


def _in_brackets(words: str) -> str:
    """Return what is a part of a fraction or an exponent, in brackets unless it is one number or word."""
    words = words.strip()
    return words if words.replace(".", "").replace(",", "").isalnum() else f"({words})"


def _bracketed(element: Any, parts: list[Any]) -> str:
    signs = (element.find(f"{{*}}dPr/{{*}}{name}") for name in ("begChr", "endChr"))
    first, last = (
        attribute(sign, "val") if sign is not None else default for sign, default in zip(signs, _BRACKETS, strict=True)
    )
    return first + ", ".join(map(formula, parts)) + last
