"""Cite any text over passages, over a collection, or both, whole or as the events of `events`; judge claims."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from propcite.app.answering.pipeline import Pipeline
from propcite.app.library.store import Action
from propcite.app.server.access import Access, CheckedRoute, ReadAccess
from propcite.app.server.errors import RequestError, too_much_work
from propcite.app.server.offsets import unit_for
from propcite.app.server.results import Verdicts
from propcite.app.server.routes.events import answer_events
from propcite.app.server.routes.shared import (
    ANSWER_RESPONSES,
    PROBLEMS,
    cancel_on_disconnect,
    keep_cited,
    new_answer_response,
    plain_inputs,
    to_passages,
)
from propcite.app.server.schemas import CiteRequest, JudgeRequest, RepairRequest
from propcite.app.server.streaming import Stream
from propcite.app.server.writing import Writing
from propcite.app.turns.costs import Kind, Size
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import Event
from propcite.attribution.formats.json import json_schema
from propcite.attribution.formats.json.explanations import explanation_schema
from propcite.attribution.formats.json.repairs import RepairJson, repair_json, repair_schema
from propcite.attribution.formats.json.writing import verdict_json
from propcite.attribution.judges import plain_case
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage

router = APIRouter(tags=["cite"], route_class=CheckedRoute)
SCHEMAS = {"answer": json_schema, "repair": repair_schema, "explanation": explanation_schema}


@router.get("/v1/schemas/{of}")
def get_schema(of: Literal["answer", "repair", "explanation"]) -> dict[str, Any]:
    """Return the JSON schema of a response; no key is required."""
    return SCHEMAS[of]()


@router.post("/v1/cite", responses=ANSWER_RESPONSES, response_class=Response)
async def cite(request: Request, body: CiteRequest, access: ReadAccess) -> Response:
    """Cite a text.  Answers that wait at the same time are cited in one batch.  With `stream` its sentences come as
    server-sent events once they are cited: answer.delta, sentence, citation.added, result, error."""
    service = access.service
    service.require_models()
    text = await _Text.of(access, body)
    if not body.stream:
        answer = await cancel_on_disconnect(request, _cite(access, body.answer, text))
        return new_answer_response(service, answer, body, request)
    service.limits.check_characters(body.answer, text.source)
    await asyncio.to_thread(service.limits.check_sentences, body.answer)
    writing, unit = Writing(service, access.asking), unit_for(request, body)

    def stream() -> Stream[Event]:
        return service.propcite.stream([body.answer], text.source, collection=text.more, question=text.question)

    return writing.response(answer_events(request, writing, stream, partial(_finish, access, text), body.format, unit))


@dataclass(frozen=True, slots=True)
class _Text:
    """What a text is cited over: `more` is searched for what `source` does not support; `name` is its collection."""

    source: Retriever | Sequence[Passage]
    more: Retriever | None
    question: str
    name: str = ""
    pipeline: Pipeline | None = None
    keep: bool = False

    @classmethod
    async def of(cls, access: Access, body: CiteRequest) -> _Text:
        passages = to_passages(body.passages)
        has_passages = "passages" in body.model_fields_set  # an empty list too: the answer was written from nothing
        if body.keep and has_passages and not body.collection:
            raise RequestError(422, "keep: an answer is stored with a collection: name one")
        if has_passages and not body.collection:
            return cls(passages, None, body.question)
        name = access.collection_name(body.collection)
        pipeline = await asyncio.to_thread(access.service.pipeline, name)
        retriever = await asyncio.to_thread(pipeline.retriever)
        source, more = (passages, retriever) if has_passages else (retriever, None)
        return cls(source, more, body.question, name, pipeline, body.keep)


async def _cite(access: Access, answer: str, text: _Text) -> CitedAnswer:
    queue = access.service.citing_queue
    cited = await queue.cite(access.asking, answer, text.source, collection=text.more, question=text.question)
    return await _finish(access, text, cited)


async def _finish(access: Access, text: _Text, cited: CitedAnswer) -> CitedAnswer:
    """Store an answer that is to be kept, record that it was cited, and return it with its collection."""
    if text.pipeline is None:
        return cited
    if text.keep:
        cited = await asyncio.to_thread(keep_cited, access, text.pipeline, cited)
    await asyncio.to_thread(access.record, Action.CITED, text.name, cited.id if text.keep else "")
    return replace(cited, collection=text.name)


@router.post("/v1/judge", responses=PROBLEMS)
async def judge(request: Request, body: JudgeRequest, access: ReadAccess) -> Verdicts:
    """Judge whether quotes support a claim, for several claims at once."""
    service = access.service
    service.require_models()
    if (judge := service.propcite.judge) is None:
        raise RequestError(409, "this server has no judge: set PROPCITE_JUDGE")
    cases = [plain_case(one.claim, one.evidence, one.context) for one in body.cases]
    size = Size(len(cases), passages=sum(len(case.claim) + len(case.text) + len(case.context) for case in cases))
    if size.passages > service.settings.serve_characters:
        what = f"the cases have {size.passages:,} characters, and {service.settings.serve_characters:,} are allowed"
        raise too_much_work(what, "PROPCITE_SERVE_CHARACTERS")

    def work() -> Verdicts:
        return Verdicts(judge=judge.name, verdicts=[verdict_json(verdict) for verdict in judge.judge(cases)])

    return await cancel_on_disconnect(request, service.workers.run(access.asking, Kind.JUDGE, size, work))


@router.post("/v1/repair", responses=PROBLEMS, response_model=RepairJson)
async def repair(request: Request, body: RepairRequest, access: ReadAccess) -> JSONResponse:
    """Check a text's own markers: which are right, which are dropped, which are missing."""
    service = access.service
    service.require_models()
    name = access.collection_name(body.collection) if body.collection else None
    given, unit = to_passages(body.passages), unit_for(request, body)
    service.limits.check_characters(body.answer, given)

    def work() -> RepairJson:
        service.limits.check_sentences(body.answer)
        collection = service.pipeline(name).retriever() if name else None
        passages = plain_inputs(body.passages)
        repaired = service.propcite.repair(body.answer, passages, collection=collection, question=body.question)
        return repair_json(repaired, body.answer, unit)

    size = Size.of(body.answer, given)
    work_done = service.workers.run(access.asking, Kind.REPAIR, size, work)
    return JSONResponse(await cancel_on_disconnect(request, work_done))
