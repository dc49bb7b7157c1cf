"""The contents of an open index: its segments, and where each passage is."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from propcite.retrieval.encoding.base import Mask
from propcite.retrieval.index.allowed import Allowed
from propcite.retrieval.index.live_segment import LiveSegment
from propcite.retrieval.index.passage_ids import PassageIds

Position = tuple[LiveSegment, int]  # a segment, and a passage's number in it


class Contents:
    """Segments in order."""

    def __init__(self, segments: Iterable[LiveSegment] = ()) -> None:
        self.segments = list(segments)

    def __len__(self) -> int:
        return sum(live.num_passages for live in self.segments)

    @property
    def num_tokens(self) -> int:
        return sum(live.segment.num_tokens for live in self.segments)

    @property
    def num_stored(self) -> int:
        """Return the number of passages including deleted ones."""
        return sum(len(live.segment) for live in self.segments)

    def attach(self, live: LiveSegment) -> None:
        self.segments.append(live)

    def replace(self, old: Collection[LiveSegment], new: LiveSegment | None) -> None:
        """Put a segment with the same passages in the place of the first old one; None if those have no passage."""
        first = min((number for number, live in enumerate(self.segments) if live in old), default=len(self.segments))
        rest = [live for live in self.segments if live not in old]
        self.segments = [*rest[:first], *([new] if new else []), *rest[first:]]

    def positions(self, ids: Iterable[str]) -> dict[str, Position]:
        """Return where passages are that are not deleted, without unknown ids."""
        wanted = PassageIds.of(unique := list(dict.fromkeys(ids)))
        found: dict[str, Position] = {}
        for live in self.segments:
            numbers = live.segment.ids.numbers_of(wanted)
            for place in np.flatnonzero(numbers >= 0).tolist():
                if live.mask[number := int(numbers[place])]:
                    found[unique[place]] = (live, number)
        return found

    def delete(self, ids: Iterable[str]) -> int:
        """Delete passages, ignoring unknown ids, and return how many were there."""
        positions = self.positions(ids)
        for live, number in positions.values():
            live.delete(number)
        return len(positions)

    @property
    def digest(self) -> int:
        """Return a number that names the set of passage ids, whatever their order."""
        return sum(live.digest for live in self.segments) % 2**64

    def version(self, encoder: str) -> str:
        """Return a hash of the encoder's name and the set of passage ids."""
        return version_name(encoder, len(self), self.digest)

    def masks(self, allow: Allowed | None) -> dict[LiveSegment, Mask]:
        """Return a mask per segment of the passages that a search may return; None allows all."""
        if allow is None:
            return {live: live.mask for live in self.segments}
        return {live: live.mask & allow.mask(live.segment) for live in self.segments}

    def ids(self, allow: Allowed | None = None) -> set[str]:
        """Return the ids of all passages that are allowed."""
        return {
            i
            for live, mask in self.masks(allow).items()
            for i in (live.segment.ids if mask.all() else (live.segment.ids[n] for n in np.flatnonzero(mask).tolist()))
        }

    def sample(self, number: int) -> Sequence[tuple[LiveSegment, np.ndarray]]:
        """Draw about so many tokens, evenly over all segments.  -> pairs of segment and token numbers"""
        random = np.random.default_rng(0)
        share = min(1.0, number / max(self.num_tokens, 1))
        drawn = []
        for live in self.segments:
            size = min(live.segment.num_tokens, max(1, round(share * live.segment.num_tokens)))
            drawn.append((live, np.sort(random.choice(live.segment.num_tokens, size, replace=False))))
        return drawn


def version_name(encoder: str, num_passages: int, digest: int) -> str:
    """Return a hash of an encoder's name and a set of passage ids, of which `digest` is the sum of the hashes."""
    text = "\0".join([encoder, str(num_passages), str(digest)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
