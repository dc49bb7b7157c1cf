"""What people say of documents, read from words as `author=Ana Rossi`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from propcite.app.errors import AppError

if TYPE_CHECKING:  # a command that is only listed needs no database
    from propcite.app.library.store import Change

TAKEN = ("id", "source", "added")  # are what they are


def change_of(said: Sequence[str] | None, tags: Sequence[str] | None, untag: Sequence[str] | None = None) -> Change:
    """What KEY=VALUE words and tags say."""
    from propcite.app.library.store import Change

    return Change(_values(said or ()), tags or (), untag or ())


def _values(said: Sequence[str]) -> dict[str, Any]:
    """What KEY=VALUE words say; None where a value is taken back."""
    values: dict[str, Any] = {}
    for word in said:
        key, equals, value = word.partition("=")
        key = key.strip()
        if not equals or not key or not key.isprintable() or key in TAKEN:
            raise AppError(f"{word!r} cannot be said: give KEY=VALUE, as author='Ana Rossi' or pages=12")
        values[key] = _value(value) if value else None
    return values


def _value(text: str) -> Any:
    """JSON where it is some, but a text stays one: no quotes are needed."""
    try:
        return json.loads(text)
    except ValueError:
        return text
