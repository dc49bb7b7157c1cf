"""Figures under their names, for people and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, fields
from typing import Any

NONE = "-"
BETWEEN = ("_low", "_high")  # behind a figure's name: what it lies between


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> str:
    """One line a row, columns as wide as they must be; `left` tells which are words.

    >>> print(aligned([["a", "n"], ["bc", "10"]], left={0}))
    a    n
    bc  10
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def as_table(told: Sequence[Any]) -> str:
    """Values of one dataclass, its fields as columns; a figure that has a low and a high has them behind it."""
    every = [field.name for field in fields(told[0])]
    names = [name for name in every if not any(name == f"{other}{end}" for other in every for end in BETWEEN)]
    columns = [_with_interval(told, name) if f"{name}{BETWEEN[0]}" in every else _column(told, name) for name in names]
    words = {at for at, name in enumerate(names) if isinstance(getattr(told[0], name), str)}
    return aligned([[name.replace("_", " ") for name in names], *zip(*columns, strict=True)], words)


def _with_interval(told: Sequence[Any], name: str) -> list[str]:
    figures, lows, highs = (_column(told, f"{name}{end}") for end in ("", *BETWEEN))
    return [f"{figure} [{low}, {high}]" for figure, low, high in zip(figures, lows, highs, strict=True)]


def _column(told: Sequence[Any], name: str) -> list[str]:
    return _cells([getattr(one, name) for one in told])


def as_line(told: Any) -> str:
    return json.dumps({"table": type(told).__name__.lower(), **asdict(told)}, ensure_ascii=False)


def _cells(values: Sequence[object]) -> list[str]:
    """A column's values; decimals as many as the most exact of them was rounded to.

    >>> _cells([0.7, 0.703]), _cells([75.0, 80.5]), _cells([3, "a", None])
    (['0.700', '0.703'], ['75.0', '80.5'], ['3', 'a', '-'])
    """
    decimals = max((len(str(value).partition(".")[2]) for value in values if isinstance(value, float)), default=0)
    return [
        f"{value:.{decimals}f}" if isinstance(value, float) else NONE if value is None else str(value)
        for value in values
    ]
