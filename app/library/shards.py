"""The shards of a collection's index: what each holds, how many there are, where they are and who holds them open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from propcite.app.errors import AppError
from propcite.app.library.open_indexes import stop_hosts
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import IndexStats
from propcite.retrieval.sharding.layout import read_layout, shard_folders
from propcite.retrieval.sharding.sharded_index import ShardedIndex

if TYPE_CHECKING:
    from propcite.app.library.workspace import Workspace
    from propcite.retrieval.encoding.encoder import Encoder


class Shards:
    """The shards of one collection's index; an index in one piece is its own only shard."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def folders(self) -> list[Path]:
        return shard_folders(self._workspace.folder)

    def stats(self) -> list[IndexStats]:
        """Return the size of each shard; empty if nothing was ever added."""
        index = self._workspace.load()
        parts = index.shards if isinstance(index, ShardedIndex) else [index] if index else []
        return [part.stats() for part in parts]

    def divide(self, number: int) -> None:
        """Divide the index into so many shards, or join it into one piece."""
        from propcite.retrieval.sharding.resharding import reshard

        with self._workspace.replacing_files():
            if not self._workspace.exists():
                name = self._workspace.collection.name
                raise IndexFormatError(f"{name} has no index to divide yet: propcite ingest PATH")
            old = self.folders()
            try:
                reshard(self._workspace.folder, number, **self._workspace.options)
            except ValueError as error:
                raise AppError(str(error)) from error
            self.stop_hosts(old)

    def move(self, number: int, target: Path) -> Path:
        """Move a shard to another disk and return its new folder."""
        from propcite.retrieval.sharding.resharding import move_shard

        with self._workspace.replacing_files():
            old = self.folders()
            new = move_shard(self._workspace.folder, number, target)
            self.stop_hosts(old[number : number + 1])
            return new

    def hosts(self, encoder: Encoder) -> list[tuple[str, int, str]]:
        """Return the machine, the process and PropCite's version that hold each shard; empty without a cluster."""
        layout = read_layout(self._workspace.folder) if self._workspace.cluster else None
        return self._workspace.in_cluster(layout, encoder).places() if layout else []

    def stop_hosts(self, folders: Sequence[Path] = ()) -> int:
        """End the processes of the cluster that hold these shards, by default all; return how many there were."""
        cluster = self._workspace.cluster
        return stop_hosts(cluster, self._workspace.folder, folders or self.folders()) if cluster else 0
