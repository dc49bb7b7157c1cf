"""Wait for whole replies of a server, so that whoever waits can be interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any

from propcite.attribution.llm.background_loop import LOOK_S, BackgroundLoop
from propcite.retrieval.interrupting import check_interrupt

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class WholeReplies:
    """Sends requests for any thread, at most `num_parallel` at once; one whose work is interrupted is cancelled."""

    def __init__(self, client: AsyncOpenAI, num_parallel: int) -> None:
        self._client, self._loop = client, BackgroundLoop("propcite-replies")
        self._slots = BoundedSemaphore(num_parallel)

    def reply_to(self, request: dict[str, Any]) -> str:
        """Return the server's reply unparsed: the client would accept a web page as a completion."""
        with self._slot():
            return self._loop.run(self._sent(request))

    async def _sent(self, request: dict[str, Any]) -> str:
        reply = await self._client.chat.completions.with_raw_response.create(**request)
        return str(reply.http_response.text)

    @contextmanager
    def _slot(self) -> Iterator[None]:
        while not self._slots.acquire(timeout=LOOK_S):
            check_interrupt()
        try:
            yield
        finally:
            self._slots.release()
