"""The token index: passages are added, deleted, saved and searched.

Three regimes find candidates, and all rank them in the same way.  `exact` reads every token; `tokens` compares the
query with centroids first and reads only the best passages; `faiss` retrieves each query token's nearest tokens.
Deleting marks passages, saving writes new files and then the manifest that names them, and segments are merged if there
are many of them or many deletions.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from propcite.retrieval.alignment import NEAREST
from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.encoding.bundled import keep_index_hint
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import (
    IndexHit,
    IndexOptions,
    IndexStats,
    ProgressReport,
    Regime,
    SearchOptions,
    ignore_progress,
)
from propcite.retrieval.index.allowed import Allowed, allowed_of
from propcite.retrieval.index.codec import Codec
from propcite.retrieval.index.contents import Contents
from propcite.retrieval.index.derived_files import DerivedFiles
from propcite.retrieval.index.exchange import Steps, Sums, together
from propcite.retrieval.index.live_segment import LiveSegment, segment_path
from propcite.retrieval.index.manifest import read_manifest
from propcite.retrieval.index.merge import MergeInput
from propcite.retrieval.index.plan import EXACT_UP_TO, SearchPlan, valid_regime
from propcite.retrieval.index.pruning import Pruning, valid_pruning, valid_share
from propcite.retrieval.index.ranking import QueryWeights
from propcite.retrieval.index.search import DEFAULT_RETRIEVED, Search
from propcite.retrieval.index.segment import build_segment, check_tokens, prune_tokens
from propcite.retrieval.index.storage import Storage
from propcite.retrieval.text import Granularity, Passage
from propcite.retrieval.timing import Timer

BITS = 8


@dataclass(frozen=True, slots=True)
class MadeBy:
    """The encoder of an index with the dimension of its vectors, and the names of the segments, each made once."""

    encoder: str
    dimension: int
    segments: tuple[str, ...]


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
        at: str = "",
        **options: Unpack[IndexOptions],
    ) -> TokenIndex:
        """Open the index in a folder; `at` is the name of its version, by default the one that counts.

        Fails if it was made by another encoder than `encoder`, unless that is empty.  `tolerant` leaves out damaged
        segments.  `earlier` is an index that was opened or saved there, unchanged since: what both have is shared, and
        only new segments and deletions are read.  The option `bits` applies to passages that are added.
        """
        manifest = read_manifest(folder, at)
        if encoder and manifest.encoder != encoder:
            raise IndexFormatError(
                f"the index was made by {manifest.encoder}, the encoder is {encoder}:"
                f" {keep_index_hint(manifest.encoder)}run propcite reindex"
            )
        index = cls(manifest.dimension, manifest.encoder, **options)
        try:
            index._storage.read(folder, manifest, tolerant, earlier._storage if earlier else None)
        except IndexFormatError:
            if read_manifest(folder, at) == manifest:
                raise
            # A writer has replaced the segments since the manifest was read.
            return cls.load(folder, encoder, tolerant=tolerant, earlier=earlier, at=at, **options)
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
            check_tokens(passage, tokens, self.dimension)
        for i, count in Counter(p.id for p in passages).items():
            if count > 1 or i in known:
                raise ValueError(f"passage {i!r} is in the index already: delete it first")
        if self.stored_share < 1:
            vectors = [
                prune_tokens(*one, self.stored_share, self.pruning) for one in zip(passages, vectors, strict=True)
            ]
        self._contents.attach(LiveSegment(build_segment(passages, vectors, self.codec)))

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
            regime=self._plan(self.regime).regime(),
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

    def search(self, query: Floats, weights: Floats, **options: Unpack[SearchOptions]) -> list[list[IndexHit]]:
        """Return the k best units for each row of weights.  (q, d), (n, q) -> n lists, best first, ties by id"""
        return together([self.search_steps(query, weights, **options)])[0]

    def search_steps(
        self, query: Floats, weights: Floats, **options: Unpack[SearchOptions]
    ) -> Steps[list[list[IndexHit]]]:
        """Search as one part of a divided index (`exchange`)."""
        k, regime, allow = options["k"], options.get("regime", "auto"), options.get("allow")
        ranks_passages = options.get("granularity", Granularity.PASSAGE) == Granularity.PASSAGE
        rows = QueryWeights(
            weights,
            weights if (for_passages := options.get("passage_weights")) is None else for_passages,
            None if ranks_passages else options.get("passage_share", 0.0),
            options.get("alignment", NEAREST),
            options.get("words"),
        )
        search = Search(
            self._plan(self.regime if regime == "auto" else valid_regime(regime)),
            self._contents.masks(None if allow is None else allowed_of(allow)),
            query,
            rows,
            options.get("refine"),
            options.get("num_retrieved", DEFAULT_RETRIEVED),
            options.get("missing_similarity"),
            options.get("asking_share", 1.0),
            options.get("worths"),
            allow is not None,
            options.get("timer") or Timer(),
            options.get("word_query"),
        )
        return search.steps(k)

    def search_many(
        self, queries: Sequence[tuple[Floats, Floats]], *, threads: int = 0, **options: Any
    ) -> list[list[list[IndexHit]]]:
        """Run `search` for many (query, weights) pairs in parallel, one thread per query."""
        workers = threads or os.cpu_count() or 1
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(lambda query: self.search(*query, **options), queries))

    def _plan(self, regime: Regime) -> SearchPlan:
        return SearchPlan(self._contents.segments, self.codec, self._derived.centroids, regime, self.exact_up_to)

    @property
    def missing(self) -> tuple[str, ...]:
        """Return nothing: an index on this machine is searched as a whole."""
        return ()

    @property
    def made_by(self) -> MadeBy:
        return MadeBy(self.encoder, self.dimension, tuple(live.name for live in self._contents.segments if live.name))

    @property
    def sizes(self) -> Sums:
        """Return what decides the regime of a search."""
        return self._plan(self.regime).sizes

    def regime_for(self, sizes: Sums) -> Regime:
        """Return how an index of these sizes is searched."""
        return self._plan(self.regime).regime(sizes)

    # On disk

    def save(self, folder: Path) -> None:
        """Save all changes or none: new files first, then the manifest that names them, by rename."""
        with self.writing(folder):
            self.write(folder)
            self.train_together([self], [folder])

    def writing(self, folder: Path) -> AbstractContextManager[None]:
        """Lock the folder for writing; fail if another process is writing it, or has written since it was read."""
        return self._storage.writing(folder)

    def write(self, folder: Path) -> None:
        """Write all changes to a folder that is locked, without training what searches derive from them."""
        self._storage.compact(folder)
        self._storage.stage(folder)
        self._storage.commit(folder, self.encoder)  # so that additions are safe before the long work begins

    def prepare(self, folder: Path) -> dict[str, str]:
        """Write all changes beside what readers see; return the name of the new version by shard (`Versions`).

        Readers that know the name open it, all others once `promote` makes it count.
        """
        with self.writing(folder):
            return {"": self.write_prepared(folder)}

    def write_prepared(self, folder: Path) -> str:
        """Write all changes as `prepare` does, in a folder that is locked already; return the name of the version."""
        self._storage.compact(folder)
        self._storage.stage(folder)
        return self._storage.prepare(folder, self.encoder)

    def promote(self, folder: Path) -> None:
        """Make the prepared version count, then train what searches lack."""
        with self.writing(folder):
            self._storage.promote(folder)
            self.train_together([self], [folder])

    def promote_prepared(self, folder: Path) -> None:
        """Make the prepared version count, in a folder that is locked already."""
        self._storage.promote(folder)

    @property
    def version_on_disk(self) -> str:
        """Return the name of the version that was read or written last; empty if there is none."""
        return self._storage.version

    @property
    def changed(self) -> bool:
        """Return whether there are changes that are not on disk."""
        return self._storage.changed

    @staticmethod
    def train_together(indexes: Sequence[TokenIndex], folders: Sequence[Path]) -> None:
        """Train on the tokens of all these indexes what they lack or have outgrown, and give it to each of them."""
        first, all_segments = indexes[0], [live for index in indexes for live in index._contents.segments]
        trained = first._derived.train(Contents(all_segments), folders[0], first.exact_up_to)
        for index, folder in zip(indexes, folders, strict=True):
            adopted = index is not first and index._derived.adopt(
                first._derived, folders[0], folder, index._contents.segments
            )
            if trained or adopted:
                index._storage.stage(folder)
                index._storage.commit(folder, index.encoder)
            index._storage.clean(folder)

    @property
    def segments(self) -> Sequence[LiveSegment]:
        return self._contents.segments

    def write_merged(self, inputs: Sequence[MergeInput], folder: Path, progress: Callable[[int], None]) -> None:
        """Write a new index in a new folder that holds the chosen passages of other segments, as they are stored."""
        with self.writing(folder):
            self._storage.add_merged(inputs, folder, progress)
            self.write(folder)

    def adopt(self, other: TokenIndex, source: Path, folder: Path) -> None:
        """Use what another index has trained, and save."""
        with self.writing(folder):
            if self._derived.adopt(other._derived, source, folder, self._contents.segments):
                self.write(folder)

    def share_trained(self, other: TokenIndex) -> None:
        """Share what another index has trained too; drop what it has not, until `train_together`."""
        self._derived.share_trained(other._derived, self._contents.segments)

    def stage(self, folder: Path) -> None:
        """Write additions to disk to free their memory; readers do not see them before `save`."""
        self._storage.move_to(folder)
        self._storage.stage(folder)

    def staged(self) -> dict[str, list[str]]:
        """Return the names of the segments that are staged and in no version yet, by shard (`Versions`)."""
        return {"": self._storage.staged}

    def attach_staged(self, folder: Path, names: Mapping[str, Sequence[str]]) -> None:
        """Add segments that an index of the same version has staged; IndexFormatError if one of them is gone."""
        self._storage.attach_staged(folder, names[""])

    def compact(self, folder: Path) -> None:
        """Merge all segments into one without deleted passages, and save."""
        with self.writing(folder):
            self.write_compact(folder)
            self.train_together([self], [folder])

    def write_compact(self, folder: Path) -> None:
        """Write as `write` does, after merging all segments."""
        if len(self._contents.segments) > 1 or any(live.deleted for live in self._contents.segments):
            self._storage.merge(folder, self._contents.segments)
        self.write(folder)

    def rewrite_without(self, folder: Path, damaged: Collection[str], files: Collection[str] = ()) -> None:
        """Delete damaged passages, rewrite the segments that held them and those of the named files, and save."""
        affected = {live for live, _ in self._contents.positions(damaged).values()}
        affected |= {live for live in self._contents.segments if segment_path(folder, live.name).name in files}
        self.delete(damaged)
        with self.writing(folder):
            for live in affected:
                self._storage.merge(folder, [live])
            self.write(folder)
            self.train_together([self], [folder])
