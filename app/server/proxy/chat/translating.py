"""What the translations of chat completions to other APIs share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Protocol

from propcite.app.server.proxy.events import Event
from propcite.app.server.proxy.proxy_request import refuse


class ChunkWriter(Protocol):
    """Takes the chunks of a completion and yields the events of another API."""

    def chunk(self, chunk: Mapping[str, Any]) -> Iterator[dict[str, Any]]: ...
    def end(self) -> Iterator[dict[str, Any]]:
        """Yield the end; nothing if the completion has not come to its end."""
        ...


async def translated(
    events: AsyncGenerator[Event, None], writer: ChunkWriter, error: Callable[[str], Mapping[str, Any]]
) -> AsyncGenerator[Event, None]:
    """Yield the events of another API; where the completion breaks off, they break off too.

    `error` gives an error's event from what the model server says of it.
    """
    async with aclosing(events):
        async for event in events:
            if event.is_last:
                break
            if event.is_error:
                yield Event.of(error(_detail(event)))
            elif event.content is None:
                yield event
            else:
                for content in writer.chunk(event.content):
                    yield Event.of(content)
    for content in writer.end():
        yield Event.of(content)


def shared_fields(body: Mapping[str, Any], own: Collection[str], served: Collection[str], why: str) -> dict[str, Any]:
    """Return the fields of a request that Chat Completions has too.

    `own` are in another form there, or missing; `served` are refused, and `why` says so.
    """
    for name in served:
        if body.get(name):
            refuse("value_error", (name,), why)
    shared = {name: value for name, value in body.items() if name not in own and value is not None}
    return {**shared, "stream_options": {"include_usage": True}} if body.get("stream") is True else shared


def _detail(event: Event) -> str:
    error = (event.content or {}).get("error")
    message = error.get("message") if isinstance(error, Mapping) else error
    return str(message or "the model server sent an error")
