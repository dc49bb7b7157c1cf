"""What is asked of documents, read from one line: `kind=pdf and (author~Rossi or date>=2024-05) and not tags=draft`.

| | |
|---|---|
| `=` `!=` | the whole value, where `*` and `?` stand for anything; of a list, any of it |
| `~` | it holds these words |
| `<` `<=` `>` `>=` | numbers as numbers, dates as dates (a year or a month is all of it), else by letters |
| `in (a, b)` | one of these |
| `is set`, `is missing` | whether it is told at all |
| `and` `or` `not` `( )` | as usual; a value that holds one of these words stands in quotes |

Letters count alike, large or small.  `journal.volume` is what stands in a nested value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import translate
from typing import Any, Protocol

from app.dates import compared, moment
from app.errors import AppError

EXAMPLE = "kind=pdf and date>=2024-05"
DEEPEST = 50

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_KEY = re.compile(r"[\w.\-]+")
_OPERATOR = re.compile(r"!=|<=|>=|==|=|<|>|~")
_QUOTED = re.compile(r""""((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'""")
_ENDS_A_VALUE = re.compile(r"\s+(?:and|or)\b(?=\s|\(|$)|[()]", re.IGNORECASE)
_ENDS_ONE_OF_MANY = re.compile(r"[,)]")

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


def condition_of(text: str) -> Condition:
    """Read a line; what cannot be read is told with its place."""
    return _Reader(text).whole()


class _Reader:
    """Goes through a line once, from the left."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.depth = 0

    def whole(self) -> Condition:
        found = self._any()
        self._space()
        if self.place < len(self.text):
            raise self._trouble("here `and`, `or` or the end is awaited")
        return found

    def _any(self) -> Condition:
        parts = [self._every()]
        while self._word("or"):
            parts.append(self._every())
        return parts[0] if len(parts) == 1 else Joined(False, tuple(parts))

    def _every(self) -> Condition:
        parts = [self._one()]
        while self._word("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else Joined(True, tuple(parts))

    def _one(self) -> Condition:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._trouble(f"more than {DEEPEST} in each other")
        found = self._within()
        self.depth -= 1
        return found

    def _within(self) -> Condition:
        if self._word("not"):
            return Opposite(self._one())
        if not self._sign("("):
            return self._comparison()
        found = self._any()
        if not self._sign(")"):
            raise self._trouble("a bracket stays open")
        return found

    def _comparison(self) -> Condition:
        key = self._key()
        if self._word("is"):
            for word, there in (("set", True), ("missing", False)):
                if self._word(word):
                    return Told(key, there)
            raise self._trouble("`is` goes on with `set` or `missing`")
        if self._word("in"):
            return Compared(key, "=", tuple(self._several()))
        self._space()
        found = _OPERATOR.match(self.text, self.place)
        if found is None:
            raise self._trouble(f"give {key}=VALUE")
        self.place = found.end()
        operator = "=" if found[0] == "==" else found[0]
        return Compared(key, operator, (Wanted.of(self._value(_ENDS_A_VALUE)),))

    def _several(self) -> Iterator[Wanted]:
        if not self._sign("("):
            raise self._trouble("`in` needs a list in brackets")
        yield Wanted.of(self._value(_ENDS_ONE_OF_MANY))
        while self._sign(","):
            yield Wanted.of(self._value(_ENDS_ONE_OF_MANY))
        if not self._sign(")"):
            raise self._trouble("a list stays open")

    def _key(self) -> str:
        self._space()
        if quoted := _QUOTED.match(self.text, self.place):
            self.place = quoted.end()
            return _unquoted(quoted)
        found = _KEY.match(self.text, self.place)
        if found is None:
            raise self._trouble("a field's name is awaited")
        self.place = found.end()
        return found[0]

    def _value(self, ends: re.Pattern[str]) -> str:
        self._space()
        if quoted := _QUOTED.match(self.text, self.place):
            self.place = quoted.end()
            return _unquoted(quoted)
        start, self.place = self.place, self._end_of_value(ends)
        if not (value := self.text[start : self.place].strip()):
            raise self._trouble("a value is missing")
        return value

    def _end_of_value(self, ends: re.Pattern[str]) -> int:
        """Brackets that open within a value close within it."""
        place, opened = self.place, 0
        while found := ends.search(self.text, place):
            if (found[0] == ")" and not opened) or found[0] not in "()":
                return found.start()
            opened += 1 if found[0] == "(" else -1
            place = found.end()
        return len(self.text)

    def _word(self, word: str) -> bool:
        self._space()
        end = self.place + len(word)
        after = self.text[end : end + 1]
        if self.text[self.place : end].lower() != word or (after and (after.isalnum() or after in "_.-=<>!~")):
            return False
        self.place = end
        return True

    def _sign(self, sign: str) -> bool:
        self._space()
        if not self.text.startswith(sign, self.place):
            return False
        self.place += 1
        return True

    def _space(self) -> None:
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1

    def _trouble(self, why: str) -> AppError:
        rest = " ".join(self.text[self.place :].split())[:30]
        place = f"at {rest!r}" if rest else "at its end"
        shown = " ".join(self.text.split())[:80]
        return AppError(f"--where {shown!r} cannot be read {place}: {why}, as in {EXAMPLE}")


def _unquoted(found: re.Match[str]) -> str:
    return re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2])


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
