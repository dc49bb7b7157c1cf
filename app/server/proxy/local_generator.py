"""Answers without a model server: the server's own generator answers the user's last message, as a chat completion.

It writes one answer, in prose, from a collection, and cites it itself.  Nothing is counted in tokens, so there is no
`usage`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Self

from propcite.app.answering.pipeline import Pipeline
from propcite.app.library.store import Action
from propcite.app.server.access import Access
from propcite.app.server.errors import RequestError
from propcite.app.server.problems import INTERNAL_ERROR, one_line, openai_error, status_of
from propcite.app.server.proxy.chat.chunks import delta
from propcite.app.server.proxy.citing import Citer, EventStream
from propcite.app.server.proxy.events import DONE, Event, encode_chunk
from propcite.app.server.proxy.proxy_request import ProxyRequest
from propcite.app.server.proxy.sources import Sources
from propcite.app.server.streaming import COMMENT
from propcite.app.server.writing import Writing
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import AnswerDone, SentenceCited, TextDelta
from propcite.attribution.events import Event as AnswerEvent
from propcite.retrieval.errors import PropCiteError

log = logging.getLogger("propcite.server")
MODEL = "propcite"
MODELS = {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}]}
NO_MODEL_SERVER = "no model server is set (PROPCITE_LLM_URL)"


async def open_local_pipeline(access: Access, call: ProxyRequest) -> Pipeline:
    """Open the collection that answers; refuse what only a model server could do."""
    service, extension = access.service, call.extension
    if call.num_texts > 1 or call.is_json:
        raise RequestError(422, f"{NO_MODEL_SERVER}: request one answer, in prose")
    if call.passages:
        raise RequestError(422, f"{NO_MODEL_SERVER}: name a collection instead of passages")
    name = access.collection_name(call.collection)
    service.require_models()

    def open_pipeline() -> Pipeline:
        pipeline = service.pipeline(name, extension.documents, extension.where)
        pipeline.retriever()  # raises for an empty collection before a stream begins
        return pipeline

    pipeline = await asyncio.to_thread(open_pipeline)
    await asyncio.to_thread(access.record, Action.ASKED, name)
    return pipeline


@dataclass(frozen=True, slots=True)
class LocalCiter(Citer):
    """Has the citations that the generator's answer came with: `known` gets its events, or the whole answer."""

    known: asyncio.Queue[AnswerEvent] = field(default_factory=asyncio.Queue)

    @classmethod
    def beside(cls, access: Access, call: ProxyRequest, collection: str) -> Self:
        """Return a citer that needs no admission beside that of the writing."""
        job = access.service.workers.writing_job(access.asking.client)
        return cls(access.service, access.asking, job, call, Sources((), None, collection))

    async def text(self, text: str, reason: str | None) -> CitedAnswer:  # noqa: ARG002 - the answer says it all
        event = await self.known.get()
        assert isinstance(event, AnswerDone)
        return event.answer

    def stream(self, pieces: AsyncIterable[str]) -> EventStream:
        return _KnownEvents(self.known, pieces)

    def stop(self) -> None:
        """Do nothing: the citing ends with the writing."""

    def finish(self, answer: CitedAnswer, reason: str | None = None) -> CitedAnswer:  # noqa: ARG002
        return answer


async def local_completion(call: ProxyRequest, pipeline: Pipeline, writing: Writing, citer: LocalCiter) -> bytes:
    answer = await writing.whole(lambda: pipeline.answer(call.question))
    citer.known.put_nowait(AnswerDone(answer))
    message = {"role": "assistant", "content": answer.text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(answer)}
    return json.dumps({**_common_fields("chat.completion"), "choices": [choice]}).encode()


async def local_stream(
    call: ProxyRequest, pipeline: Pipeline, writing: Writing, citer: LocalCiter
) -> AsyncGenerator[Event, None]:
    """Yield the chunks of an answer without its citations, which the citer gets."""
    fields = _common_fields("chat.completion.chunk")
    yield Event(delta(fields, 0, {"role": "assistant", "content": ""}))
    try:
        async with aclosing(writing.items(lambda: pipeline.answer_stream(call.question))) as events:
            async for event in events:
                match event:
                    case None:
                        yield Event(COMMENT.encode())
                    case TextDelta(text):
                        yield Event(delta(fields, 0, {"content": text}))
                    case SentenceCited():
                        citer.known.put_nowait(event)
                    case AnswerDone(answer):
                        citer.known.put_nowait(event)
                        yield Event(delta(fields, 0, {}, _finish_reason(answer)))
    except PropCiteError as error:
        yield Event(encode_chunk(openai_error(status_of(error), one_line(str(error)))))
    except Exception as error:
        log.error("an answer broke off", exc_info=error)
        yield Event(encode_chunk(openai_error(500, INTERNAL_ERROR)))
    yield Event(DONE)


class _KnownEvents(AsyncIterator[AnswerEvent]):
    """The events of an answer that is cited elsewhere; they end where the text ends if the answer breaks off."""

    def __init__(self, known: asyncio.Queue[AnswerEvent], pieces: AsyncIterable[str]) -> None:
        self.so_far = CitedAnswer("")
        self._known = known
        self._text_ends = asyncio.ensure_future(_read(pieces))

    async def __anext__(self) -> AnswerEvent:
        coming = asyncio.ensure_future(self._known.get())
        await asyncio.wait({coming, self._text_ends}, return_when=asyncio.FIRST_COMPLETED)
        if not coming.done():
            coming.cancel()
            raise StopAsyncIteration
        return coming.result()

    async def aclose(self) -> None:
        self._text_ends.cancel()


async def _read(pieces: AsyncIterable[str]) -> None:
    async for _ in pieces:
        pass


def _common_fields(kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{token_hex(12)}", "object": kind, "created": int(time.time()), "model": MODEL}


def _finish_reason(answer: CitedAnswer) -> str:
    return "length" if answer.incomplete else "stop"
