"""What an index holds: its parts, and where each passage stands in them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from propcite.retrieval.index.parts import Part
from propcite.retrieval.index.ranking import Mask


class Holding:
    """Parts in order, and the part and number of every passage that is not deleted."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.places: dict[str, tuple[Part, int]] = {}
        self._digest = ""

    def __len__(self) -> int:
        return len(self.places)

    @property
    def num_tokens(self) -> int:
        return sum(part.segment.num_tokens for part in self.parts)

    @property
    def num_passages(self) -> int:
        """With the deleted ones."""
        return sum(len(part.segment) for part in self.parts)

    def attach(self, part: Part) -> None:
        self._digest = ""
        self.parts.append(part)
        self._place(part)

    def replace(self, old: Collection[Part], new: Part | None) -> None:
        """A part in the place of the first of others that held what it holds; None for parts that hold nothing."""
        first = min((number for number, part in enumerate(self.parts) if part in old), default=len(self.parts))
        rest = [part for part in self.parts if part not in old]
        self.parts = [*rest[:first], *([new] if new else []), *rest[first:]]
        if new:
            self._place(new)

    def _place(self, part: Part) -> None:
        for number, i in enumerate(part.segment.ids):
            if part.kept[number]:
                self.places[i] = (part, number)

    def delete(self, ids: Iterable[str]) -> int:
        """Unknown ids are passed over.  -> how many were there"""
        known = [i for i in dict.fromkeys(ids) if i in self.places]
        for i in known:
            part, number = self.places.pop(i)
            part.delete(number)
            self._digest = ""
        return len(known)

    def digest(self, named: str) -> str:
        """The same for the same passages under the same name, whenever they came."""
        if not self._digest:
            known = "\0".join([named, *sorted(self.places)])
            self._digest = hashlib.sha256(known.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        return self._digest

    def masks(self, allow: Collection[str] | None) -> dict[Part, Mask]:
        """Which passages of each part may be returned, known before anything is ranked."""
        if allow is None:
            return {part: part.kept for part in self.parts}
        masks = {part: np.zeros(len(part.segment), bool) for part in self.parts}
        for i in allow:
            if i in self.places:
                part, number = self.places[i]
                masks[part][number] = True
        return masks

    def sample(self, number: int) -> Sequence[tuple[Part, np.ndarray]]:
        """About so many tokens drawn evenly over all parts: each with its tokens' places."""
        random = np.random.default_rng(0)
        share = min(1.0, number / max(self.num_tokens, 1))
        drawn = []
        for part in self.parts:
            size = min(part.segment.num_tokens, max(1, round(share * part.segment.num_tokens)))
            drawn.append((part, np.sort(random.choice(part.segment.num_tokens, size, replace=False))))
        return drawn
