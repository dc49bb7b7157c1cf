"""The contents of an open index: its segments and the position of each passage."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from propcite.retrieval.index.live_segment import LiveSegment
from propcite.retrieval.index.ranking import Mask


class Contents:
    """Segments in order, and the segment and number of every passage that is not deleted."""

    def __init__(self) -> None:
        self.segments: list[LiveSegment] = []
        self.positions: dict[str, tuple[LiveSegment, int]] = {}
        self._digest = ""

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def num_tokens(self) -> int:
        return sum(live.segment.num_tokens for live in self.segments)

    @property
    def num_stored(self) -> int:
        """Return the number of passages including deleted ones."""
        return sum(len(live.segment) for live in self.segments)

    def attach(self, live: LiveSegment) -> None:
        self._digest = ""
        self.segments.append(live)
        self._add_positions(live)

    def replace(self, old: Collection[LiveSegment], new: LiveSegment | None) -> None:
        """Put a segment with the same passages in the place of the first old one; None if those have no passage."""
        first = min((number for number, live in enumerate(self.segments) if live in old), default=len(self.segments))
        rest = [live for live in self.segments if live not in old]
        self.segments = [*rest[:first], *([new] if new else []), *rest[first:]]
        if new:
            self._add_positions(new)

    def _add_positions(self, live: LiveSegment) -> None:
        for number, i in enumerate(live.segment.ids):
            if live.mask[number]:
                self.positions[i] = (live, number)

    def delete(self, ids: Iterable[str]) -> int:
        """Delete passages, ignoring unknown ids, and return how many were there."""
        existing = [i for i in dict.fromkeys(ids) if i in self.positions]
        for i in existing:
            live, number = self.positions.pop(i)
            live.delete(number)
            self._digest = ""
        return len(existing)

    def digest(self, encoder: str) -> str:
        """Return a hash of the encoder's name and the set of passage ids."""
        if not self._digest:
            text = "\0".join([encoder, *sorted(self.positions)])
            self._digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        return self._digest

    def masks(self, allow: Collection[str] | None) -> dict[LiveSegment, Mask]:
        """Return a mask per segment of the passages that a search may return: `allow`, or all if it is None."""
        if allow is None:
            return {live: live.mask for live in self.segments}
        masks = {live: np.zeros(len(live.segment), bool) for live in self.segments}
        for i in allow:
            if i in self.positions:
                live, number = self.positions[i]
                masks[live][number] = True
        return masks

    def sample(self, number: int) -> Sequence[tuple[LiveSegment, np.ndarray]]:
        """Draw about so many tokens, evenly over all segments.  -> pairs of segment and token numbers"""
        random = np.random.default_rng(0)
        share = min(1.0, number / max(self.num_tokens, 1))
        drawn = []
        for live in self.segments:
            size = min(live.segment.num_tokens, max(1, round(share * live.segment.num_tokens)))
            drawn.append((live, np.sort(random.choice(live.segment.num_tokens, size, replace=False))))
        return drawn
