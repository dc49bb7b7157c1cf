"""Rows of figures as aligned text and as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, fields
from typing import Any

NO_VALUE = "-"
BOUNDS = ("_low", "_high")  # suffixes of the fields that hold a figure's interval


def align_columns(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> str:
    """Return one line per row with columns as wide as needed; the columns in `left` are aligned to the left.

    >>> print(align_columns([["a", "n"], ["bc", "10"]], left={0}))
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


def rows_table(rows: Sequence[Any]) -> str:
    """Return instances of one dataclass as a table, one column per field; intervals follow their figure."""
    every = [field.name for field in fields(rows[0])]
    names = [name for name in every if not any(name == f"{other}{bound}" for other in every for bound in BOUNDS)]
    columns = [_with_interval(rows, name) if f"{name}{BOUNDS[0]}" in every else _column(rows, name) for name in names]
    texts = {at for at, name in enumerate(names) if isinstance(getattr(rows[0], name), str)}
    return align_columns([[name.replace("_", " ") for name in names], *zip(*columns, strict=True)], texts)


def row_json(row: Any) -> str:
    """Return a row as a JSON line; its class names the table."""
    return json.dumps({"table": row.table, **asdict(row)}, ensure_ascii=False)


def _with_interval(rows: Sequence[Any], name: str) -> list[str]:
    figures, lows, highs = (_column(rows, f"{name}{suffix}") for suffix in ("", *BOUNDS))
    return [f"{figure} [{low}, {high}]" for figure, low, high in zip(figures, lows, highs, strict=True)]


def _column(rows: Sequence[Any], name: str) -> list[str]:
    return _cells([getattr(row, name) for row in rows])


def _cells(values: Sequence[object]) -> list[str]:
    """Return a column's values as text, with the decimals of the most precise one.

    >>> _cells([0.7, 0.703]), _cells([75.0, 80.5]), _cells([3, "a", None])
    (['0.700', '0.703'], ['75.0', '80.5'], ['3', 'a', '-'])
    """
    decimals = max((len(str(value).partition(".")[2]) for value in values if isinstance(value, float)), default=0)
    return [
        f"{value:.{decimals}f}" if isinstance(value, float) else NO_VALUE if value is None else str(value)
        for value in values
    ]
