"""The token index: passages are added, deleted, saved and searched.

Three regimes find candidates, and all rank them in the same way.  `exact` reads every token; `tokens` compares the
query with centroids first and reads only the best passages; `faiss` retrieves each query token's nearest tokens.
Deleting marks passages, saving writes new files and then the manifest that names them, and segments are merged if there
are many of them or many deletions.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.encoding.base import Floats, Ints, TokenVectors
from propcite.retrieval.encoding.bundled import keep_index_hint
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import IndexHit, IndexStats, ProgressReport, ignore_progress
from propcite.retrieval.index.allowed import Allowed, allowed_of
from propcite.retrieval.index.codec import Codec
from propcite.retrieval.index.contents import Contents
from propcite.retrieval.index.derived_files import DerivedFiles
from propcite.retrieval.index.live_segment import LiveSegment, segment_path
from propcite.retrieval.index.manifest import read_manifest
from propcite.retrieval.index.pruning import Pruning, valid_pruning, valid_share
from propcite.retrieval.index.ranking import QueryWeights
from propcite.retrieval.index.search import DEFAULT_RETRIEVED, EXACT_UP_TO, Regime, Search, SearchPlan, valid_regime
from propcite.retrieval.index.segment import build_segment, prune_tokens
from propcite.retrieval.index.storage import Storage
from propcite.retrieval.text import Granularity, Passage
from propcite.retrieval.timing import Timer
from propcite.retrieval.words.query import WordQuery

BITS = 8


class IndexOptions(TypedDict, total=False):
    """How an index is stored and searched."""

    bits: int
    regime: Regime
    exact_up_to: int
    searched_share: float
    stored_share: float
    pruning: Pruning
    progress: ProgressReport


class TokenIndex:
    """Token vectors of passages, in memory and in a folder; a passage's id is unique until it is deleted.

    `searched_share` of each passage's tokens are used to find candidates; passages are scored by all stored tokens,
    which are a `stored_share` of all.  `pruning` is how these shares are chosen.  `progress` gets reports of long work.
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
        progress: ProgressReport = ignore_progress,
    ) -> None:
        self.dimension = dimension
        self.encoder = encoder
        self.codec = Codec(dimension, bits)
        self.regime = valid_regime(regime)
        self.exact_up_to = exact_up_to
        self.stored_share, self.pruning = valid_share(stored_share), valid_pruning(pruning)
        self._contents = Contents()
        self._derived = DerivedFiles(self.regime, progress, searched_share, pruning)
        self._storage = Storage(self.codec, self._contents, self._derived, progress)

    @classmethod
    def load(
        cls,
        folder: Path,
        encoder: str = "",
        *,
        tolerant: bool = False,
        earlier: TokenIndex | None = None,
        **options: Unpack[IndexOptions],
    ) -> TokenIndex:
        """Open the index in a folder.

        Fails if it was made by another encoder than `encoder`, unless that is empty.  `tolerant` leaves out damaged
        segments.  `earlier` is an index that was opened or saved there, unchanged since: what both have is shared, and
        only new segments and deletions are read.  The option `bits` applies to passages that are added.
        """
        manifest = read_manifest(folder)
        if encoder and manifest.encoder != encoder:
            raise IndexFormatError(
                f"the index was made by {manifest.encoder}, the encoder is {encoder}:"
                f" {keep_index_hint(manifest.encoder)}run propcite reindex"
            )
        index = cls(manifest.dimension, manifest.encoder, **options)
        try:
            index._storage.read(folder, manifest, tolerant, earlier._storage if earlier else None)
        except IndexFormatError:
            if read_manifest(folder) == manifest:
                raise
            # A writer has replaced the segments since the manifest was read.
            return cls.load(folder, encoder, tolerant=tolerant, earlier=earlier, **options)
        return index

    # Contents

    def add(self, passages: Sequence[Passage], vectors: Sequence[TokenVectors]) -> None:
        """Make passages searchable; `save` writes them to disk."""
        if not passages:
            return
        known = self._contents.positions(p.id for p in passages)
        self._attach(passages, vectors, known)

    def _attach(self, passages: Sequence[Passage], vectors: Sequence[TokenVectors], known: Collection[str]) -> None:
        """Add passages whose ids are not among the known ones."""
        for passage, tokens in zip(passages, vectors, strict=True):
            self._check(passage, tokens)
        for i, count in Counter(p.id for p in passages).items():
            if count > 1 or i in known:
                raise ValueError(f"passage {i!r} is in the index already: delete it first")
        if self.stored_share < 1:
            vectors = [
                prune_tokens(*one, self.stored_share, self.pruning) for one in zip(passages, vectors, strict=True)
            ]
        self._contents.attach(LiveSegment(build_segment(passages, vectors, self.codec)))

    def _check(self, passage: Passage, tokens: TokenVectors) -> None:
        if not len(tokens):
            raise ValueError(f"passage {passage.id!r} has no token")
        if tokens.vectors.shape[1:] != (self.dimension,):
            got = ", ".join(map(str, tokens.vectors.shape[1:])) or "single numbers"
            raise ValueError(f"vectors must have {self.dimension} dimensions, got {got}")
        if tokens.offsets.shape != (len(tokens.vectors), 2):
            raise ValueError(
                f"offsets must have a row for each of {len(tokens)} tokens, got shape {tokens.offsets.shape}"
            )
        if not np.isfinite(tokens.vectors).all():
            raise ValueError(f"passage {passage.id!r} has a vector that is not finite")
        if not tokens.vectors.any(axis=1).all():
            raise ValueError(f"passage {passage.id!r} has a vector of zeros")

    def delete(self, ids: Collection[str]) -> int:
        """Delete passages, ignoring unknown ids, and return how many were there."""
        return self._contents.delete(ids)

    def update(self, passages: Sequence[Passage], vectors: Sequence[TokenVectors]) -> None:
        """Replace the passages with these ids, all or none of them; unknown ids are added."""
        if not passages:
            return
        replaced = self._contents.positions(p.id for p in passages)
        self._attach(passages, vectors, ())
        for live, number in replaced.values():
            live.delete(number)

    def ids(self, allow: Allowed | None = None) -> set[str]:
        return self._contents.ids(allow)

    def __len__(self) -> int:
        return len(self._contents)

    @property
    def version(self) -> str:
        return self._contents.version(self.encoder)

    @property
    def digest(self) -> int:
        """Return a number that names the set of passage ids: the sum of their hashes (`passage_ids`)."""
        return self._contents.digest

    def vectors(self, passage_id: str) -> TokenVectors:
        return self.vectors_of([passage_id])[passage_id]

    def vectors_of(self, ids: Iterable[str]) -> dict[str, TokenVectors]:
        positions = self._contents.positions(ids)
        return {i: live.segment.vectors(number) for i, (live, number) in positions.items()}

    def stats(self) -> IndexStats:
        segments = self._contents.segments
        return IndexStats(
            regime=self._plan(self.regime).regime,
            encoder=self.encoder,
            dimension=self.dimension,
            bits=tuple(sorted({live.segment.codec.bits for live in segments}, reverse=True)),
            passages=len(self),
            tokens=self._contents.num_tokens,
            deleted=sum(len(live.deleted) for live in segments),
            segments=len(segments),
            centroids=len(self._derived.centroids or ()),
            bytes=sum(live.segment.bytes for live in segments) + self._storage.derived_bytes,
            searched_share=max((live.searched_share for live in segments), default=1.0),
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
        allow: Allowed | Collection[str] | None = None,
        regime: Regime = "auto",
        refine: int | None = None,
        num_retrieved: int = DEFAULT_RETRIEVED,
        missing_similarity: float | None = None,
        asking_share: float = 1.0,
        worths: Floats | None = None,
        alignment: Alignment = NEAREST,
        words: Ints | None = None,
        word_query: WordQuery | None = None,
        timer: Timer | None = None,
    ) -> list[list[IndexHit]]:
        """Return the k best units for each row of weights.  (q, d), (n, q) -> n lists, best first, ties by id

        Units are passages or sentences; `passage_share` of a sentence's score is its passage's, with the weights
        `passage_weights` if they are given.  `refine` candidates per row are read as a whole, by default a number that
        depends on k; with 0 the rank is XTR's score over `num_retrieved` tokens per query token, and
        `missing_similarity` replaces similarities that were not retrieved, by default the floor.  Only the
        `asking_share` of the query's tokens look for candidates: the largest by `worths` (q,), or else by weight.
        Refined units are scored under the `alignment`; some need the vocabulary ids `words` (q,) of the query's tokens.
        `word_query` adds exact words to the scores, or ranks by words alone.
        `allow` limits the search to these passages.  `timer` measures the stages.
        """
        for_passages = weights if passage_weights is None else passage_weights
        share = None if granularity == Granularity.PASSAGE else passage_share
        search = Search(
            self._plan(self.regime if regime == "auto" else valid_regime(regime)),
            self._contents.masks(None if allow is None else allowed_of(allow)),
            query,
            QueryWeights(weights, for_passages, share, alignment, words),
            refine,
            num_retrieved,
            missing_similarity,
            asking_share,
            worths,
            allow is not None,
            Timer() if timer is None else timer,
            word_query,
        )
        return search.hits(k)

    def search_many(
        self, queries: Sequence[tuple[Floats, Floats]], *, threads: int = 0, **options: Any
    ) -> list[list[list[IndexHit]]]:
        """Run `search` for many (query, weights) pairs in parallel, one thread per query."""
        workers = threads or os.cpu_count() or 1
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(lambda query: self.search(*query, **options), queries))

    def _plan(self, regime: Regime) -> SearchPlan:
        return SearchPlan(self._contents.segments, self.codec, self._derived.centroids, regime, self.exact_up_to)

    # On disk

    def save(self, folder: Path) -> None:
        """Save all changes or none: new files first, then the manifest that names them, by rename."""
        with self._storage.writing(folder):
            self._save(folder)

    def _save(self, folder: Path) -> None:
        self._storage.compact(folder)
        self._storage.stage(folder)
        self._storage.commit(folder, self.encoder)  # so that additions are safe before the long work begins
        if self._derived.train(self._contents, folder, self.exact_up_to):
            self._storage.stage(folder)
            self._storage.commit(folder, self.encoder)
        self._storage.clean(folder)

    def stage(self, folder: Path) -> None:
        """Write additions to disk to free their memory; readers do not see them before `save`."""
        self._storage.move_to(folder)
        self._storage.stage(folder)

    def compact(self, folder: Path) -> None:
        """Merge all segments into one without deleted passages, and save."""
        with self._storage.writing(folder):
            if len(self._contents.segments) > 1 or any(live.deleted for live in self._contents.segments):
                self._storage.merge(folder, self._contents.segments)
            self._save(folder)

    def rewrite_without(self, folder: Path, damaged: Collection[str], files: Collection[str] = ()) -> None:
        """Delete damaged passages, rewrite the segments that held them and those of the named files, and save."""
        affected = {live for live, _ in self._contents.positions(damaged).values()}
        affected |= {live for live in self._contents.segments if segment_path(folder, live.name).name in files}
        self.delete(damaged)
        with self._storage.writing(folder):
            for live in affected:
                self._storage.merge(folder, [live])
            self._save(folder)
