"""Limits of a search to some passages, each as a mask per segment."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from propcite.retrieval.encoding.base import Mask
from propcite.retrieval.index.passage_ids import Hashes, PassageIds
from propcite.retrieval.index.segment import Segment


@runtime_checkable
class Allowed(Protocol):
    """The passages that a search may return."""

    def mask(self, segment: Segment) -> Mask:
        """Return which passages of a segment are allowed.  (p,)"""
        ...

    def portable(self) -> Allowed:
        """Return the same limit for another process, without anything that only this one has."""
        ...


@dataclass(frozen=True)
class OnlyPassages:
    """The passages with these ids; unknown ids are ignored."""

    passages: frozenset[str]

    def mask(self, segment: Segment) -> Mask:
        mask = np.zeros(len(segment), bool)
        numbers = segment.ids.numbers_of(self._ids)
        mask[numbers[numbers >= 0]] = True
        return mask

    def portable(self) -> OnlyPassages:
        return self

    @cached_property
    def _ids(self) -> PassageIds:
        return PassageIds.of(self.passages)


@dataclass(frozen=True, eq=False)
class OnlyDocuments:
    """The passages of the documents whose ids have these hashes."""

    hashes: Hashes

    @classmethod
    def of(cls, documents: Sequence[str]) -> OnlyDocuments:
        return cls(np.sort(PassageIds.of(documents).hashes))

    def mask(self, segment: Segment) -> Mask:
        mask: Mask = np.isin(segment.ids.document_hashes, self.hashes)[segment.ids.documents[1]]
        return mask

    def portable(self) -> OnlyDocuments:
        return self


@dataclass(frozen=True)
class AllBut:
    """All passages without those of these ids."""

    passages: frozenset[str]

    def mask(self, segment: Segment) -> Mask:
        return ~OnlyPassages(self.passages).mask(segment)

    def portable(self) -> AllBut:
        return self


@dataclass(frozen=True)
class InBoth:
    """The passages that both allow."""

    first: Allowed
    second: Allowed

    def mask(self, segment: Segment) -> Mask:
        return self.first.mask(segment) & self.second.mask(segment)

    def portable(self) -> InBoth:
        return InBoth(self.first.portable(), self.second.portable())


def allowed_of(passages: Allowed | Collection[str]) -> Allowed:
    """Return ids as the passages that have them."""
    return passages if isinstance(passages, Allowed) else OnlyPassages(frozenset(passages))


def both(first: Allowed | None, second: Allowed) -> Allowed:
    """Return what both allow; None allows all."""
    if isinstance(first, OnlyPassages) and isinstance(second, OnlyPassages):
        return OnlyPassages(first.passages & second.passages)
    return second if first is None else InBoth(first, second)
