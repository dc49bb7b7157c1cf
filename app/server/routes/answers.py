"""Stored answers: list, show in any format, explain, remove, and give feedback."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from propcite.app.errors import NotFoundError
from propcite.app.library.answer_records import record_page
from propcite.app.library.feedback import find_quote, make_feedback
from propcite.app.library.store import Action, Feedback, Opinion, Scope
from propcite.app.library.store.people.audit import BY_KEY
from propcite.app.server.access import Access, CheckedRoute, ReadAccess, WriteAccess
from propcite.app.server.errors import RequestError
from propcite.app.server.offsets import unit_for
from propcite.app.server.results import RemovedAnswers
from propcite.app.server.routes.shared import (
    ANSWER_RESPONSES,
    MAX_FIRST,
    PROBLEMS,
    answer_response,
    cancel_on_disconnect,
    exported,
)
from propcite.app.server.schemas import (
    MAX_TEXT,
    AlternativeList,
    AnswerFormat,
    AnswerList,
    EvidenceRequest,
    ExplainRequest,
    FeedbackList,
    FeedbackRequest,
    Name,
    Text,
)
from propcite.app.turns.costs import Kind, Size
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.json.explanations import ExplanationJson, explanation_json
from propcite.attribution.formats.json.hits import alternative_json
from propcite.retrieval.alignment import alignment_of

router = APIRouter(tags=["answers"], route_class=CheckedRoute)


@router.get("/v1/answers", responses=PROBLEMS)
def list_answers(
    access: ReadAccess,
    collection: Annotated[Name | None, Query(description="default: the server's own, PROPCITE_COLLECTION")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    first: Annotated[int, Query(ge=0, le=MAX_FIRST, description="how many newer answers to skip")] = 0,
    search: Annotated[Text, Query(max_length=MAX_TEXT, description="words in the question or answer")] = "",
) -> AnswerList:
    """List the newest answers of a collection; `total` is the number of all."""
    info = access.service.pipeline(access.collection_name(collection)).collection
    page = access.service.parts.library.find_answers(info, search, first=first, limit=limit)
    return AnswerList(answers=list(page.items), total=page.total)


@router.get("/v1/answers/{answer_id}", responses=ANSWER_RESPONSES, response_class=Response)
async def get_answer(
    request: Request, access: ReadAccess, answer_id: str, options: Annotated[AnswerFormat, Query()]
) -> Response:
    """Return a stored answer as it was given, in the requested format."""

    def work() -> Response:
        return answer_response(access.service, find_answer(access, answer_id), options, request)

    return await exported(request, access, work)


RECORD: dict[int | str, dict[str, Any]] = {
    **PROBLEMS,
    200: {"content": {"text/html": {}}, "description": "The record as one HTML file"},
}


@router.get("/v1/answers/{answer_id}/record", responses=RECORD, response_class=HTMLResponse)
async def get_record(request: Request, access: ReadAccess, answer_id: str) -> HTMLResponse:
    """Return a stored answer as a page to print: facts, quotes, verdicts, versions, who asked for it and when.

    Who asked is named to admins of the collection, and to themselves.
    """

    def work() -> HTMLResponse:
        stored = find_answer(access, answer_id)
        sees_all, me = access.rights.allow(Scope.ADMIN, stored.collection), access.speaker()

        def may_see(who: str) -> bool:
            return sees_all or (bool(me) and who.partition(BY_KEY)[0] == me)

        page = record_page(access.service.parts, stored, may_see)
        return HTMLResponse(page, headers={"X-PropCite-Answer": stored.id})

    return await exported(request, access, work)


@router.delete("/v1/answers/{answer_id}", responses=PROBLEMS)
def remove_answer(access: WriteAccess, answer_id: str) -> RemovedAnswers:
    """Remove an answer with those that follow it, and the feedback on them."""
    stored = find_answer(access, answer_id)
    removed = access.service.parts.library.remove_answer(stored.id)
    access.record(Action.REMOVED_ANSWER, stored.collection, stored.id)
    return RemovedAnswers(id=stored.id, removed=removed)


@router.get("/v1/answers/{answer_id}/explain", responses=PROBLEMS)
async def explain(
    request: Request, access: ReadAccess, answer_id: str, options: Annotated[ExplainRequest, Query()]
) -> ExplanationJson:
    """Show which words of a fact matched which words of its source, and how much each pair counted."""
    service, unit = access.service, unit_for(request, options)
    service.require_models()

    def work() -> ExplanationJson:
        stored = find_answer(access, answer_id)
        alignment = alignment_of(options.alignment) if options.alignment else None
        explained = service.propcite.explain(
            stored, options.fact, options.citation, granularity=options.granularity, alignment=alignment
        )
        return explanation_json(explained, unit)

    return await cancel_on_disconnect(request, service.workers.run(access.asking, Kind.EXPLAIN, Size(), work))


@router.get("/v1/answers/{answer_id}/evidence", responses=PROBLEMS)
async def find_evidence(
    request: Request, access: ReadAccess, answer_id: str, options: Annotated[EvidenceRequest, Query()]
) -> AlternativeList:
    """Rank and judge what the collection has near a fact now, at any granularity."""
    service, unit = access.service, unit_for(request, options)
    service.require_models()

    def work() -> AlternativeList:
        stored = find_answer(access, answer_id)
        pipeline = service.pipeline(stored.collection)
        near = pipeline.alternatives(stored, options.fact, options.granularity, options.k)
        return AlternativeList(evidence=[alternative_json(one, unit) for one in near])

    return await cancel_on_disconnect(request, service.workers.run(access.asking, Kind.EVIDENCE, Size(), work))


@router.get("/v1/answers/{answer_id}/feedback", responses=PROBLEMS)
def list_feedback(access: ReadAccess, answer_id: str) -> FeedbackList:
    """List the feedback on an answer's citations."""
    return FeedbackList(feedback=access.service.parts.feedback.of(find_answer(access, answer_id).id))


@router.post("/v1/answers/{answer_id}/feedback", responses=PROBLEMS, status_code=201)
def give_feedback(access: ReadAccess, answer_id: str, body: FeedbackRequest) -> Feedback:
    """Say whether a citation is right.  The newest opinion of one person on one citation counts."""
    service, stored, by = access.service, find_answer(access, answer_id), access.speaker(body.by)
    if body.words and body.opinion is not Opinion.BETTER:
        raise RequestError(422, f"words: give them only with the opinion {Opinion.BETTER.value!r}")
    better = None
    if body.words:
        service.require_models()
        better = find_quote(service.pipeline(stored.collection), body.words)
    entry = make_feedback(
        stored, str(body.fact), body.opinion, citation=str(body.citation), better=better, note=body.note, by=by
    )
    saved = service.parts.feedback.save(entry)
    access.record(Action.GAVE_FEEDBACK, stored.collection, stored.id)
    return saved


def find_answer(access: Access, answer_id: str) -> CitedAnswer:
    """Return a stored answer that the key may see."""
    missing = NotFoundError(f"no answer {answer_id[:40]!r}: GET /v1/answers lists the stored answers")
    if not answer_id.isalnum():
        raise missing
    try:
        stored = access.service.parts.library.answer(answer_id)
    except NotFoundError as error:
        raise missing from error
    if stored.id != answer_id or not access.opens(stored.collection):  # a part of an id would tell of others
        raise missing
    return stored
