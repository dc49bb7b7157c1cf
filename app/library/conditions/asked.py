"""Conditions, and whether they hold for the fields of one document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import translate
from typing import Any, Protocol

from propcite.app.library.conditions.dates import compared, moment

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")

Fields = Mapping[str, Any]


class Condition(Protocol):
    """What may be asked of one document's fields."""

    def holds(self, fields: Fields) -> bool: ...

    def asked(self) -> Iterator[str]: ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value as it was typed, and as what else it can be read."""

    text: str
    pattern: re.Pattern[str]
    number: float | None
    date: str | None

    @classmethod
    def of(cls, text: str) -> Wanted:
        return cls(text.casefold(), re.compile(translate(text.casefold())), _number(text), moment(text))


@dataclass(frozen=True, slots=True)
class Compared:
    """A field beside some values; of several values of the field any may do."""

    key: str
    operator: str
    wanted: tuple[Wanted, ...]

    def holds(self, fields: Fields) -> bool:
        found = _values(fields, self.key)
        if self.operator == "!=":
            return not any(_same(told, one) for told in found for one in self.wanted)
        return any(_holds(told, self.operator, one) for told in found for one in self.wanted)

    def asked(self) -> Iterator[str]:
        yield self.key


@dataclass(frozen=True, slots=True)
class Told:
    """Whether a field is told at all."""

    key: str
    there: bool

    def holds(self, fields: Fields) -> bool:
        return any(value.strip() for value in _values(fields, self.key)) is self.there

    def asked(self) -> Iterator[str]:
        yield self.key


@dataclass(frozen=True, slots=True)
class Joined:
    """Several conditions of which all must hold, or any."""

    every: bool
    parts: tuple[Condition, ...]

    def holds(self, fields: Fields) -> bool:
        return (all if self.every else any)(part.holds(fields) for part in self.parts)

    def asked(self) -> Iterator[str]:
        for part in self.parts:
            yield from part.asked()


@dataclass(frozen=True, slots=True)
class Opposite:
    part: Condition

    def holds(self, fields: Fields) -> bool:
        return not self.part.holds(fields)

    def asked(self) -> Iterator[str]:
        return self.part.asked()


def _values(fields: Fields, key: str) -> list[str]:
    """What a document says under a key: one value, or each of a list."""
    value = fields.get(key)
    if value is None and "." in key and key not in fields:
        value = _nested(fields, key)
    if isinstance(value, str):
        return [value]
    several = value if isinstance(value, list | tuple) else [value]
    return [_told(one) for one in several if one is not None and not isinstance(one, Mapping | list)]


def _nested(fields: Fields, key: str) -> Any:
    value: Any = fields
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _told(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def _holds(told: str, operator: str, wanted: Wanted) -> bool:
    if operator == "=":
        return _same(told, wanted)
    if operator == "~":
        return wanted.text in told.casefold()
    order = _order(told, wanted)
    if order is None:
        return False
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[operator]


def _same(told: str, wanted: Wanted) -> bool:
    if wanted.pattern.match(told.casefold()):
        return True
    return (wanted.number is not None or wanted.date is not None) and _order(told, wanted) == 0


def _order(told: str, wanted: Wanted) -> int | None:
    """Below 0, 0 or above it; None where the two cannot be compared."""
    if wanted.number is not None and (number := _number(told)) is not None:
        return (number > wanted.number) - (number < wanted.number)
    if wanted.date is not None:
        date = moment(told)
        return compared(date, wanted.date) if date else None
    if wanted.number is not None:
        return None
    text = told.casefold()
    return (text > wanted.text) - (text < wanted.text)
