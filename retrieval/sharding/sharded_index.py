"""An index in several shards, opened in one process: they are searched at once, and return what one index would.

Each shard takes the same steps and says after each what the others need of it (`index.exchange`): how large it is, how
often it has the words of the query, how good its best candidates are.  So candidates are cut, similarities imputed and
words weighed over the whole collection.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any, Unpack

from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import IndexHit, IndexOptions, IndexStats, SearchOptions
from propcite.retrieval.index.allowed import Allowed
from propcite.retrieval.index.contents import version_name
from propcite.retrieval.index.exchange import Sums, together
from propcite.retrieval.index.manifest import MANIFEST_FILE
from propcite.retrieval.index.token_index import MadeBy, TokenIndex
from propcite.retrieval.sharding.layout import Layout, shard_numbers
from propcite.retrieval.text import Passage
from propcite.retrieval.timing import Timer


class ShardedIndex:
    """The shards of one index, in order, with the places of their folders."""

    def __init__(self, shards: Sequence[TokenIndex], layout: Layout) -> None:
        self.shards, self.layout = list(shards), layout

    @classmethod
    def load(
        cls,
        folder: Path,
        layout: Layout,
        encoder: str = "",
        *,
        tolerant: bool = False,
        earlier: ShardedIndex | None = None,
        at: Mapping[str, str] | None = None,
        **options: Unpack[IndexOptions],
    ) -> ShardedIndex:
        """Open all shards, as `TokenIndex.load` opens one; `tolerant` leaves out those that cannot be read."""
        known = earlier.shards if earlier and earlier.layout == layout else []
        shards: list[TokenIndex] = []
        unreadable: list[int] = []
        for number, (place, before) in enumerate(zip_longest(layout.folders(folder), known)):
            if not (place / MANIFEST_FILE).exists() and not tolerant:
                raise IndexFormatError(
                    f"shard {number} of {len(layout.places)} is not at {place}: bring its folder back, or run "
                    "propcite reindex"
                )
            try:
                name = at[place.name] if at else ""
                shards.append(TokenIndex.load(place, encoder, tolerant=tolerant, earlier=before, at=name, **options))
            except IndexFormatError:
                if not tolerant:
                    raise
                unreadable.append(number)
        if not shards:
            raise IndexFormatError(f"no shard of {folder} can be read: run propcite reindex")
        for number in unreadable:
            shards.insert(number, TokenIndex(shards[0].dimension, shards[0].encoder, **options))
        index = cls(shards, layout)
        check_shards([shard.made_by for shard in shards])
        for shard in shards[1:]:
            shard.share_trained(shards[0])
        return index

    @property
    def encoder(self) -> str:
        return self.shards[0].encoder

    @property
    def dimension(self) -> int:
        return self.shards[0].dimension

    # Contents

    def _by_shard(self, ids: Sequence[str]) -> dict[int, list[int]]:
        """Return the places of these ids that belong to each shard."""
        places: dict[int, list[int]] = defaultdict(list)
        for place, shard in enumerate(shard_numbers(ids, len(self.shards)).tolist()):
            places[shard].append(place)
        return places

    def _for_each(
        self,
        do: Callable[[TokenIndex, Sequence[Passage], Sequence[TokenVectors]], None],
        passages: Sequence[Passage],
        vectors: Sequence[TokenVectors],
    ) -> None:
        if len(passages) != len(vectors):
            raise ValueError(f"{len(passages)} passages have vectors for {len(vectors)}")
        for shard, places in self._by_shard([passage.id for passage in passages]).items():
            do(self.shards[shard], [passages[n] for n in places], [vectors[n] for n in places])

    def add(self, passages: Sequence[Passage], vectors: Sequence[TokenVectors]) -> None:
        """Make passages searchable; `save` writes them to disk."""
        self._for_each(TokenIndex.add, passages, vectors)

    def update(self, passages: Sequence[Passage], vectors: Sequence[TokenVectors]) -> None:
        """Replace the passages with these ids; unknown ids are added."""
        self._for_each(TokenIndex.update, passages, vectors)

    def delete(self, ids: Collection[str]) -> int:
        """Delete passages, ignoring unknown ids, and return how many were there."""
        listed = list(ids)
        return sum(
            self.shards[shard].delete([listed[n] for n in places]) for shard, places in self._by_shard(listed).items()
        )

    def ids(self, allow: Allowed | None = None) -> set[str]:
        return set().union(*(shard.ids(allow) for shard in self.shards))

    def __len__(self) -> int:
        return sum(map(len, self.shards))

    @property
    def digest(self) -> int:
        """Return a number that names the set of passage ids: the sum of their hashes (`passage_ids`)."""
        return sum(shard.digest for shard in self.shards) % 2**64

    @property
    def version(self) -> str:
        return version_name(self.encoder, len(self), self.digest)

    def vectors(self, passage_id: str) -> TokenVectors:
        return self.vectors_of([passage_id])[passage_id]

    def vectors_of(self, ids: Iterable[str]) -> dict[str, TokenVectors]:
        """Return the vectors of passages by id, without unknown ids."""
        listed = list(dict.fromkeys(ids))
        vectors: dict[str, TokenVectors] = {}
        for shard, places in self._by_shard(listed).items():
            vectors |= self.shards[shard].vectors_of(listed[n] for n in places)
        return vectors

    @property
    def missing(self) -> tuple[str, ...]:
        """Return nothing: all shards on this machine are searched."""
        return ()

    def stats(self) -> IndexStats:
        return joined_stats([shard.stats() for shard in self.shards], self.shards[0].regime_for(self._sizes))

    @property
    def _sizes(self) -> Sums:
        return Sums.merged([shard.sizes for shard in self.shards])

    # Searching

    def search(self, query: Floats, weights: Floats, **options: Unpack[SearchOptions]) -> list[list[IndexHit]]:
        """Return the k best units for each row of weights.  (q, d), (n, q) -> n lists, best first, ties by id"""
        timer, timers = options.get("timer"), [Timer() for _ in self.shards]
        searches = []
        for shard, options["timer"] in zip(self.shards, timers, strict=True):
            searches.append(shard.search_steps(query, weights, **options))
        parts = together(searches, self._pool.map if self._pool else map)
        if timer:
            _add_slowest(timer, timers)
        return [merged_hits(rows, options["k"]) for rows in zip(*parts, strict=True)]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor | None:
        threads = min(len(self.shards), os.cpu_count() or 1)
        return ThreadPoolExecutor(threads, "propcite-shards") if threads > 1 else None

    # On disk

    def save(self, folder: Path) -> None:
        """Save the changes of all shards; if one cannot be written, those before it keep theirs."""
        self._save(folder, _write_changes)

    def compact(self, folder: Path) -> None:
        """Merge the segments of each shard into one without deleted passages, and save."""
        self._save(folder, TokenIndex.write_compact)

    def _save(self, folder: Path, write: Callable[[TokenIndex, Path], Any]) -> None:
        with self._writing(folder) as places:
            for shard, place in zip(self.shards, places, strict=True):
                write(shard, place)
            TokenIndex.train_together(self.shards, places)

    @contextmanager
    def _writing(self, folder: Path) -> Iterator[list[Path]]:
        """Lock the folders of all shards for writing, and give them."""
        places = self.layout.folders(folder)
        with ExitStack() as stack:
            for shard, place in zip(self.shards, places, strict=True):
                stack.enter_context(shard.writing(place))
            yield places

    def prepare(self, folder: Path) -> dict[str, str]:
        """Write the changes of all shards or of none, as `TokenIndex.prepare` does."""
        with self._writing(folder) as places:
            return {
                place.name: shard.write_prepared(place) if shard.changed else shard.version_on_disk
                for shard, place in zip(self.shards, places, strict=True)
            }

    def promote(self, folder: Path) -> None:
        """Make the prepared versions count, then train what searches lack."""
        self._save(folder, TokenIndex.promote_prepared)

    def stage(self, folder: Path) -> None:
        """Write additions to disk to free their memory; readers do not see them before `save`."""
        for shard, place in zip(self.shards, self.layout.folders(folder), strict=True):
            shard.stage(place)

    def staged(self) -> dict[str, list[str]]:
        """Return the names of the segments that are staged and in no version yet, by shard (`Versions`)."""
        return {place.name: shard.staged()[""] for shard, place in self._places(Path())}

    def attach_staged(self, folder: Path, names: Mapping[str, Sequence[str]]) -> None:
        """Add segments that an index of the same version has staged; IndexFormatError if one of them is gone."""
        for shard, place in self._places(folder):
            shard.attach_staged(place, {"": names[place.name]})

    def _places(self, folder: Path) -> Iterator[tuple[TokenIndex, Path]]:
        return zip(self.shards, self.layout.folders(folder), strict=True)


def check_shards(shards: Sequence[MadeBy]) -> None:
    """Raise IndexFormatError if two shards are of different encoders, or one is a copy of another."""
    numbers: dict[str, int] = {}
    for number, shard in enumerate(shards):
        if (shard.encoder, shard.dimension) != (shards[0].encoder, shards[0].dimension):
            raise IndexFormatError(
                f"shard 0 was made by {shards[0].encoder}, shard {number} by {shard.encoder}: run propcite reindex"
            )
        for name in shard.segments:
            if (first := numbers.setdefault(name, number)) != number:
                raise IndexFormatError(
                    f"shards {first} and {number} hold the same passages: bring back the folder of the one that was "
                    "overwritten, or run propcite reindex"
                )


def joined_stats(parts: Sequence[IndexStats], regime: str) -> IndexStats:
    """Return the size of an index from those of its shards, and the regime of all of them together."""
    return IndexStats(
        regime=regime,
        encoder=parts[0].encoder,
        dimension=parts[0].dimension,
        bits=tuple(sorted({bits for part in parts for bits in part.bits}, reverse=True)),
        passages=sum(part.passages for part in parts),
        tokens=sum(part.tokens for part in parts),
        deleted=sum(part.deleted for part in parts),
        segments=sum(part.segments for part in parts),
        centroids=max(part.centroids for part in parts),
        bytes=sum(part.bytes for part in parts),
        searched_share=max(part.searched_share for part in parts),
        shards=len(parts),
    )


def _write_changes(shard: TokenIndex, place: Path) -> None:
    if shard.changed or not (place / MANIFEST_FILE).exists():
        shard.write(place)


def merged_hits(parts: Sequence[Sequence[IndexHit]], k: int) -> list[IndexHit]:
    """Return the k best hits of all shards, best first, ties by passage id, then in its order."""
    hits = [hit for part in parts for hit in part]
    return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id, -1 if hit.sentence is None else hit.sentence))[:k]


def _add_slowest(timer: Timer, timers: Sequence[Timer]) -> None:
    """Add the milliseconds that each step took in the slowest shard."""
    spent = [one.spent for one in timers]
    for name in dict.fromkeys(name for one in spent for name in one):
        timer.add(name, max(one.get(name, 0.0) for one in spent))
