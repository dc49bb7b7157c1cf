"""Recursive-descent parser of conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from propcite.app.errors import AppError
from propcite.app.library.conditions.predicates import Combination, Comparison, Condition, Negation, Operand, Presence

EXAMPLE = "kind=pdf and date>=2024-05"
MAX_DEPTH = 50

_KEY = re.compile(r"[\w.\-]+")
_OPERATOR = re.compile(r"!=|<=|>=|==|=|<|>|~")
_QUOTED = re.compile(r""""((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'""")
_VALUE_END = re.compile(r"\s+(?:and|or)\b(?=\s|\(|$)|[()]", re.IGNORECASE)
_LIKE_DATE = re.compile(r"\d{4}[-/]\d{1,2}(?P<day>[-/]\d{1,2})?")
_LIST_ITEM_END = re.compile(r"[,)]")


def parse_condition(text: str) -> Condition:
    """Parse one line; an error names the place and shows an example."""
    return _Parser(text).parse()


class _Parser:
    """Reads a line once from the left."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.depth = 0

    def parse(self) -> Condition:
        condition = self._disjunction()
        self._skip_spaces()
        if self.place < len(self.text):
            raise self._error("expected `and`, `or` or the end of the line")
        return condition

    def _disjunction(self) -> Condition:
        parts = [self._conjunction()]
        while self._accept_word("or"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else Combination(False, tuple(parts))

    def _conjunction(self) -> Condition:
        parts = [self._term()]
        while self._accept_word("and"):
            parts.append(self._term())
        return parts[0] if len(parts) == 1 else Combination(True, tuple(parts))

    def _term(self) -> Condition:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._error(f"nested more than {MAX_DEPTH} levels deep")
        condition = self._negation_or_group()
        self.depth -= 1
        return condition

    def _negation_or_group(self) -> Condition:
        if self._accept_word("not"):
            return Negation(self._term())
        if not self._accept("("):
            return self._comparison()
        condition = self._disjunction()
        if not self._accept(")"):
            raise self._error("expected a closing bracket")
        return condition

    def _comparison(self) -> Condition:
        key = self._key()
        if self._accept_word("is"):
            for word, is_set in (("set", True), ("missing", False)):
                if self._accept_word(word):
                    return Presence(key, is_set)
            raise self._error("expected `set` or `missing` after `is`")
        if self._accept_word("in"):
            return Comparison(key, "=", tuple(self._list()))
        self._skip_spaces()
        match = _OPERATOR.match(self.text, self.place)
        if match is None:
            raise self._error(f"expected {key}=VALUE")
        self.place = match.end()
        operator = "=" if match[0] == "==" else match[0]
        start = self.place
        operand = Operand.of(self._value(_VALUE_END))
        if operand.date is None and _is_like_date(operand.text, key):
            self.place = start
            raise self._error(f"{operand.text} is no date")
        return Comparison(key, operator, (operand,))

    def _list(self) -> Iterator[Operand]:
        if not self._accept("("):
            raise self._error("expected a list in brackets after `in`")
        yield Operand.of(self._value(_LIST_ITEM_END))
        while self._accept(","):
            yield Operand.of(self._value(_LIST_ITEM_END))
        if not self._accept(")"):
            raise self._error("expected a bracket that closes the list")

    def _key(self) -> str:
        self._skip_spaces()
        if quoted := _QUOTED.match(self.text, self.place):
            self.place = quoted.end()
            return _unquoted(quoted)
        match = _KEY.match(self.text, self.place)
        if match is None:
            raise self._error("expected a field name")
        self.place = match.end()
        return match[0]

    def _value(self, end: re.Pattern[str]) -> str:
        self._skip_spaces()
        if quoted := _QUOTED.match(self.text, self.place):
            self.place = quoted.end()
            return _unquoted(quoted)
        if self.text[self.place : self.place + 1] in ('"', "'"):
            raise self._error("the quote is not closed")
        start, self.place = self.place, self._value_end(end)
        if not (value := self.text[start : self.place].strip()):
            raise self._error("expected a value")
        return value

    def _value_end(self, end: re.Pattern[str]) -> int:
        """Return where a value ends; brackets that open within it also close within it."""
        place, opened = self.place, 0
        while match := end.search(self.text, place):
            if (match[0] == ")" and not opened) or match[0] not in "()":
                return match.start()
            opened += 1 if match[0] == "(" else -1
            place = match.end()
        return len(self.text)

    def _accept_word(self, word: str) -> bool:
        self._skip_spaces()
        end = self.place + len(word)
        after = self.text[end : end + 1]
        if self.text[self.place : end].lower() != word or (after and (after.isalnum() or after in "_.-=<>!~")):
            return False
        self.place = end
        return True

    def _accept(self, sign: str) -> bool:
        self._skip_spaces()
        if not self.text.startswith(sign, self.place):
            return False
        self.place += 1
        return True

    def _skip_spaces(self) -> None:
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1

    def _error(self, reason: str) -> AppError:
        rest = " ".join(self.text[self.place :].split())[:30]
        place = f"at {rest!r}" if rest else "at the end"
        shown = " ".join(self.text.split())[:80]
        return AppError(f"cannot read --where {shown!r} {place}: {reason}, as in {EXAMPLE}")


def _is_like_date(text: str, key: str) -> bool:
    """Return whether a value is written like a date: year, month and day, or year and month of the field `date`."""
    match = _LIKE_DATE.fullmatch(text)
    return match is not None and (match["day"] is not None or key.casefold() == "date")


def _unquoted(match: re.Match[str]) -> str:
    return re.sub(r"\\(.)", r"\1", match[1] if match[1] is not None else match[2])
