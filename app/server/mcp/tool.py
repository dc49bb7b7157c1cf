"""What a tool is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from propcite.app.server.mcp.arguments import Arguments
from propcite.app.server.mcp.running import Call


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; `run` returns its result, `write` the result as text.

    `changes` if it stores something, `adds` if the same call a second time stores it twice.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    result: type[BaseModel]
    run: Callable[[Call, Any], Awaitable[BaseModel]]
    write: Callable[[Any], str]
    changes: bool = False
    adds: bool = False
