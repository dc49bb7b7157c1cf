"""Chat completions without a model server: the server's own generator answers the user's last message.

It writes one answer, in prose, from a collection.  Nothing is counted in tokens, so there is no `usage`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from secrets import token_hex
from typing import Any

from fastapi import Response

from propcite.app.answering.pipeline import Pipeline
from propcite.app.library.store import Action
from propcite.app.server.access import Access
from propcite.app.server.errors import RequestError
from propcite.app.server.problems import INTERNAL_ERROR, one_line, openai_error, status_of
from propcite.app.server.proxy.chat_request import EXTENSION, ChatRequest
from propcite.app.server.proxy.chunks import DONE, delta, encode_chunk
from propcite.app.server.proxy.citing import sentence_annotations
from propcite.app.server.streaming import COMMENT
from propcite.app.server.writing import Writing
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta
from propcite.attribution.formats.json import to_dict
from propcite.attribution.formats.openai import chat_annotations
from propcite.retrieval.errors import PropCiteError

log = logging.getLogger("propcite.server")
MODEL = "propcite"
MODELS = {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}]}
NO_MODEL_SERVER = "no model server is set (PROPCITE_LLM_URL)"


async def open_local_pipeline(access: Access, chat: ChatRequest) -> Pipeline:
    """Open the collection that answers; refuse what only a model server could do."""
    service, extension = access.service, chat.extension
    if chat.num_choices > 1 or chat.is_json:
        raise RequestError(422, f"{NO_MODEL_SERVER}: request one answer, in prose")
    if extension.passages:
        raise RequestError(422, f"{NO_MODEL_SERVER}: name a collection instead of passages")
    name = access.collection_name(chat.collection)
    service.require_models()

    def open_pipeline() -> Pipeline:
        pipeline = service.pipeline(name, extension.documents, extension.where)
        pipeline.retriever()  # raises for an empty collection before a stream begins
        return pipeline

    pipeline = await asyncio.to_thread(open_pipeline)
    await asyncio.to_thread(access.record, Action.ASKED, name)
    return pipeline


async def local_completion(access: Access, chat: ChatRequest, pipeline: Pipeline) -> bytes:
    answer = await Writing(access.service, access.asking).whole(lambda: pipeline.answer(chat.question))
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None}
    if chat.is_cited:
        message |= {"annotations": chat_annotations(answer), EXTENSION: to_dict(answer)}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(answer)}
    return json.dumps({**_common_fields("chat.completion"), "choices": [choice]}).encode()


def local_stream(access: Access, chat: ChatRequest, pipeline: Pipeline) -> Response:
    """Return a stream that answers; BusyError if it would begin too late."""
    writing = Writing(access.service, access.asking)
    return writing.response(_local_events(chat, pipeline, writing))


async def _local_events(chat: ChatRequest, pipeline: Pipeline, writing: Writing) -> AsyncIterator[bytes]:
    """Yield chunks in the order of a relayed stream."""
    fields = _common_fields("chat.completion.chunk")
    yield delta(fields, 0, {"role": "assistant", "content": ""})
    try:
        async with aclosing(writing.items(lambda: pipeline.answer_stream(chat.question))) as events:
            async for chunk in _chunks(events, fields, is_cited=chat.is_cited):
                yield chunk
    except PropCiteError as error:
        yield encode_chunk(openai_error(status_of(error), one_line(str(error))))
    except Exception as error:
        log.error("an answer broke off", exc_info=error)
        yield encode_chunk(openai_error(500, INTERNAL_ERROR))
    yield DONE


async def _chunks(
    events: AsyncIterator[Event | None], fields: Mapping[str, Any], *, is_cited: bool
) -> AsyncIterator[bytes]:
    num_annotations = 0
    async for event in events:
        match event:
            case None:
                yield COMMENT.encode()
            case TextDelta(text):
                yield delta(fields, 0, {"content": text})
            case SentenceCited() if is_cited and (annotations := sentence_annotations(event, num_annotations)):
                num_annotations += len(annotations)
                yield delta(fields, 0, {"annotations": annotations})
            case AnswerDone(answer):
                if is_cited:
                    yield delta(fields, 0, {EXTENSION: to_dict(answer)})
                yield delta(fields, 0, {}, _finish_reason(answer))


def _common_fields(kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{token_hex(12)}", "object": kind, "created": int(time.time()), "model": MODEL}


def _finish_reason(answer: CitedAnswer) -> str:
    return "length" if answer.incomplete else "stop"
