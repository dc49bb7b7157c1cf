"""Keep the values that were computed last, so that none is computed twice."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Generic, TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class RecentValues(Generic[Key, Value]):
    """The values that were requested last, up to a limit on the sum of their sizes.  Threads may share it."""

    def __init__(self, limit: int, size: Callable[[Key, Value], int]) -> None:
        self._limit, self._size = limit, size
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._total = 0
        self._lock = Lock()
        self.num_recalled = self.num_computed = 0

    @property
    def total(self) -> int:
        """Return the sum of the sizes of all values that are kept."""
        return self._total

    def __len__(self) -> int:
        return len(self._values)

    def keeps(self, value: Value) -> bool:  # noqa: ARG002 - for subclasses
        """Return whether a value is kept at all."""
        return True

    def recall(
        self, keys: Sequence[Key], items: Sequence[Item], compute: Callable[[list[Item]], list[Value]]
    ) -> list[Value]:
        """Return the value of every item by its key; those that are not kept are computed in one batch."""
        with self._lock:
            values = {key: self._values[key] for key in keys if key in self._values}
        missing = {key: item for key, item in zip(keys, items, strict=True) if key not in values}
        if missing:
            values.update(zip(missing, compute(list(missing.values())), strict=True))
        with self._lock:
            self.num_recalled += len(keys) - len(missing)
            self.num_computed += len(missing)
            for key in keys:
                if self.keeps(values[key]):
                    self._put(key, values[key])
            while self._total > self._limit:
                self._total -= self._size(*self._values.popitem(last=False))
        return [values[key] for key in keys]

    def _put(self, key: Key, value: Value) -> None:
        if key not in self._values:
            self._values[key] = value
            self._total += self._size(key, value)
        self._values.move_to_end(key)
