"""Shards open in processes of a Ray cluster: one process each, on whatever machine Ray puts it.

All machines see the index's folder at the same path, or fetch it from the same storage.  The processes serve
everything that searches the index, and a process that dies is started again by Ray.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any

from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.extras import install_command
from propcite.retrieval.index import IndexHit, IndexOptions, IndexStats, SearchOptions
from propcite.retrieval.index.allowed import Allowed
from propcite.retrieval.index.exchange import Result, Steps, Summary, Sums, step
from propcite.retrieval.index.token_index import MadeBy, TokenIndex
from propcite.retrieval.remote.objects import ObjectStore
from propcite.retrieval.remote.published_index import PublishedIndex
from propcite.retrieval.sharding.layout import Version, index_version
from propcite.retrieval.sharding.tokens import check_reachable, use_token

NAMESPACE = "propcite"
AT_ONCE = 8  # searches in one process
ABANDONED_S = 120.0  # after which a search that nobody goes on with is forgotten
KEPT = 2  # versions that a process has open
Hits = list[list[IndexHit]]
_log = logging.getLogger("propcite.ray")
At = tuple[str, int]  # the name of a shard's version, or none, and the number of its version in a storage (`Versions`)


class LostSearchError(RetrievalError):
    """The process was started again in the middle of a search."""


@dataclass(frozen=True, slots=True)
class HostedShard:
    """A shard by number, its folder, the index's, the storage of both, if there is one, and how the shard is opened."""

    number: int
    folder: str
    index: str
    storage: str
    options: IndexOptions


class ShardHost:
    """Holds one shard open, and takes the steps of searches in it."""

    def __init__(self, shard: HostedShard) -> None:
        self._folder, self._options = Path(shard.folder), shard.options
        self._published: PublishedIndex | None = None
        if shard.storage:
            self._published = PublishedIndex(ObjectStore(shard.storage), Path(shard.index))
        self._opened: dict[str | Version, TokenIndex] = {}  # the last ones: a search may ask for one before the latest
        self._opening = Lock()
        self._searches: dict[str, tuple[float, Steps[Hits]]] = {}

    def _index(self, at: At) -> TokenIndex:
        """Return the shard in a version, or as it is on disk or in the storage; only what has changed is read."""
        name, stored = at
        with self._opening:
            if self._published:
                self._published.fetch({self._folder.name}, soon=True, number=stored)
            key = name or index_version(self._folder) or ()
            if key not in self._opened:
                earlier = next(reversed(self._opened.values()), None)
                self._opened[key] = TokenIndex.load(self._folder, earlier=earlier, at=name, **self._options)
                for old in list(self._opened)[:-KEPT]:
                    del self._opened[old]
            return self._opened[key]

    def begin(
        self, at: At, search: str, query: Floats, weights: Floats, options: SearchOptions
    ) -> Summary | Result[Hits]:
        """Begin a search; return what it says of itself, or its hits."""
        old = time.monotonic() - ABANDONED_S
        for name in [name for name, (begun, _) in list(self._searches.items()) if begun < old]:
            self._searches.pop(name, None)
        self._searches[search] = time.monotonic(), self._index(at).search_steps(query, weights, **options)
        return self._go_on(search, None)

    def advance(self, search: str, of_all: Summary) -> Summary | Result[Hits]:
        """Go on with a search, by what all shards say together."""
        return self._go_on(search, of_all)

    def _go_on(self, search: str, of_all: Summary | None) -> Summary | Result[Hits]:
        if search not in self._searches:
            raise LostSearchError("the process was started again")
        reached = step(self._searches[search][1], of_all)
        if isinstance(reached, Result):
            self._searches.pop(search, None)
        return reached

    def vectors_of(self, at: At, ids: Sequence[str]) -> dict[str, TokenVectors]:
        return self._index(at).vectors_of(ids)

    def ids(self, at: At, allow: Allowed | None) -> set[str]:
        return self._index(at).ids(allow)

    def about(self, at: At) -> tuple[IndexStats, Sums, int]:
        """Return the shard's size, what decides the regime, and its digest."""
        index = self._index(at)
        return index.stats(), index.sizes, index.digest

    def made_by(self, at: At) -> MadeBy:
        return self._index(at).made_by

    def place(self) -> tuple[str, int, str]:
        """Return the machine, the process and the version of PropCite."""
        import ray

        return str(ray.util.get_node_ip_address()), os.getpid(), version("propcite")  # type: ignore[no-untyped-call]


def connect(address: str) -> None:
    """Join the Ray cluster at an address, or start one of this machine alone: `local`."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise RetrievalError(f"the setting cluster needs Ray: {install_command('cluster')}") from error
    if ray.is_initialized():
        return
    try:
        if address not in ("local", "auto"):  # there Ray itself uses the token of this machine
            check_reachable(address)
            use_token(address)
        ray.init(
            address=None if address == "local" else address,
            namespace=NAMESPACE,
            log_to_driver=False,
            logging_level=logging.ERROR,
            include_dashboard=False if address == "local" else None,
        )
    except (OSError, RuntimeError, ValueError) as error:
        raise RetrievalError(
            f"no Ray cluster answers at {address!r}: ray start --head starts one, or unset the setting cluster"
        ) from error
    _log_what_is_lost()


def _log_what_is_lost() -> None:
    """Send Ray's messages on lost processes and machines to the log.

    It writes them to this process's standard output, between the lines of a command or of the MCP server, and has no
    public setting for that.
    """
    from ray._private import worker

    def log(data: Mapping[str, Any], **_: object) -> None:
        for line in data["lines"]:
            _log.info("%s", line)

    vars(worker)["print_to_stdstream"] = log


def host_of(shard: HostedShard, replica: int = 0) -> Any:
    """Return a process that holds a shard, and start it if there is none."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    how = json.dumps({**shard.options, "storage": shard.storage, "replica": replica}, sort_keys=True, default=str)
    # A host waits most of the time, so it reserves no processor.  Where its machine is gone it ends, and the next
    # search starts it on another: Ray's own choice would put two replicas on one machine.
    actor = ray.remote(ShardHost).options(
        name=f"{host_prefix(Path(shard.folder))} {_digest(how)}",
        namespace=NAMESPACE,
        get_if_exists=True,
        lifetime="detached",
        max_restarts=-1,
        max_concurrency=AT_ONCE,
        num_cpus=0,
        scheduling_strategy=NodeAffinitySchedulingStrategy(_machine(shard.number + replica), soft=False),
    )
    return actor.remote(shard)


def _machine(number: int) -> str:
    """Return the id of one of the machines that are there, in turn."""
    import ray

    alive = sorted(node["NodeID"] for node in ray.nodes() if node["Alive"])  # type: ignore[no-untyped-call]
    return str(alive[number % len(alive)])


def host_prefix(folder: Path) -> str:
    """Return what the names of a shard's processes begin with: its folder, and the version that opened it."""
    return f"shard {_digest(os.fspath(folder))} {version('propcite')}"


def stop_hosts(folders: Sequence[Path]) -> int:
    """End the processes of these shards, and return how many there were; the next search starts them again."""
    import ray

    prefixes = tuple(map(host_prefix, folders))
    named = [one["name"] for one in ray.util.list_named_actors(all_namespaces=True) if one["namespace"] == NAMESPACE]
    names = [name for name in named if name.startswith(prefixes)]
    for name in names:
        ray.kill(ray.get_actor(name, NAMESPACE))
    return len(names)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
