"""Ways of ranking with the encoders that they name, each loaded once, and what a run tells of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from propcite.app.building import build_encoder
from propcite.app.errors import AppError
from propcite.app.lab.runs.about import about_run, model
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
}  # how queries are marked that ask for these

BM25 = "bm25"  # the way that needs no encoder


@dataclass(frozen=True, slots=True)
class Way:
    """A way of ranking under its name in a table; `encoder` and `bits` are those of the settings where not given, an
    `alignment` each token's nearest."""

    asks: str
    encoder: str = ""
    bits: int = 0
    alignment: str = ""

    @property
    def name(self) -> str:
        told = [self.asks, self.alignment, f"{self.bits} bits" if self.bits else "", self.encoder]
        return ", ".join(filter(None, told))


def ways_of(
    asks: Sequence[str],
    known: Collection[str],
    encoders: Sequence[str] = (),
    bits: Sequence[int] = (),
    alignments: Sequence[str] = (),
    aligned: Collection[str] = (),
) -> list[Way]:
    """Each way with each encoder and each number of bits, the `aligned` ones with each alignment too; words are
    counted once."""
    if unknown := [name for name in asks if name not in known]:
        raise AppError(f"there is no way {unknown[0]!r} of ranking here: it is one of {', '.join(known)}")
    ways = []
    for ask in dict.fromkeys(asks):
        if ask == BM25:
            ways.append(Way(ask))
        else:
            under = list(dict.fromkeys(str(alignment_of(name)) for name in alignments)) if ask in aligned else []
            each = product(dict.fromkeys(encoders or [""]), dict.fromkeys(bits or [0]), under or [""])
            ways += [Way(ask, *one) for one in each]
    return ways


def names_of(ways: Sequence[Way]) -> list[str]:
    """The encoders that these ways need."""
    return list(dict.fromkeys(way.encoder for way in ways if way.asks != BM25))


def words_of(tokens: TokenVectors) -> npt.NDArray[np.int64]:
    if tokens.ids is None:
        raise AppError("this encoder does not tell which words its tokens are: measure it without idf and --weights")
    return tokens.ids


class Encoders:
    """By name; the empty name is the settings' encoder."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._loaded: dict[str, Encoder] = {}

    def __getitem__(self, name: str) -> Encoder:
        if name not in self._loaded:
            own = not name or name == self._parts.settings.encoder
            self._loaded[name] = self._parts.encoder if own else build_encoder(self._settings(name))
        return self._loaded[name]

    def able(self, ways: Sequence[Way], marker: Callable[[str], str], *, named: bool) -> list[Way]:
        """The ways for which their encoder has the marker; where somebody has named one that it lacks, that is told."""
        lacking = [w for w in ways if w.asks != BM25 and not self[w.encoder].knows(MARKERS[marker(w.asks)])]
        if lacking and named:
            encoder = self[lacking[0].encoder].query_name
            raise AppError(f"{encoder} has no marker for {lacking[0].asks}: give other ways or another encoder")
        return [way for way in ways if way not in lacking]

    def settings(self, ways: Sequence[Way]) -> dict[str, Any]:
        """What of encoders changes a figure; nothing where words alone rank."""
        names = names_of(ways)
        if not names:
            return {}
        return {"encoders": [self[n].query_name for n in names], "precision": self[names[0]].precision}

    def about(self, ways: Sequence[Way]) -> dict[str, Any]:
        models = {f"encoder {name}".strip(): model(self._settings(name), "encoder") for name in names_of(ways)}
        return {**about_run(self._parts.settings), "models": models}

    def _settings(self, name: str) -> Settings:
        settings = self._parts.settings
        return settings.model_copy(update={"encoder": name}) if name else settings
