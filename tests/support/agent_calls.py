"""What the tests of the MCP server share: the SDK's client over both transports, and a small library."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

T = TypeVar("T")
HEIGHT = "The flood barrier is 6.4 metres high."
COST = "The flood barrier cost 212 million euros."
OPENED = "Heron Bridge opens on 21 May 2025."
HARBOUR = {"barrier.txt": f"{HEIGHT} {COST}", "bridge.txt": OPENED}
MODES = ("auto", "legacy")  # the protocol without sessions, and the one that begins with a handshake


def command(*words: str) -> StdioServerParameters:
    """Return the command as a client starts it, with this environment."""
    return StdioServerParameters(command=sys.executable, args=["-m", "propcite", "mcp", *words], env=dict(os.environ))


@asynccontextmanager
async def client_at(address: str, key: str = "", mode: str = "auto") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{address}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


def over_http(address: str, work: Callable[[Client], Awaitable[T]], key: str = "", mode: str = "auto") -> T:
    """Return what the work with a client at an address returns, or raise its error of the protocol."""

    async def run() -> T | MCPError:
        async with client_at(address, key, mode) as client:
            try:
                return await work(client)
            except MCPError as error:  # raised here, it would end the client in a group of exceptions
                return error

    result = asyncio.run(run())
    if isinstance(result, MCPError):
        raise result
    return result


def call(address: str, tool: str, key: str = "", mode: str = "auto", **arguments: Any) -> CallToolResult:
    return over_http(address, lambda client: client.call_tool(tool, arguments), key, mode)


def text_of(result: CallToolResult) -> str:
    return "\n".join(content.text for content in result.content if content.type == "text")


def refusal(result: CallToolResult) -> str:
    """Return the line of a call that failed."""
    assert result.is_error
    line = text_of(result)
    assert "\n" not in line
    return line
