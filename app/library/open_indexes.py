"""The indexes that this process has open, shared by all workspaces: only what changed on disk is read again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Unpack
from weakref import WeakKeyDictionary

from propcite.retrieval.index import IndexOptions
from propcite.retrieval.sharding.folder import OpenIndex, open_index
from propcite.retrieval.sharding.layout import Layout, Versions

if TYPE_CHECKING:
    from propcite.retrieval.sharding.cluster import ClusterIndex


@dataclass(frozen=True, slots=True)
class ClusterUse:
    """The address of a cluster, the processes per shard, the seconds to wait for one, and whether to go on without."""

    address: str
    replicas: int = 1
    patience: float = 60.0
    goes_on: bool = False


_OPEN: WeakKeyDictionary[OpenIndex, Path] = WeakKeyDictionary()  # none of them changes any more
_CLUSTERED: dict[tuple[object, ...], ClusterIndex] = {}  # each sees changes by itself
_SHARING = Lock()


def open_sharing(
    folder: Path,
    encoder: str = "",
    *,
    tolerant: bool = False,
    at: Versions | None = None,
    **options: Unpack[IndexOptions],
) -> OpenIndex:
    """Open the index in a folder; segments that this process has open already are shared."""
    with _SHARING:
        kept = [index for index, place in _OPEN.items() if place == folder]
    earlier = kept[-1] if kept and not tolerant else None
    return open_index(folder, encoder, tolerant=tolerant, earlier=earlier, at=at, **options)


def share(index: OpenIndex, folder: Path) -> None:
    """Let others share the segments of an index that does not change any more."""
    with _SHARING:
        _OPEN[index] = folder


def open_in_cluster(
    folder: Path,
    layout: Layout,
    encoder: str,
    cluster: ClusterUse,
    storage: str,
    versions: Callable[[], Versions | None],
    **options: Unpack[IndexOptions],
) -> ClusterIndex:
    """Open an index in shards in the processes of a cluster, for one request; `versions` names those that count."""
    from propcite.retrieval.sharding.cluster import ClusterIndex

    key = (folder, layout, encoder, cluster, storage)
    with _SHARING:
        if key not in _CLUSTERED:
            _CLUSTERED[key] = ClusterIndex(folder, layout, encoder, storage=storage, **asdict(cluster), **options)
        return _CLUSTERED[key].view(versions)


def stop_hosts(cluster: ClusterUse, folder: Path, shards: Sequence[Path]) -> int:
    """End the processes of a cluster that hold these shards of an index; return how many there were."""
    from propcite.retrieval.sharding.hosts import connect, stop_hosts

    connect(cluster.address)
    with _SHARING:
        for key in [key for key in _CLUSTERED if key[0] == folder]:
            del _CLUSTERED[key]
    return stop_hosts(shards)
