"""An index whose shards are open in the processes of a cluster: it searches as a `ShardedIndex` does, over the network.

A shard that does not answer is waited for while Ray starts its process again.  Where that takes too long nothing is
returned: an answer must never call a fact unsupported because a shard was away.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.encoding.bundled import keep_index_hint
from propcite.retrieval.errors import IndexFormatError, RetrievalError
from propcite.retrieval.index import IndexHit, IndexOptions, IndexStats, SearchOptions
from propcite.retrieval.index.allowed import Allowed, allowed_of
from propcite.retrieval.index.contents import version_name
from propcite.retrieval.index.exchange import Result, Sums
from propcite.retrieval.index.plan import EXACT_UP_TO, regime_for
from propcite.retrieval.sharding.hosts import LostSearchError, connect, host_of
from propcite.retrieval.sharding.layout import Layout, shard_numbers
from propcite.retrieval.sharding.sharded_index import joined_stats, merged_hits
from propcite.retrieval.timing import Timer

PATIENCE_S = 60.0  # for all shards to answer: a machine that is gone takes Ray half a minute to notice
PAUSE_S = 0.2


class ShardsAwayError(RetrievalError):
    """Some shards do not answer, so nothing was searched."""


class _AwayError(Exception):
    """These shards did not answer this time; the reasons by number."""

    def __init__(self, reasons: dict[int, str]) -> None:
        super().__init__(str(reasons))
        self.reasons = reasons


class ClusterIndex:
    """Searches the shards of an index in a Ray cluster; changes are written by a `ShardedIndex`, and seen here at once.

    `address` is that of the cluster, `auto` the one of this machine, `local` one that this process starts for itself.
    """

    def __init__(
        self,
        folder: Path,
        layout: Layout,
        encoder: str = "",
        *,
        address: str,
        patience: float = PATIENCE_S,
        **options: Unpack[IndexOptions],
    ) -> None:
        connect(address)
        options.pop("progress", None)
        self.layout, self._patience, self._options = layout, patience, options
        self._folders = [place.resolve() for place in layout.folders(folder)]
        self._hosts = [host_of(place, options) for place in self._folders]
        made_by = self.stats().encoder
        if encoder and made_by != encoder:
            raise IndexFormatError(
                f"the index was made by {made_by}, the encoder is {encoder}:"
                f" {keep_index_hint(made_by)}run propcite reindex"
            )

    # Calls

    def _patiently(self, call: Callable[[float], Any]) -> Any:
        """Return what a call returns, which is made again while shards are away."""
        until = time.monotonic() + self._patience
        while True:
            try:
                return call(until)
            except _AwayError as away:
                if time.monotonic() + PAUSE_S > until:
                    raise ShardsAwayError(self._named(away.reasons)) from away
                time.sleep(PAUSE_S)
                for number in away.reasons:
                    self._hosts[number] = host_of(self._folders[number], self._options)

    def _named(self, reasons: dict[int, str]) -> str:
        shards = ", ".join(f"{n} ({self._folders[n]}: {reason})" for n, reason in sorted(reasons.items()))
        which = "shard" if len(reasons) == 1 else "shards"
        return (
            f"{which} {shards} of {len(self._folders)} did not answer within {self._patience:.0f} seconds, "
            "and nothing is answered without: ray status shows the machines"
        )

    def _gathered(self, until: float, method: str, arguments: dict[int, tuple[Any, ...]]) -> list[Any]:
        """Return what a method returns in each of these shards, called with these arguments."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        calls = {n: getattr(self._hosts[n], method).remote(*given) for n, given in arguments.items()}
        ready, _ = ray.wait(list(calls.values()), num_returns=len(calls), timeout=max(0.0, until - time.monotonic()))
        done, results, reasons = set(ready), [], {}
        for number, call in calls.items():
            if call not in done:
                reasons[number] = "no answer in time"
                continue
            try:
                results.append(ray.get(call))
            except RayTaskError as error:
                cause = error.cause
                if not isinstance(cause, LostSearchError):
                    raise cause from None
                reasons[number] = str(cause)
            except RayError as error:
                reasons[number] = type(error).__name__
        if reasons:
            raise _AwayError(reasons)
        return results

    def _of_all(self, method: str, *arguments: Any) -> list[Any]:
        given = dict.fromkeys(range(len(self._hosts)), arguments)
        return list(self._patiently(lambda until: self._gathered(until, method, given)))

    # Contents

    def vectors(self, passage_id: str) -> TokenVectors:
        return self.vectors_of([passage_id])[passage_id]

    def vectors_of(self, ids: Iterable[str]) -> dict[str, TokenVectors]:
        """Return the vectors of passages by id, without unknown ids."""
        listed = list(dict.fromkeys(ids))
        by_shard: dict[int, list[str]] = {}
        for one, shard in zip(listed, shard_numbers(listed, len(self._hosts)).tolist(), strict=True):
            by_shard.setdefault(shard, []).append(one)
        given = {shard: (some,) for shard, some in by_shard.items()}
        vectors: dict[str, TokenVectors] = {}
        for part in self._patiently(lambda until: self._gathered(until, "vectors_of", given)):
            vectors |= part
        return vectors

    def ids(self, allow: Allowed | None = None) -> set[str]:
        return set().union(*self._of_all("ids", allow.portable() if allow else None))

    def __len__(self) -> int:
        return self.stats().passages

    @property
    def version(self) -> str:
        about = self._of_all("about")
        passages = sum(stats.passages for stats, _, _ in about)
        return version_name(about[0][0].encoder, passages, sum(digest for _, _, digest in about) % 2**64)

    def stats(self) -> IndexStats:
        about = self._of_all("about")
        sizes, options = Sums.merged([one[1] for one in about]), self._options
        regime = regime_for(sizes, options.get("regime", "auto"), options.get("exact_up_to", EXACT_UP_TO))
        return joined_stats([one[0] for one in about], regime)

    def places(self) -> list[tuple[str, int, str]]:
        """Return the machine, the process and the version of PropCite that each shard is open in."""
        return self._of_all("place")

    # Searching

    def search(self, query: Floats, weights: Floats, **options: Unpack[SearchOptions]) -> list[list[IndexHit]]:
        """Return the k best units for each row of weights.  (q, d), (n, q) -> n lists, best first, ties by id"""
        timer = options.pop("timer", None) or Timer()
        if (allow := options.get("allow")) is not None:
            options["allow"] = allowed_of(allow).portable()
        with timer("shards"):
            parts = self._patiently(partial(self._search, query, weights, options))
        return [merged_hits(rows, options["k"]) for rows in zip(*parts, strict=True)]

    def _search(
        self, query: Floats, weights: Floats, options: SearchOptions, until: float
    ) -> Sequence[list[list[IndexHit]]]:
        name, all_shards = uuid.uuid4().hex, range(len(self._hosts))
        reached = self._gathered(until, "begin", dict.fromkeys(all_shards, (name, query, weights, options)))
        while not all(isinstance(one, Result) for one in reached):
            of_all = type(reached[0]).merged(reached)
            reached = self._gathered(until, "advance", dict.fromkeys(all_shards, (name, of_all)))
        return [one.value for one in reached]
