"""An index whose shards are open in the processes of a cluster: it searches as a `ShardedIndex` does, over the network.

Each shard is open in one process or in several.  One that does not answer is waited for while Ray starts it again, and
meanwhile another takes its place.  Where a shard stays away nothing is returned, or what the others have, with its
name: an answer must never call a fact unsupported because a shard was away.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.encoding.bundled import keep_index_hint
from propcite.retrieval.errors import IndexFormatError, OtherVersionError, RetrievalError
from propcite.retrieval.index import IndexHit, IndexOptions, IndexStats, SearchOptions
from propcite.retrieval.index.allowed import Allowed, allowed_of
from propcite.retrieval.index.contents import version_name
from propcite.retrieval.index.exchange import Result, Sums
from propcite.retrieval.index.plan import EXACT_UP_TO, regime_for
from propcite.retrieval.index.token_index import MadeBy
from propcite.retrieval.sharding.hosts import At, HostedShard, LostSearchError, connect, host_of
from propcite.retrieval.sharding.layout import Layout, Versions, shard_numbers
from propcite.retrieval.sharding.replicas import Replicas
from propcite.retrieval.sharding.sharded_index import check_shards, joined_stats, merged_hits
from propcite.retrieval.timing import Timer

PATIENCE_S = 60.0  # for all shards to answer: a machine that is gone takes Ray half a minute to notice
PAUSE_S = 0.2
SLOW_S = 5.0  # after which another process of the shard is asked
AWAY_S = 30.0  # for which a shard that stayed away is left out at once


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
    With `storage`, the address of the published index, each machine fetches the shards that it holds.  With
    `goes_on`, what shards that stay away have is left out, and `missing` names them.
    """

    def __init__(
        self,
        folder: Path,
        layout: Layout,
        encoder: str = "",
        *,
        address: str,
        storage: str = "",
        replicas: int = 1,
        patience: float = PATIENCE_S,
        goes_on: bool = False,
        **options: Unpack[IndexOptions],
    ) -> None:
        connect(address)
        options.pop("progress", None)
        self.layout, self._patience, self._goes_on, self._options = layout, patience, goes_on, options
        self._folders = [place.resolve() for place in layout.folders(folder)]
        self._shards = [
            Replicas(replicas, partial(host_of, HostedShard(n, str(place), str(folder.resolve()), storage, options)))
            for n, place in enumerate(self._folders)
        ]
        self._read_versions: Callable[[], Versions | None] = lambda: None
        self._versions: Versions | None = None
        self._away: dict[int, tuple[float, str]] = {}  # shards that stayed away: when, and why
        self._missing: dict[int, str] = {}  # shards that this view leaves out
        shards: list[MadeBy] = self._of_all("made_by")
        check_shards(shards)
        made_by = shards[0].encoder
        if encoder and made_by != encoder:
            raise IndexFormatError(
                f"the index was made by {made_by}, the encoder is {encoder}:"
                f" {keep_index_hint(made_by)}run propcite reindex"
            )

    def view(self, versions: Callable[[], Versions | None] = lambda: None) -> ClusterIndex:
        """Return the same index for one request, which has its own `missing`.

        It has the versions of all shards that `versions` names now, or those that a change has put in their place.
        """
        one, now = copy(self), time.monotonic()
        one._missing = {n: why for n, (when, why) in list(self._away.items()) if now - when < AWAY_S}
        one._read_versions, one._versions = versions, None
        one._renew_versions()
        return one

    def _renew_versions(self) -> None:
        """Read which versions count; where those that are gone still do, what the shards have on disk is searched."""
        named = self._read_versions()
        self._versions = None if named == self._versions or not named or not named.of(self.layout) else named

    def _at(self, number: int) -> At:
        """Return which version of a shard is searched."""
        named = self._versions
        return (named.names[self._folders[number].name], named.stored) if named else ("", 0)

    @property
    def missing(self) -> tuple[str, ...]:
        """Name the shards that were left out, because they did not answer; empty where all did."""
        return tuple(f"shard {n} of {len(self._shards)} ({why})" for n, why in sorted(self._missing.items()))

    # Calls

    def _patiently(self, call: Callable[[float], Any]) -> Any:
        """Return what a call returns, which is made again while shards are away."""
        until = time.monotonic() + self._patience
        while True:
            try:
                return call(until)
            except OtherVersionError:
                self._renew_versions()
            except _AwayError as away:
                if all(self._shards[number].has_another for number in away.reasons):
                    continue
                if time.monotonic() + PAUSE_S < until:
                    time.sleep(PAUSE_S)
                    continue
                left = len(self._shards) - len(away.reasons.keys() | self._missing.keys())
                if not self._goes_on or not left:
                    raise ShardsAwayError(self._named(away.reasons)) from away
                self._missing |= away.reasons
                self._away |= {number: (time.monotonic(), why) for number, why in away.reasons.items()}
                until = time.monotonic() + self._patience

    def _named(self, reasons: Mapping[int, str]) -> str:
        shards = ", ".join(f"{n} ({self._folders[n]}: {reason})" for n, reason in sorted(reasons.items()))
        which = "shard" if len(reasons) == 1 else "shards"
        return (
            f"{which} {shards} of {len(self._folders)} did not answer within {self._patience:.0f} seconds, "
            "and nothing is answered without: ray status shows the machines"
        )

    @property
    def _present(self) -> list[int]:
        return [number for number in range(len(self._shards)) if number not in self._missing]

    def _chosen(self, numbers: Collection[int]) -> dict[int, Any]:
        return {number: self._shards[number].choose() for number in numbers}

    def _gathered(
        self, until: float, method: str, hosts: Mapping[int, Any], arguments: Mapping[int, tuple[Any, ...]]
    ) -> list[Any]:
        """Return what a method returns in the processes of these shards, called with the arguments of each."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        calls = {n: getattr(host, method).remote(*arguments[n]) for n, host in hosts.items()}
        patience = until - time.monotonic()
        if any(len(self._shards[number]) > 1 for number in hosts):
            patience = min(patience, SLOW_S)
        ready, _ = ray.wait(list(calls.values()), num_returns=len(calls), timeout=max(0.0, patience))
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
            for number in reasons:
                self._shards[number].failed(hosts[number])
            raise _AwayError(reasons)
        return results

    def _of_all(self, method: str, *arguments: Any) -> list[Any]:
        def call(until: float) -> list[Any]:
            present = self._present
            given = {number: (self._at(number), *arguments) for number in present}
            return self._gathered(until, method, self._chosen(present), given)

        return list(self._patiently(call))

    # Contents

    def vectors(self, passage_id: str) -> TokenVectors:
        return self.vectors_of([passage_id])[passage_id]

    def vectors_of(self, ids: Iterable[str]) -> dict[str, TokenVectors]:
        """Return the vectors of passages by id, without unknown ids."""
        listed = list(dict.fromkeys(ids))
        by_shard: dict[int, list[str]] = {}
        for one, shard in zip(listed, shard_numbers(listed, len(self._shards)).tolist(), strict=True):
            by_shard.setdefault(shard, []).append(one)

        def call(until: float) -> list[dict[str, TokenVectors]]:
            given = {shard: (self._at(shard), some) for shard, some in by_shard.items() if shard not in self._missing}
            return self._gathered(until, "vectors_of", self._chosen(given), given)

        vectors: dict[str, TokenVectors] = {}
        for part in self._patiently(call):
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
        """Return the machine, the process and the version of PropCite that each shard is open in, replicas in turn."""

        def call(until: float, turn: int) -> list[tuple[str, int, str]]:
            hosts = {number: shard.all()[turn] for number, shard in enumerate(self._shards)}
            return self._gathered(until, "place", hosts, dict.fromkeys(hosts, ()))

        turns = [self._patiently(partial(call, turn=turn)) for turn in range(len(self._shards[0]))]
        return [place for places in zip(*turns, strict=True) for place in places]

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
    ) -> list[list[list[IndexHit]]]:
        """Take the steps of a search in one process per shard, from the first to the last the same."""
        name, hosts = uuid.uuid4().hex, self._chosen(self._present)
        given = {number: (self._at(number), name, query, weights, options) for number in hosts}
        reached = self._gathered(until, "begin", hosts, given)
        while not all(isinstance(one, Result) for one in reached):
            of_all = type(reached[0]).merged(reached)
            reached = self._gathered(until, "advance", hosts, dict.fromkeys(hosts, (name, of_all)))
        return [one.value for one in reached]
