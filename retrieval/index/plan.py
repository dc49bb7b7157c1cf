"""How an index is searched: the regime that a setting and the sizes of an index lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from propcite.retrieval.index import Regime
from propcite.retrieval.index.centroids import Centroids
from propcite.retrieval.index.codec import Codec
from propcite.retrieval.index.exchange import Sums
from propcite.retrieval.index.live_segment import LiveSegment

REGIMES: tuple[Regime, ...] = get_args(Regime)
EXACT_UP_TO = 100_000  # tokens; in a smaller index a search for candidates costs more than it saves


def valid_regime(regime: Regime) -> Regime:
    if regime not in REGIMES:
        raise ValueError(f"regime must be one of {', '.join(REGIMES)}, got {regime!r}")
    return regime


@dataclass(frozen=True)
class SearchPlan:
    """The state of an index that a search uses."""

    segments: Sequence[LiveSegment]
    codec: Codec
    centroids: Centroids | None
    setting: Regime
    exact_up_to: int

    @property
    def sizes(self) -> Sums:
        """Return what decides the regime."""
        return Sums(
            {
                "segments": len(self.segments),
                "passages": sum(len(live.segment) for live in self.segments),
                "tokens": sum(live.segment.num_tokens for live in self.segments),
                "codes": sum(live.centroid_codes is not None for live in self.segments),
                "faiss": sum(live.faiss_tokens is not None for live in self.segments),
            }
        )

    def regime(self, of_all: Sums | None = None) -> Regime:
        """Return the regime for the sizes of all parts, by default of this one."""
        return regime_for(of_all or self.sizes, self.setting, self.exact_up_to)


def regime_for(sizes: Sums, setting: Regime = "auto", exact_up_to: int = EXACT_UP_TO) -> Regime:
    """Return the regime for the sizes of all parts; without the files of a regime it is the next simpler one."""
    if setting == "faiss" and sizes["faiss"]:
        return "faiss"
    small = setting == "auto" and sizes["tokens"] <= exact_up_to
    return "exact" if setting == "exact" or small or not sizes["codes"] else "tokens"
