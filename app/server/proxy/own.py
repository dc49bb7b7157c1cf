"""A chat completion without a model's server: this server's own generator answers the last message of the user.

It writes one answer, in prose, from a collection; nothing of it is counted in tokens, so there is no `usage`.
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

from propcite.app.answering.pipeline import Pipeline
from propcite.app.server.access import Access
from propcite.app.server.errors import RequestError
from propcite.app.server.problems import OWN_FAULT, one_line, openai_error, status_of
from propcite.app.server.proxy.asked import OURS, Asked
from propcite.app.server.proxy.chunks import DONE, delta, encoded
from propcite.app.server.proxy.citing import sentence_annotations
from propcite.app.server.streaming import COMMENT, told
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta
from propcite.attribution.formats.json import to_dict
from propcite.attribution.formats.openai import chat_annotations
from propcite.retrieval.errors import PropCiteError

log = logging.getLogger("propcite.server")
MODEL = "propcite"


async def own_pipeline(access: Access, asked: Asked) -> Pipeline:
    """The collection that answers; what cannot be done without a model's server is told."""
    service, extension = access.service, asked.extension
    if asked.num > 1 or asked.wants_json:
        raise RequestError(422, "there is no model's server here (PROPCITE_LLM_URL): one answer, in prose")
    if extension.passages:
        raise RequestError(422, "there is no model's server here (PROPCITE_LLM_URL): name a collection, not passages")
    name = access.name(asked.collection)
    service.needed()

    def find() -> Pipeline:
        pipeline = service.pipeline(name, extension.documents, extension.where)
        pipeline.retriever()  # an empty collection is told before anything is sent
        return pipeline

    return await asyncio.to_thread(find)


def own_models() -> dict[str, Any]:
    return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}]}


async def own_completion(access: Access, asked: Asked, pipeline: Pipeline) -> bytes:
    answer = await access.service.streams.run(lambda: pipeline.answer(asked.question))
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None}
    if asked.cites:
        message |= {"annotations": chat_annotations(answer), OURS: to_dict(answer)}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(answer)}
    return json.dumps({**_frame("chat.completion"), "choices": [choice]}).encode()


async def own_stream(access: Access, asked: Asked, pipeline: Pipeline) -> AsyncIterator[bytes]:
    """In the order in which a model server's stream is passed on."""
    frame = _frame("chat.completion.chunk")
    yield delta(frame, 0, {"role": "assistant", "content": ""})
    try:
        async with aclosing(told(access.service.streams, lambda: pipeline.answer_stream(asked.question))) as coming:
            async for sent in _sent(coming, frame, cites=asked.cites):
                yield sent
    except PropCiteError as error:
        yield encoded(openai_error(status_of(error), one_line(str(error))))
    except Exception as error:
        log.error("an answer broke off", exc_info=error)
        yield encoded(openai_error(500, OWN_FAULT))
    yield DONE


async def _sent(coming: AsyncIterator[Event | None], frame: Mapping[str, Any], *, cites: bool) -> AsyncIterator[bytes]:
    num_annotations = 0
    async for event in coming:
        match event:
            case None:
                yield COMMENT.encode()
            case TextDelta(text):
                yield delta(frame, 0, {"content": text})
            case SentenceCited() if cites and (found := sentence_annotations(event, num_annotations)):
                num_annotations += len(found)
                yield delta(frame, 0, {"annotations": found})
            case AnswerDone(answer):
                if cites:
                    yield delta(frame, 0, {OURS: to_dict(answer)})
                yield delta(frame, 0, {}, _reason(answer))


def _frame(kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{token_hex(12)}", "object": kind, "created": int(time.time()), "model": MODEL}


def _reason(answer: CitedAnswer) -> str:
    return "length" if answer.incomplete else "stop"
