"""A server with a small library for the tests of the MCP server; all of it is left out without the SDK."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("mcp", reason="the SDK of MCP is not installed: install the extra mcp")

from agent_calls import HARBOUR
from serving import parts_with, running_server

from propcite.app.parts import Parts


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory, loaded: dict[str, object]) -> Iterator[Parts]:
    data_dir = tmp_path_factory.mktemp("harbour")
    texts = {"harbour": HARBOUR, "secret": {"plan.txt": "The secret plan is blue."}}
    parts = parts_with(loaded, texts, data_dir=data_dir, collection="harbour")
    yield parts
    parts.library.close()


@pytest.fixture(scope="module")
def address(harbour: Parts) -> Iterator[str]:
    with running_server(harbour) as address:
        yield address
