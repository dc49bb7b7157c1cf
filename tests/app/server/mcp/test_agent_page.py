"""What docs/mcp.md tells agents' clients to start or to call is what answers them."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from pathlib import Path
from typing import Any

import httpx2
from agent_calls import HARBOUR, HEIGHT, command, text_of
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from paths import ROOT
from serving import parts_with, running_server

from propcite.app.library.store import Scope

PAGE = (ROOT / "docs" / "mcp.md").read_text("utf-8")
STARTED, CALLED = (json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", PAGE, re.M | re.S))
COMMANDS = [
    shlex.split(line, comments=True)
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
    for line in block.splitlines()
]
URL, KEY = "http://localhost:8600/mcp", "pck_…"


async def searched(server: Any) -> CallToolResult:
    async with Client(server) as client:
        return await client.call_tool(
            "search", {"query": "How high is the barrier?", "k": 1, "granularity": "sentence"}
        )


def test_the_command_in_the_settings_of_clients_is_the_one_that_is_started() -> None:
    """A client starts it, and uses it, in test_agent_commands.py."""
    started = STARTED["mcpServers"]["propcite"]
    assert ["-m", started["command"], *started["args"]] == command("-c", "council").args


def test_every_client_is_given_the_same_command() -> None:
    started = STARTED["mcpServers"]["propcite"]
    given = [words[words.index("--") + 1 :] for words in COMMANDS if "--" in words]
    assert given == [[started["command"], *started["args"]]] * 2
    assert given[0] in COMMANDS


def test_the_address_and_the_header_of_the_page_are_answered(loaded: dict[str, object], tmp_path: Path) -> None:
    server = CALLED["servers"]["propcite"]
    [added] = [words for words in COMMANDS if "--transport" in words]
    assert (server["type"], server["url"]) == ("http", URL)
    assert (added[added.index("propcite") + 1], added[added.index("--header") + 1]) == (
        URL,
        f"Authorization: {server['headers']['Authorization']}",
    )
    parts = parts_with(loaded, {"council": HARBOUR}, data_dir=tmp_path / "data", collection="council")
    headers = {
        name: value.replace(KEY, parts.keys.create("agent", Scope.READ, ["council"])[1])
        for name, value in server["headers"].items()
    }

    async def call(address: str) -> CallToolResult:
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            return await searched(
                streamable_http_client(URL.replace("http://localhost:8600", address), http_client=http)
            )

    with running_server(parts, requires_keys=True) as address:
        assert HEIGHT in text_of(asyncio.run(call(address)))
    parts.library.close()
