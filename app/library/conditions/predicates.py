"""Conditions, and whether they hold for the fields of one document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import translate
from typing import Any, Protocol

from propcite.app.library.conditions.dates import compare_dates, parse_date

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")

Fields = Mapping[str, Any]


class Condition(Protocol):
    """A condition on one document's fields."""

    def holds(self, fields: Fields) -> bool: ...

    def field_names(self) -> Iterator[str]: ...


@dataclass(frozen=True, slots=True)
class Operand:
    """A value as it was typed, with its pattern, and as a number or date if it is one."""

    text: str
    pattern: re.Pattern[str]
    number: float | None
    date: str | None

    @classmethod
    def of(cls, text: str) -> Operand:
        return cls(text.casefold(), re.compile(translate(text.casefold())), _number(text), parse_date(text))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A field compared with operands; any of the field's values may match any operand."""

    key: str
    operator: str
    operands: tuple[Operand, ...]

    def holds(self, fields: Fields) -> bool:
        values = _values(fields, self.key)
        if self.operator == "!=":
            return not any(_equals(value, operand) for value in values for operand in self.operands)
        return any(_compares(value, self.operator, operand) for value in values for operand in self.operands)

    def field_names(self) -> Iterator[str]:
        yield self.key


@dataclass(frozen=True, slots=True)
class Presence:
    """Whether a field has a value (`is_set`) or none."""

    key: str
    is_set: bool

    def holds(self, fields: Fields) -> bool:
        return any(value.strip() for value in _values(fields, self.key)) is self.is_set

    def field_names(self) -> Iterator[str]:
        yield self.key


@dataclass(frozen=True, slots=True)
class Combination:
    """Several conditions of which all (`every`) or any must hold."""

    every: bool
    parts: tuple[Condition, ...]

    def holds(self, fields: Fields) -> bool:
        return (all if self.every else any)(part.holds(fields) for part in self.parts)

    def field_names(self) -> Iterator[str]:
        for part in self.parts:
            yield from part.field_names()


@dataclass(frozen=True, slots=True)
class Negation:
    part: Condition

    def holds(self, fields: Fields) -> bool:
        return not self.part.holds(fields)

    def field_names(self) -> Iterator[str]:
        return self.part.field_names()


def _values(fields: Fields, key: str) -> list[str]:
    """Return the values of a field as text: one, or each element of a list."""
    value = fields.get(key)
    if value is None and "." in key and key not in fields:
        value = _nested(fields, key)
    if isinstance(value, str):
        return [value]
    values = value if isinstance(value, list | tuple) else [value]
    return [_text(one) for one in values if one is not None and not isinstance(one, Mapping | list)]


def _nested(fields: Fields, key: str) -> Any:
    value: Any = fields
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def _compares(value: str, operator: str, operand: Operand) -> bool:
    if operator == "=":
        return _equals(value, operand)
    if operator == "~":
        return operand.text in value.casefold()
    order = _order(value, operand)
    if order is None:
        return False
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[operator]


def _equals(value: str, operand: Operand) -> bool:
    if operand.pattern.match(value.casefold()):
        return True
    return (operand.number is not None or operand.date is not None) and _order(value, operand) == 0


def _order(value: str, operand: Operand) -> int | None:
    """Return a number below, equal to or above 0; None if the two cannot be compared."""
    if operand.number is not None and (number := _number(value)) is not None:
        return (number > operand.number) - (number < operand.number)
    if operand.date is not None:
        date = parse_date(value)
        return compare_dates(date, operand.date) if date else None
    if operand.number is not None:
        return None
    text = value.casefold()
    return (text > operand.text) - (text < operand.text)
