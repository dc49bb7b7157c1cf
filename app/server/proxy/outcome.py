"""How a request ended, and a response that keeps what it needs until then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

import httpx
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from propcite.app.server.proxy.upstream import returned_headers
from propcite.app.server.service import Service
from propcite.app.server.streaming import UNBUFFERED

EVENT_STREAM = "text/event-stream"


@dataclass
class Outcome:
    """The outcome of a request, counted once."""

    service: Service
    is_cited: bool
    name: str = "failed"

    def count(self) -> None:
        self.service.metrics.proxied.labels("yes" if self.is_cited else "no", self.name).inc()


class ResourceStream(StreamingResponse):
    """A stream that releases its resources when it has ended, its client has left, or reads too slowly."""

    def __init__(
        self,
        content: AsyncIterator[bytes],
        resources: AsyncExitStack,
        response: httpx.Response | None,
        seconds: float,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        own = headers or (returned_headers(response) if response is not None else {})
        media_type = response.headers.get("content-type") if response is not None else EVENT_STREAM
        super().__init__(content, headers={**UNBUFFERED, **own}, media_type=media_type)
        self._resources, self._seconds = resources, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._resources:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await super().__call__(scope, receive, send)
