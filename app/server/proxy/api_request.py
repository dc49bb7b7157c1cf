"""A request whose answer can be cited: what each API says of its answers and of their streams."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator
from typing import Any

from propcite.app.server.proxy.citing import Citer
from propcite.app.server.proxy.events import Event
from propcite.app.server.proxy.proxy_request import ProxyRequest
from propcite.app.server.proxy.relay import StreamRelay


class ApiRequest(ProxyRequest):
    """A request to one of the APIs."""

    @abstractmethod
    async def add_citations(self, citer: Citer, answer: dict[str, Any]) -> bool:
        """Cite the texts of an answer in place; return whether it has any."""

    @abstractmethod
    def relay(self, citer: Citer) -> StreamRelay: ...

    @abstractmethod
    def from_chat_stream(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """Return a streamed chat completion as a stream of this API; it breaks off where the completion does."""
