"""Ways of ranking with their encoders, each loaded once, and what a run records of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from propcite.app.building import build_encoder
from propcite.app.errors import AppError
from propcite.app.lab.runs.provenance import model_info, run_provenance
from propcite.app.parts import Parts
from propcite.app.settings import Settings
from propcite.retrieval.alignment import alignment_of
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.text import Granularity

MARKERS = {
    "m_q": Granularity.PASSAGE,
    "m'_q": Granularity.SENTENCE,
    "m''_q": Granularity.PROPOSITION,
}  # the markers of queries, by the granularity they ask for
BM25 = "bm25"  # the way without an encoder


@dataclass(frozen=True, slots=True)
class RankingConfig:
    """A way of ranking; empty fields stand for the settings' encoder and bits, and for each token's nearest."""

    way: str
    encoder: str = ""
    bits: int = 0
    alignment: str = ""

    @property
    def name(self) -> str:
        """Return the name in tables."""
        parts = [self.way, self.alignment, f"{self.bits} bits" if self.bits else "", self.encoder]
        return ", ".join(filter(None, parts))


def ranking_configs(
    ways: Sequence[str],
    existing: Collection[str],
    encoders: Sequence[str] = (),
    bits: Sequence[int] = (),
    alignments: Sequence[str] = (),
    alignable: Collection[str] = (),
) -> list[RankingConfig]:
    """Return each way with each encoder and number of bits, `alignable` ones with each alignment, and BM25 once."""
    if unknown := [way for way in ways if way not in existing]:
        raise AppError(f"there is no way {unknown[0]!r} of ranking here: it is one of {', '.join(existing)}")
    configs = []
    for way in dict.fromkeys(ways):
        if way == BM25:
            configs.append(RankingConfig(way))
        else:
            names = list(dict.fromkeys(str(alignment_of(name)) for name in alignments)) if way in alignable else []
            each = product(dict.fromkeys(encoders or [""]), dict.fromkeys(bits or [0]), names or [""])
            configs += [RankingConfig(way, *one) for one in each]
    return configs


def encoder_names(configs: Sequence[RankingConfig]) -> list[str]:
    """Return the names of the encoders that these ways need."""
    return list(dict.fromkeys(config.encoder for config in configs if config.way != BM25))


def token_ids(tokens: TokenVectors) -> npt.NDArray[np.int64]:
    if tokens.ids is None:
        raise AppError("this encoder has no ids of tokens: measure it without idf and --weights")
    return tokens.ids


class LoadedEncoders:
    """Encoders by name, loaded when they are first used; the empty name is the settings' encoder."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._loaded: dict[str, Encoder] = {}

    def __getitem__(self, name: str) -> Encoder:
        if name not in self._loaded:
            own = not name or name == self._parts.settings.encoder
            self._loaded[name] = self._parts.encoder if own else build_encoder(self._settings(name))
        return self._loaded[name]

    def supported(
        self, configs: Sequence[RankingConfig], marker_of: Callable[[str], str], *, explicit: bool
    ) -> list[RankingConfig]:
        """Return the ways whose encoder has the marker; raise for the others if the user named them."""
        unsupported = [
            config
            for config in configs
            if config.way != BM25 and not self[config.encoder].knows(MARKERS[marker_of(config.way)])
        ]
        if unsupported and explicit:
            encoder = self[unsupported[0].encoder].query_name
            raise AppError(f"{encoder} has no marker for {unsupported[0].way}: give other ways or another encoder")
        return [config for config in configs if config not in unsupported]

    def settings(self, configs: Sequence[RankingConfig]) -> dict[str, Any]:
        """Return the settings of encoders that a figure depends on; empty for BM25 alone."""
        names = encoder_names(configs)
        if not names:
            return {}
        return {"encoders": [self[n].query_name for n in names], "precision": self[names[0]].precision}

    def about(self, configs: Sequence[RankingConfig]) -> dict[str, Any]:
        names = encoder_names(configs)
        models = {f"encoder {name}".strip(): model_info(self._settings(name), "encoder") for name in names}
        return {**run_provenance(self._parts.settings), "models": models}

    def _settings(self, name: str) -> Settings:
        settings = self._parts.settings
        return settings.model_copy(update={"encoder": name}) if name else settings
