"""kill -9 of a shard, a machine and the searching process, in the middle of searches and of documents that come in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import numpy as np
from attacking import small_library
from cluster_traffic import text_of
from paths import SUPPORT

from propcite.app.library.doctor import Doctor
from propcite.app.library.shards import Shards
from propcite.app.parts import Parts
from propcite.retrieval.sharding.cluster import ClusterIndex
from propcite.retrieval.sharding.folder import open_index

TEXTS = {f"gate-{n}.txt": f"The gate number {n} weighs 30{n} tonnes." for n in range(8)}
SHARDS, PATIENCE_S = 3, 180.0
SECOND = 1000  # the number of the first document that the second process stores


class Traffic:
    """What a process says that searches and stores documents until it is killed."""

    def __init__(self, parts: Parts, first: int) -> None:
        arguments = (str(parts.settings.data_dir), parts.settings.cluster, str(first))
        command = [sys.executable, str(SUPPORT / "cluster_traffic.py"), *arguments]
        asked = {name: value for name, value in os.environ.items() if name != "RAY_AUTH_MODE"}  # as a user has it
        self._errors = parts.settings.data_dir / f"errors-{first}.txt"
        with self._errors.open("w") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=asked)
        self.stored: list[int] = []
        self._lines: Queue[str] = Queue()
        self._reader = Thread(target=self._read)
        self._reader.start()

    def goes_on(self, searched: int = 5, stored: int = 5) -> None:
        """Wait until so many more searches were right and so many more documents are stored."""
        while searched > 0 or stored > 0:
            what = self._hear(self._lines.get(timeout=PATIENCE_S))
            searched -= what == "searched"
            stored -= what == "stored"

    def _hear(self, line: str) -> str:
        what, _, number = line.partition(" ")
        assert what in ("searched", "stored"), line
        if what == "stored":
            self.stored.append(int(number))
        return what

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        while not self._lines.empty():
            self._hear(self._lines.get())
        assert self._errors.read_text() == ""

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line.strip())


@contextmanager
def traffic(parts: Parts, first: int) -> Iterator[Traffic]:
    running = Traffic(parts, first)
    try:
        yield running
    finally:
        running.kill()


def test_nothing_acknowledged_is_lost_and_the_lists_are_those_of_one_index(cluster: Any, tmp_path: Path) -> None:
    parts = small_library(tmp_path / "data", TEXTS, cluster=cluster.address)
    harbour = parts.library.collection("harbour")
    shards = Shards(parts.workspace(harbour))
    shards.divide(SHARDS)
    with traffic(parts, 0) as one:
        one.goes_on()
        os.kill(shards.hosts(parts.encoder)[1][1], signal.SIGKILL)
        one.goes_on()
        used = {machine for machine, _, _ in shards.hosts(parts.encoder)}
        node = next(node for node in cluster.worker_nodes if node.node_ip_address in used)
        cluster.remove_node(node, allow_graceful=False)
        one.goes_on()
        cluster.add_node(num_cpus=1, node_ip_address=node.node_ip_address)
    with traffic(parts, SECOND) as another:
        another.goes_on()
    acknowledged = {text_of(number) for number in one.stored + another.stored}
    ids = parts.library.passage_ids(harbour)
    stored = [passage.text for passage in parts.library.passages(ids).values()]
    assert len(stored) == len(set(stored))
    assert set(stored) >= acknowledged | set(TEXTS.values())
    assert list(Doctor(parts, [harbour]).findings()) == []
    index, here = parts.workspace(harbour).index(parts.encoder), open_index(shards.folders()[0].parent)
    assert isinstance(index, ClusterIndex)
    assert index.ids() == here.ids() == set(ids)
    for passage in list(parts.library.passages(ids).values())[::7]:
        query = parts.encoder.encode_passages([passage])[0].vectors
        weights = np.ones((1, len(query)), np.float32)
        assert index.search(query, weights, k=50) == here.search(query, weights, k=50)
    shards.stop_hosts()
    parts.library.close()
