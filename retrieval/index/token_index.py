"""The token index: passages added, deleted, saved and searched; one manifest names what counts.

Three regimes find candidates, one way ranks them.  `exact` reads every token; `tokens` looks at centroids first and
reads the best passages whole; `faiss` retrieves each query token's nearest tokens.  Deleting marks; saving writes what
is new and replaces the manifest; what many changes left behind is joined.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.encoding.base import Floats, Ints, TokenVectors
from propcite.retrieval.encoding.checkpoints import keeping
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import IndexHit, IndexStats, Told, nobody
from propcite.retrieval.index.codec import Codec
from propcite.retrieval.index.disk import Disk
from propcite.retrieval.index.helping import Help
from propcite.retrieval.index.holding import Holding
from propcite.retrieval.index.manifest import read_manifest
from propcite.retrieval.index.parts import Part
from propcite.retrieval.index.pruning import Pruning, known_pruning, known_share
from propcite.retrieval.index.ranking import Wanted
from propcite.retrieval.index.search import EXACT_UP_TO, RETRIEVED, Plan, Regime, Search, known_regime
from propcite.retrieval.index.segment import build_segment, pruned
from propcite.retrieval.text import Granularity, Passage

BITS = 8


class IndexOptions(TypedDict, total=False):
    """How an index is kept and searched; what it holds does not depend on them."""

    bits: int
    regime: Regime
    exact_up_to: int
    searched_share: float
    stored_share: float
    pruning: Pruning
    told: Told


class TokenIndex:
    """Passages are found by id; an id is used once until it is deleted.  `told` hears of work that takes long.

    `searched_share` of each passage's tokens are what candidates are looked for by, where they are looked for at all;
    whatever is read whole is read with all that is stored, which `stored_share` may make fewer.  `pruning` chooses.
    """

    def __init__(
        self,
        dimension: int,
        encoder: str,
        *,
        bits: int = BITS,
        regime: Regime = "auto",
        exact_up_to: int = EXACT_UP_TO,
        searched_share: float = 1.0,
        stored_share: float = 1.0,
        pruning: Pruning = "sentences",
        told: Told = nobody,
    ) -> None:
        self.dimension = dimension
        self.encoder = encoder
        self.codec = Codec(dimension, bits)
        self.regime = known_regime(regime)
        self.exact_up_to = exact_up_to
        self.stored_share, self.pruning = known_share(stored_share), known_pruning(pruning)
        self._held = Holding()
        self._help = Help(self.regime, told, searched_share, pruning)
        self._disk = Disk(self.codec, self._held, self._help, told)

    @classmethod
    def load(
        cls, folder: Path, encoder: str = "", *, tolerant: bool = False, **options: Unpack[IndexOptions]
    ) -> TokenIndex:
        """The index in this folder; with `encoder`, only if that encoder made it.  `bits` are for what is added.

        `tolerant` leaves damaged segments out.
        """
        manifest = read_manifest(folder)
        if encoder and manifest.encoder != encoder:
            raise IndexFormatError(
                f"the index was made by {manifest.encoder}, the encoder is {encoder}:"
                f" {keeping(manifest.encoder)}run propcite reindex"
            )
        index = cls(manifest.dimension, manifest.encoder, **options)
        try:
            index._disk.read(folder, manifest, tolerant)
        except IndexFormatError:
            if read_manifest(folder) == manifest:
                raise
            # A writer has replaced the segments since the manifest was read.
            return cls.load(folder, encoder, tolerant=tolerant, **options)
        return index

    # What is held

    def add(self, passages: Sequence[Passage], vectors: Sequence[TokenVectors]) -> None:
        """Make passages searchable.  Nothing is on disk before `save`."""
        if not passages:
            return
        for passage, tokens in zip(passages, vectors, strict=True):
            self._check(passage, tokens)
        for i, times in Counter(p.id for p in passages).items():
            if times > 1 or i in self._held.places:
                raise ValueError(f"passage {i!r} is in the index already: delete it first")
        if self.stored_share < 1:
            vectors = [pruned(*one, self.stored_share, self.pruning) for one in zip(passages, vectors, strict=True)]
        self._held.attach(Part(build_segment(passages, vectors, self.codec)))

    def _check(self, passage: Passage, tokens: TokenVectors) -> None:
        if not len(tokens):
            raise ValueError(f"passage {passage.id!r} has no token")
        if tokens.vectors.shape[1:] != (self.dimension,):
            got = ", ".join(map(str, tokens.vectors.shape[1:])) or "single numbers"
            raise ValueError(f"wanted vectors of {self.dimension} dimensions, got {got}")
        if tokens.offsets.shape != (len(tokens.vectors), 2):
            raise ValueError(f"wanted {len(tokens.vectors)} tokens' offsets, got shape {tokens.offsets.shape}")
        if not np.isfinite(tokens.vectors).all():
            raise ValueError(f"passage {passage.id!r} has a vector that is not a number")
        if not tokens.vectors.any(axis=1).all():
            raise ValueError(f"passage {passage.id!r} has a vector of zeros")

    def delete(self, ids: Collection[str]) -> int:
        """Forget passages; unknown ids are passed over.  -> how many were there"""
        return self._held.delete(ids)

    def update(self, passages: Sequence[Passage], vectors: Sequence[TokenVectors]) -> None:
        """Put passages in the place of those with their ids, all or none; unknown ones are added."""
        places = self._held.places
        before = {p.id: places.pop(p.id) for p in passages if p.id in places}
        try:
            self.add(passages, vectors)
        except BaseException:
            places |= before
            raise
        for part, number in before.values():
            part.delete(number)

    def ids(self) -> set[str]:
        return set(self._held.places)

    def __len__(self) -> int:
        return len(self._held)

    @property
    def version(self) -> str:
        return self._held.digest(self.encoder)

    def vectors(self, passage_id: str) -> TokenVectors:
        part, number = self._held.places[passage_id]
        return part.segment.vectors(number)

    def stats(self) -> IndexStats:
        parts = self._held.parts
        return IndexStats(
            regime=self._plan(self.regime).regime,
            encoder=self.encoder,
            dimension=self.dimension,
            bits=tuple(sorted({p.segment.codec.bits for p in parts}, reverse=True)),
            passages=len(self),
            tokens=self._held.num_tokens,
            deleted=sum(len(p.deleted) for p in parts),
            segments=len(parts),
            centroids=len(self._help.centroids or ()),
            bytes=sum(p.segment.bytes for p in parts) + self._disk.bytes_of_help,
            searched_share=max((p.searched_share for p in parts), default=1.0),
        )

    # Searching

    def search(
        self,
        query: Floats,
        weights: Floats,
        *,
        k: int,
        granularity: Granularity = Granularity.PASSAGE,
        passage_share: float = 0.0,
        passage_weights: Floats | None = None,
        allow: Collection[str] | None = None,
        regime: Regime = "auto",
        refine: int | None = None,
        retrieved: int = RETRIEVED,
        missing: float | None = None,
        asking: float = 1.0,
        worths: Floats | None = None,
        alignment: Alignment = NEAREST,
        words: Ints | None = None,
        timings: dict[str, float] | None = None,
    ) -> list[list[IndexHit]]:
        """The best k units for each row of weights.  (q, d), (n, q) -> n lists, best first, ties in index order.

        Units are passages or sentences; a sentence's score takes `passage_share` of its passage's, which
        `passage_weights` ask for where they are given.  Once candidates are known, `refine` of them a row are read
        whole, None for as many as k asks for; 0 ranks by XTR's scores over `retrieved` tokens a query token, with
        `missing` for what was not retrieved, None for the floor; `asking` is the share of the query's tokens that look
        for candidates, by their `worths` (q,) or weights.  Units that are read are scored under the `alignment`; the
        one by `words` asks for the query's own (q,), as ids of the vocabulary.  `timings` receives milliseconds a
        stage.
        """
        of_passages = weights if passage_weights is None else passage_weights
        share = None if granularity == Granularity.PASSAGE else passage_share
        search = Search(
            self._plan(self.regime if regime == "auto" else known_regime(regime)),
            self._held.masks(allow),
            query,
            Wanted(weights, of_passages, share, alignment, words),
            refine,
            retrieved,
            missing,
            asking,
            worths,
            allow is not None,
            {} if timings is None else timings,
        )
        return search.hits(k)

    def search_many(
        self, queries: Sequence[tuple[Floats, Floats]], *, threads: int = 0, **options: Any
    ) -> list[list[list[IndexHit]]]:
        """`search` for many queries with their weights, one thread each, beside each other."""
        workers = threads or os.cpu_count() or 1
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(lambda asked: self.search(*asked, **options), queries))

    def _plan(self, regime: Regime) -> Plan:
        return Plan(self._held.parts, self.codec, self._help.centroids, regime, self.exact_up_to)

    # On disk

    def save(self, folder: Path) -> None:
        """All or nothing: new segments first, then the manifest that names them, by rename."""
        with self._disk.writing(folder):
            self._save(folder)

    def _save(self, folder: Path) -> None:
        self._disk.compact(folder)
        self._disk.stage(folder)
        self._disk.commit(folder, self.encoder)  # what was added is safe before the long work begins
        if self._help.train(self._held, folder, self.exact_up_to):
            self._disk.stage(folder)
            self._disk.commit(folder, self.encoder)
        self._disk.clean(folder)

    def stage(self, folder: Path) -> None:
        """Write what is new without naming it: no reader sees it before `save`, and it no longer takes memory."""
        self._disk.move_to(folder)
        self._disk.stage(folder)

    def compact(self, folder: Path) -> None:
        """Join all segments into one, without what was deleted, and save."""
        with self._disk.writing(folder):
            if len(self._held.parts) > 1 or any(p.deleted for p in self._held.parts):
                self._disk.join(folder, self._held.parts)
            self._save(folder)

    def mend(self, folder: Path, damaged: Collection[str]) -> None:
        """Write the segments that hold some of these passages anew, without them, and save."""
        hurt = {self._held.places[i][0] for i in damaged if i in self._held.places}
        self.delete(damaged)
        with self._disk.writing(folder):
            for part in hurt:
                self._disk.join(folder, [part])
            self._save(folder)
