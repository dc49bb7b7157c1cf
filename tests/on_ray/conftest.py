"""One Ray cluster of three nodes for all tests here, which run in a process of their own: `make test` begins it."""

from __future__ import annotations

import faulthandler
from collections.abc import Iterator
from typing import Any

import pytest
from ray_nodes import ray_nodes

LONGEST_S = 400  # of one test: a cluster that hangs ends the run with the places where it does


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    pytest.importorskip("ray")
    with ray_nodes() as nodes:
        nodes.wait_for_nodes()
        yield nodes


@pytest.fixture(autouse=True)
def _limited() -> Iterator[None]:
    faulthandler.dump_traceback_later(LONGEST_S, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
