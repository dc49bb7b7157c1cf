"""A Ray cluster of several nodes on this machine, whose processes can be killed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from propcite.retrieval.sharding.tokens import begin_with_token

# Ray replaces 127.0.0.1 by the machine's own address, so the nodes have other addresses of this machine.
ADDRESSES = ("127.0.0.2", "127.0.0.3", "127.0.0.4")
TOKEN = secrets.token_hex(32)


@contextmanager
def ray_nodes() -> Iterator[Any]:
    """Start three nodes and stop them at the end; yields the `Cluster`, with its `address`."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ["RAY_AUTH_TOKEN"] = TOKEN
    import ray
    from ray.cluster_utils import Cluster

    assert begin_with_token()
    head = {"num_cpus": 1, "node_ip_address": ADDRESSES[0], "include_dashboard": False}
    cluster: Any = Cluster(initialize_head=True, head_node_args=head)
    try:
        for address in ADDRESSES[1:]:
            cluster.add_node(num_cpus=1, node_ip_address=address)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()
