"""The fields of many documents as columns: a condition is evaluated once for each distinct value, then looked up.

What a condition found for a value is remembered, so that after a change only new values are evaluated.
"""

from __future__ import annotations

import json
from array import array
from collections import OrderedDict
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from propcite.app.library.conditions.predicates import Combination, Comparison, Condition, Fields, Negation, Presence
from propcite.retrieval.encoding.base import Ints
from propcite.retrieval.index.passage_ids import PassageIds

Chosen = npt.NDArray[np.bool_]

OWN_VALUES = frozenset({"id", "source", "title", "added"})  # fields that hardly two documents share
MISSING = -1
REMEMBERED = 64  # conditions per field


class Column:
    """One field: the number of each document's value, MISSING if it has no such field."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._codes = array("i")
        self._values: list[Any] = []
        self._known: dict[Any, int] | None = None if key in OWN_VALUES else {}
        self._held: OrderedDict[Condition, bytearray] = OrderedDict()

    def set(self, document: int, value: Any) -> None:
        self._codes.extend([MISSING] * (document + 1 - len(self._codes)))
        new = len(self._values)
        code = new if self._known is None else self._known.setdefault(_identity(value), new)
        if code == new:
            self._values.append(value)
        self._codes[document] = code

    def clear(self, document: int) -> None:
        if document < len(self._codes):
            self._codes[document] = MISSING

    def value(self, document: int) -> Any:
        code = self._codes[document] if document < len(self._codes) else MISSING
        return None if code == MISSING else self._values[code]

    def codes(self, number: int) -> npt.NDArray[np.int32]:
        """Return the codes of this number of documents."""
        codes = np.full(number, MISSING, np.int32)
        codes[: len(self._codes)] = np.frombuffer(self._codes, np.int32)
        return codes

    def holds(self, condition: Comparison | Presence, number: int, missing: bool) -> Chosen:
        """Return for which documents a condition on this field, or on one inside its value, holds."""
        held = self._held.setdefault(condition, bytearray())
        self._held.move_to_end(condition)
        if len(self._held) > REMEMBERED:
            self._held.popitem(last=False)
        held.extend(condition.holds({self._key: value}) for value in self._values[len(held) :])
        of_values = np.append(np.frombuffer(held, np.bool_), missing)  # MISSING looks up the last
        return of_values[self.codes(number)]


def _identity(value: Any) -> Any:
    """Return what two values have in common only if they are the same JSON."""
    return value if isinstance(value, str) else (json.dumps(value, sort_keys=True),)


class DocumentColumns:
    """The fields of a collection's documents, by number, after so many `changes` of its `history`.

    A number stays the document's.  Threads hold the `lock`.
    """

    def __init__(self, history: str = "") -> None:
        self.lock = RLock()
        self.history, self.changes = history, -1
        self._ids: list[str] = []
        self._numbers: dict[str, int] = {}
        self._columns: dict[str, Column] = {}
        self._alive = bytearray()
        self._in_segments: WeakKeyDictionary[PassageIds, tuple[Ints, int]] = WeakKeyDictionary()

    def put(self, id_: str, fields: Fields) -> None:
        """Set the fields of a document that is new or has changed."""
        number = self._numbers.setdefault(id_, len(self._ids))
        if number == len(self._ids):
            self._ids.append(id_)
            self._alive.append(1)
        else:
            self._alive[number] = 1
            for key, column in self._columns.items():
                if key not in fields:
                    column.clear(number)
        for key, value in fields.items():
            column = self._columns.get(key) or self._columns.setdefault(key, Column(key))
            column.set(number, value)

    def remove(self, id_: str) -> None:
        if (number := self._numbers.get(id_)) is not None:
            self._alive[number] = 0

    def number(self, id_: str) -> int | None:
        """Return the number of a document that exists."""
        number = self._numbers.get(id_)
        return number if number is not None and self._alive[number] else None

    @property
    def alive(self) -> Chosen:
        return np.array(np.frombuffer(self._alive, np.bool_))

    def existing(self, key: str) -> bool:
        """Return whether a document has a field of this name."""
        column = self._columns.get(key)
        return column is not None and bool((self.alive & (column.codes(len(self._ids)) != MISSING)).any())

    def names(self) -> list[str]:
        """Return the names of all fields."""
        return [key for key in self._columns if self.existing(key)]

    def holds(self, condition: Condition) -> Chosen:
        """Return for which documents a condition holds; removed ones may be among them."""
        if isinstance(condition, Combination):
            parts = [self.holds(part) for part in condition.parts]
            joined: Chosen = (np.logical_and if condition.every else np.logical_or).reduce(parts)
            return joined
        if isinstance(condition, Negation):
            return ~self.holds(condition.part)
        assert isinstance(condition, Comparison | Presence)
        missing, number = condition.holds({}), len(self._ids)
        chosen = np.full(number, missing)
        root, own = self._columns.get(condition.key.split(".")[0]), self._columns.get(condition.key)
        if root and root is not own:
            chosen = root.holds(condition, number, missing)
        if own:
            chosen = np.where(own.codes(number) != MISSING, own.holds(condition, number, missing), chosen)
        return chosen

    def ids(self, chosen: Chosen) -> list[str]:
        """Return the ids of documents, sorted by source."""
        source = self._columns.get("source")
        numbers = np.flatnonzero(chosen).tolist()
        return [self._ids[n] for n in sorted(numbers, key=lambda n: str(source.value(n)) if source else "")]

    def numbers_in(self, passages: PassageIds) -> Ints:
        """Return the number of each document of a segment, MISSING for one that the library does not have yet."""
        numbers, known = self._in_segments.get(passages, (None, 0))
        if numbers is None or (known < len(self._ids) and (numbers == MISSING).any()):
            numbers = np.array([self._numbers.get(id_, MISSING) for id_ in passages.documents[0]], np.int64)
            self._in_segments[passages] = numbers, len(self._ids)
        return numbers
