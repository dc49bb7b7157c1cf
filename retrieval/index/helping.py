"""What is made from segments so that they are searched sooner: codes by centroids, and FAISS's files.

All of it can be made anew.  A part without help is read whole, which is slow but right, so what is damaged is left out.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import Told, tell_share
from propcite.retrieval.index import faiss_tokens as by_faiss
from propcite.retrieval.index.centroids import SAMPLED, Centroids, number_for, train_centroids
from propcite.retrieval.index.coarse_codes import Coded
from propcite.retrieval.index.container import Container, write_anew
from propcite.retrieval.index.faiss_tokens import FaissTokens
from propcite.retrieval.index.holding import Holding
from propcite.retrieval.index.manifest import Manifest
from propcite.retrieval.index.parts import Part, codes_path, faiss_path
from propcite.retrieval.index.pruning import Pruning, Searched, known_pruning, known_share
from propcite.retrieval.index.search import Regime

OUTGROWN = 4  # times as many tokens as the centroids were trained for
MOST_SAMPLED = 1 << 19  # tokens that anything is trained on: they are in memory at once


class Help:
    """The centroids and the name of FAISS's trained file, both shared by all segments of a folder."""

    def __init__(self, regime: Regime, told: Told, searched_share: float, pruning: Pruning) -> None:
        self._told = told
        self._searched_share, self._pruning = known_share(searched_share), known_pruning(pruning)
        self.centroids: Centroids | None = None
        self.faiss = ""
        self._by_faiss = regime == "faiss"
        self._always = regime in ("tokens", "faiss")

    def read(self, folder: Path, manifest: Manifest) -> None:
        with suppress(IndexFormatError):
            if manifest.centroids:
                self.centroids = Centroids.load(folder / manifest.centroids, manifest.centroids)
        if manifest.faiss and (folder / manifest.faiss).exists():
            self.faiss = manifest.faiss

    def attach(self, part: Part, folder: Path) -> None:
        """Give a part what was made for it."""
        with suppress(IndexFormatError):
            if self.centroids and not part.coded:
                file = Container(codes_path(folder, part.name, self.centroids.name))
                codes, searched = file.checked("codes"), Searched.read(file, part.segment.num_tokens)
                if len(codes) == len(searched) and codes.max(initial=0) < len(self.centroids):
                    part.coded = Coded(part.segment, codes, len(self.centroids), searched)
        with suppress(IndexFormatError):
            if self.faiss and self._by_faiss and not part.tokens:
                part.tokens = FaissTokens.load(faiss_path(folder, part.name, self.faiss), part.segment)

    def make(self, parts: Sequence[Part], folder: Path) -> None:
        """Make what each part lacks, and give it."""
        for part in parts:
            part.forget_help(self._searched_share)
        if self.centroids:
            self._make_codes([part for part in parts if not part.coded], folder, self.centroids)
        if self.faiss and self._by_faiss:
            self._fill_faiss([part for part in parts if not part.tokens], folder)
        for part in parts:
            self.attach(part, folder)

    def _make_codes(self, parts: Sequence[Part], folder: Path, centroids: Centroids) -> None:
        for part, told in self._counted("laying tokens to centroids", parts):
            searched = part.segment.searched(self._searched_share, self._pruning)
            codes = centroids.codes(part.segment, searched, told)
            write_anew(codes_path(folder, part.name, centroids.name), {"codes": codes} | searched.arrays)

    def _fill_faiss(self, parts: Sequence[Part], folder: Path) -> None:
        try:
            for part, told in self._counted("giving tokens to FAISS", parts):
                searched = part.segment.searched(self._searched_share, self._pruning)
                path = faiss_path(folder, part.name, self.faiss)
                by_faiss.fill(folder / self.faiss, part.segment, searched, path, told)
        except IndexFormatError:
            self.faiss = ""  # damaged: saving trains it anew

    def _counted(self, what: str, parts: Sequence[Part]) -> Iterator[tuple[Part, Callable[[int], None]]]:
        """Each part with what is to be called with the number of its tokens that are done."""
        before, total = 0, sum(part.segment.num_tokens for part in parts)
        for part in parts:
            yield part, partial(tell_share, partial(self._told, what), total, before)
            before += part.segment.num_tokens

    def train(self, held: Holding, folder: Path, exact_up_to: int) -> bool:
        """Train what there is none of, or what the collection has outgrown.  -> whether anything was"""
        tokens = held.num_tokens
        if not tokens or (tokens <= exact_up_to and not self._always):
            return False
        known = self.centroids.num_tokens if self.centroids else 0
        due = not known or tokens > OUTGROWN * known
        if due:
            self._train_centroids(held, folder)
        with_faiss = self._by_faiss and tokens >= by_faiss.LEAST and (due or not self.faiss)
        if with_faiss:
            self._train_faiss(held, folder)
        return due or with_faiss

    def _train_centroids(self, held: Holding, folder: Path) -> None:
        number = min(MOST_SAMPLED, number_for(held.num_tokens) * SAMPLED)
        rows = np.concatenate([p.segment.codec.integers(p.segment.payload[t]) for p, t in held.sample(number)])
        name, told = f"centroids-{secrets.token_hex(6)}", partial(self._told, "training centroids")
        centroids = train_centroids(rows, name, held.num_tokens, told)
        centroids.save(folder / centroids.name)
        self.centroids = centroids  # only now: a manifest may name it
        for part in held.parts:
            part.coded = None

    def _train_faiss(self, held: Holding, folder: Path) -> None:
        name = f"faiss-{secrets.token_hex(6)}"
        number = min(MOST_SAMPLED, by_faiss.num_sampled(held.parts[0].segment.codec.dimension, held.num_tokens))
        sample = np.concatenate([by_faiss.floats_of(p.segment, t) for p, t in held.sample(number)])
        self._told("training FAISS", 0.0)  # which does not tell how far it is
        by_faiss.train(sample, held.num_tokens, folder / name)
        self.faiss = name
        for part in held.parts:
            part.tokens = None

    @property
    def files(self) -> set[str]:
        """Those that all segments share."""
        return {name for name in (self.centroids.name if self.centroids else "", self.faiss) if name}

    def forget(self, held: Holding) -> None:
        self.centroids, self.faiss = None, ""
        for part in held.parts:
            part.coded = part.tokens = None
