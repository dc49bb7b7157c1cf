"""The line that a condition is written in, read from the left."""

from __future__ import annotations

import re
from collections.abc import Iterator

from propcite.app.errors import AppError
from propcite.app.library.conditions.asked import Compared, Condition, Joined, Opposite, Told, Wanted

EXAMPLE = "kind=pdf and date>=2024-05"
DEEPEST = 50

_KEY = re.compile(r"[\w.\-]+")
_OPERATOR = re.compile(r"!=|<=|>=|==|=|<|>|~")
_QUOTED = re.compile(r""""((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'""")
_ENDS_A_VALUE = re.compile(r"\s+(?:and|or)\b(?=\s|\(|$)|[()]", re.IGNORECASE)
_ENDS_ONE_OF_MANY = re.compile(r"[,)]")


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
