"""Figures under their names, for people and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, fields
from typing import Any


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
    """Values of one dataclass, its fields as columns."""
    names = [field.name for field in fields(told[0])]
    rows = [[_cell(getattr(one, name)) for name in names] for one in told]
    words = {at for at, name in enumerate(names) if isinstance(getattr(told[0], name), str)}
    return aligned([[name.replace("_", " ") for name in names], *rows], words)


def as_line(told: Any) -> str:
    return json.dumps({"table": type(told).__name__.lower(), **asdict(told)}, ensure_ascii=False)


def _cell(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
