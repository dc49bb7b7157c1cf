"""Parse details that users give as words such as `author=Ana Rossi`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from propcite.app.errors import AppError

if TYPE_CHECKING:  # listing the commands must not load the database
    from propcite.app.library.store import DetailsChange

READ_ONLY = ("id", "source", "added")


def parse_change(
    fields: Sequence[str] | None, tags: Sequence[str] | None, untag: Sequence[str] | None = None
) -> DetailsChange:
    """Build a change of details from KEY=VALUE words, tags to add and tags to remove."""
    from propcite.app.library.store import DetailsChange

    return DetailsChange(_values(fields or ()), tags or (), untag or ())


def _values(fields: Sequence[str]) -> dict[str, Any]:
    """Parse KEY=VALUE words; an empty VALUE becomes None, which removes the field."""
    values: dict[str, Any] = {}
    for word in fields:
        key, equals, value = word.partition("=")
        key = key.strip()
        if not equals or not key or not key.isprintable() or key in READ_ONLY:
            raise AppError(f"{word!r} is not a field to set: give KEY=VALUE, as author='Ana Rossi' or pages=12")
        values[key] = _value(value) if value else None
    return values


def _value(text: str) -> Any:
    """Parse JSON; anything else stays text, so text needs no quotes."""
    try:
        return json.loads(text)
    except ValueError:
        return text
    except RecursionError:
        raise AppError(f"{text[:30]!r}… is nested too deeply: give fewer levels of brackets") from None
