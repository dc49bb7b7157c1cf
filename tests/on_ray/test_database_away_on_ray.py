"""PostgreSQL goes away while a cluster's index is searched, written to and sent documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from attacking import small_library
from database_outages import Traffic, lost, outage
from postgres_servers import running_postgres
from serving import running_server

from propcite.app.library.doctor import Doctor
from propcite.app.library.shards import Shards
from propcite.retrieval.sharding.cluster import ClusterIndex
from propcite.retrieval.sharding.folder import open_index

TEXTS = {f"{n}.txt": f"The gate number {n} weighs 30{n} tonnes." for n in range(8)}
AWAY_S = 3.0


def test_what_is_acknowledged_is_there_when_the_database_is_back(cluster: Any, tmp_path: Path) -> None:
    with running_postgres() as postgres:
        database = postgres.new_database()
        parts = small_library(tmp_path / "data", TEXTS, database=database, cluster=cluster.address)
        harbour = parts.library.collection("harbour")
        shards = Shards(parts.workspace(harbour))
        shards.divide(2)
        with running_server(parts) as at:
            traffic = Traffic(at)
            outage(traffic, postgres, AWAY_S)
            assert lost(traffic) == []
            for kind, code in (("search", 200), ("note", 201), ("send", 202)):
                assert traffic.count(kind, code) > 0
                assert traffic.count(kind, 503) > 0
            assert {code for _, code in traffic.codes} == {200, 201, 202, 503}
            assert traffic.hits == {TEXTS["3.txt"]}
            assert all("the database" in reason and "\n" not in reason for reason in traffic.reasons)
            assert traffic.longest < AWAY_S + 10
            assert list(Doctor(parts, [harbour]).findings()) == []
            index, here = parts.workspace(harbour).index(parts.encoder), open_index(shards.folders()[0].parent)
            assert isinstance(index, ClusterIndex)
            query = parts.encoder.encode_passages(list(parts.library.passages(index.ids()).values())[:1])[0].vectors
            weights = np.ones((1, len(query)), np.float32)
            assert index.search(query, weights, k=50) == here.search(query, weights, k=50)
        shards.stop_hosts()
        parts.library.close()
