"""How long a search over a Ray cluster takes beyond its slowest shard, and until it is right again after a loss.

    python -m tests.benchmarks.recovery [--passages 20000] [--shards 1 2 4] [--kills 3] [--outage 60]

Starts three nodes of Ray on this machine, builds one index of made-up passages and divides copies of it.  `beyond_ms`
is the median of what a search takes longer than the same search in its slowest shard, alone and in this process.  Then
it kills (kill -9) a shard's process, a node and the process that searches, and measures until the lists are as before.
At last PostgreSQL is away for `--outage` seconds under a server that is searched, written to and sent documents: what
was answered meanwhile, how long until it is searched again, and what of all that was acknowledged is lost.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import pickle
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.benchmarks.shards import LENGTH, QUERIES, Maker

from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.index import IndexHit
from propcite.retrieval.sharding.cluster import ClusterIndex
from propcite.retrieval.sharding.folder import open_index
from propcite.retrieval.sharding.hosts import stop_hosts
from propcite.retrieval.sharding.layout import read_layout, shard_folders
from propcite.retrieval.sharding.resharding import reshard
from propcite.retrieval.sharding.sharded_index import ShardedIndex

sys.path.append(str(Path(__file__).parents[1] / "support"))
WEIGHTS = np.ones((1, LENGTH), np.float32)
ANOTHER = "another"  # the word of the command line that makes this file the process that searches
Lists = list[list[list[IndexHit]]]


def searched(index: Any, queries: list[Floats]) -> Lists:
    return [index.search(query, WEIGHTS, k=20, regime="tokens") for query in queries]


def milliseconds(do: Callable[[], object]) -> float:
    begun = time.perf_counter()
    do()
    return 1000 * (time.perf_counter() - begun)


def opened(folder: Path, address: str) -> ClusterIndex:
    layout = read_layout(folder)
    assert layout
    return ClusterIndex(folder, layout, address=address)


def beyond(index: ClusterIndex, folder: Path, queries: list[Floats]) -> dict[str, Any]:
    """Measure searches over the cluster beside those of each shard alone."""
    here = open_index(folder)
    assert isinstance(here, ShardedIndex)
    assert searched(index, queries) == searched(here, queries)
    whole, slowest = [], []
    for query in queries:
        whole.append(milliseconds(lambda query=query: searched(index, [query])))
        slowest.append(max(milliseconds(lambda query=query, one=one: searched(one, [query])) for one in here.shards))
    more = [all_of_them - one for all_of_them, one in zip(whole, slowest, strict=True)]
    rows = {"cluster_ms": whole, "slowest_shard_ms": slowest, "beyond_ms": more}
    return {"shards": len(here.shards)} | {name: round(statistics.median(ms), 1) for name, ms in rows.items()}


def until_right(index: ClusterIndex, queries: list[Floats], expected: Lists) -> float:
    """Return the seconds until the lists are those of before; wrong ones end the measurement."""
    begun = time.perf_counter()
    assert searched(index, queries) == expected
    return round(time.perf_counter() - begun, 2)


def recoveries(cluster: Any, index: ClusterIndex, folder: Path, queries: list[Floats], kills: int) -> None:
    expected = searched(index, queries)
    shard, node, searcher = [], [], []
    for _ in range(kills):
        os.kill(index.places()[0][1], signal.SIGKILL)
        shard.append(until_right(index, queries, expected))
    for _ in range(kills):
        used = {machine for machine, _, _ in index.places()}
        lost = next(one for one in cluster.worker_nodes if one.node_ip_address in used)
        cluster.remove_node(lost, allow_graceful=False)
        node.append(until_right(index, queries, expected))
        cluster.add_node(num_cpus=1, node_ip_address=lost.node_ip_address)
        cluster.wait_for_nodes()
    (folder / "queries").write_bytes(pickle.dumps((queries, expected)))
    command = [sys.executable, "-m", "tests.benchmarks.recovery", ANOTHER, str(folder), cluster.address]
    for _ in range(kills):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as first:
            assert first.stdout
            assert first.stdout.readline() == b"right\n"  # and goes on, until it is killed in the middle of a search
            first.kill()
        begun = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE) as second:
            assert second.stdout
            assert second.stdout.readline() == b"right\n"
            searcher.append(round(time.perf_counter() - begun, 2))
            second.kill()
    print(json.dumps({"seconds until right": {"shard": shard, "node": node, "searching process": searcher}}))


def database_away(address: str, folder: Path, seconds: float) -> dict[str, Any]:
    """Return what a server of a cluster does while PostgreSQL is away, and after it."""
    from attacking import small_library
    from database_outages import Traffic, lost, outage
    from postgres_servers import running_postgres
    from serving import running_server

    from propcite.app.library.doctor import Doctor
    from propcite.app.library.shards import Shards

    logging.disable()  # each refused request is a line of the server's log
    texts = {f"{n}.txt": f"The gate number {n} weighs 30{n} tonnes." for n in range(8)}
    with running_postgres() as postgres:
        parts = small_library(folder, texts, database=postgres.new_database(), cluster=address)
        harbour = parts.library.collection("harbour")
        shards = Shards(parts.workspace(harbour))
        shards.divide(2)
        with running_server(parts) as at:
            traffic = Traffic(at)
            back = outage(traffic, postgres, seconds)
            figures = {
                "seconds away": seconds,
                "seconds until searched again": round(back, 2),
                "answers": {f"{kind} {code}": number for (kind, code), number in sorted(traffic.codes.items())},
                "longest refusal, s": round(traffic.longest, 2),
                "reasons": len(traffic.reasons),
                "lost": lost(traffic),
                "findings of the doctor": len(list(Doctor(parts, [harbour]).findings())),
            }
        shards.stop_hosts()
        parts.library.close()
    return figures


def search_on(folder: Path, address: str) -> None:
    queries, expected = pickle.loads((folder / "queries").read_bytes())
    index = opened(folder, address)
    while searched(index, queries) == expected:
        print("right", flush=True)


def main() -> None:
    from ray_nodes import ray_nodes

    if sys.argv[1:2] == [ANOTHER]:
        search_on(Path(sys.argv[2]), sys.argv[3])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=20_000)
    parser.add_argument("--shards", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--outage", type=float, default=60.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, ray_nodes() as cluster:
        cluster.wait_for_nodes()
        maker, work = Maker(), Path(temporary)
        maker.build(work / "whole", given.passages)
        queries = [maker.query()[0] for _ in range(QUERIES)]
        for number in given.shards:
            folder = work / str(number)
            shutil.copytree(work / "whole", folder)
            divide(folder, number)
            index = opened(folder, cluster.address)
            print(json.dumps(beyond(index, folder, queries)), flush=True)
            if number == given.shards[-1]:
                recoveries(cluster, index, folder, queries[:3], given.kills)
            stop_hosts([place.resolve() for place in shard_folders(folder)])
        print(json.dumps(database_away(cluster.address, work / "library", given.outage)))


def divide(folder: Path, number: int) -> None:
    """Divide an index; one shard is the index itself."""
    from propcite.retrieval.sharding.folder import put_shards

    if number > 1:
        reshard(folder, number)
    else:
        (folder / "whole").mkdir()
        for path in list(folder.iterdir()):
            if path.is_file():
                path.rename(folder / "whole" / path.name)
        put_shards([folder / "whole"], folder)


if __name__ == "__main__":
    main()
