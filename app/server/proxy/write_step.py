"""The step in which a model server writes, from the request to the end of its response."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import httpx

from propcite.retrieval.telemetry import begin_span, end_span, trace_headers

STEP = "write"


class WriteStep:
    """Traced where this process traces; `headers` let the model server go on with the trace."""

    def __init__(self) -> None:
        self._begun, self._span = time.perf_counter(), begin_span(STEP)
        self.headers = trace_headers(self._span)

    def end_with(self, response: httpx.Response) -> None:
        """End the step when the body of the response has been read, or at once if that is no answer."""
        if self._span is None:
            return
        if response.status_code == httpx.codes.OK and isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _Written(response.stream, self)
        else:
            self.end()

    def end(self) -> None:
        span, self._span = self._span, None
        end_span(span, STEP, 1000 * (time.perf_counter() - self._begun))


class _Written(httpx.AsyncByteStream):
    """A body whose end is that of the step."""

    def __init__(self, body: httpx.AsyncByteStream, step: WriteStep) -> None:
        self._body, self._step = body, step

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._body:
                yield piece
        finally:
            self._step.end()

    async def aclose(self) -> None:
        self._step.end()
        await self._body.aclose()
