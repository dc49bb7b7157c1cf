"""The answers that are kept: listed, and each in any format."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from propcite.app.errors import NotFoundError
from propcite.app.library.opinions import opinion_on, words_of_source
from propcite.app.library.store import Feedback, Opinion
from propcite.app.server.access import Access, Reader, Writer
from propcite.app.server.errors import RequestError
from propcite.app.server.routes.shared import ANSWER, PROBLEMS, form_of, unless_gone
from propcite.app.server.shapes import (
    MOST_ASKED,
    Alternatives,
    Answers,
    EvidenceRequest,
    ExplainRequest,
    FeedbackRequest,
    Name,
    RemovedAnswers,
    Said,
    Text,
    Written,
)
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.json.alternatives import alternative_json
from propcite.attribution.formats.json.explanations import ExplanationJson, explanation_json
from propcite.retrieval.alignment import alignment_of

router = APIRouter(tags=["answers"])


@router.get("/v1/answers", responses=PROBLEMS)
def answers(
    access: Reader,
    collection: Annotated[Name | None, Query(description="none: the server's own, PROPCITE_COLLECTION")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    first: Annotated[int, Query(ge=0, description="how many newer ones are passed over")] = 0,
    search: Annotated[Text, Query(max_length=MOST_ASKED, description="words that question or answer hold")] = "",
) -> Answers:
    """The newest answers of a collection; `total` says how many there are."""
    info = access.service.pipeline(access.name(collection)).collection
    found = access.service.parts.library.find_answers(info, search, first=first, limit=limit)
    return Answers(answers=list(found.items), total=found.total)


@router.get("/v1/answers/{answer_id}", responses=ANSWER, response_class=Response)
def answer(access: Reader, answer_id: str, wanted: Annotated[Written, Query()]) -> Response:
    """A kept answer, as it was given, in the form that is asked for."""
    return form_of(access.service, _found(access, answer_id), wanted)


@router.delete("/v1/answers/{answer_id}", responses=PROBLEMS)
def remove(access: Writer, answer_id: str) -> RemovedAnswers:
    """Remove an answer with those that follow it, and what people said of them."""
    found = _found(access, answer_id)
    return RemovedAnswers(id=found.id, removed=access.service.parts.library.remove_answer(found.id))


@router.get("/v1/answers/{answer_id}/explain", responses=PROBLEMS)
async def explain(
    request: Request, access: Reader, answer_id: str, asked: Annotated[ExplainRequest, Query()]
) -> ExplanationJson:
    """Which words of a fact met which words of its source, and how much each pair counted."""
    service = access.service
    service.needed()

    def work() -> ExplanationJson:
        found = _found(access, answer_id)
        aligned = alignment_of(asked.alignment) if asked.alignment else None
        explained = service.parts.propcite.explain(
            found, asked.fact, asked.citation, granularity=asked.granularity, alignment=aligned
        )
        return explanation_json(explained)

    return await unless_gone(request, service.work.run(work))


@router.get("/v1/answers/{answer_id}/evidence", responses=PROBLEMS)
async def evidence(
    request: Request, access: Reader, answer_id: str, asked: Annotated[EvidenceRequest, Query()]
) -> Alternatives:
    """What of the collection comes near a fact, as it is now: ranked at any granularity, and judged."""
    service = access.service
    service.needed()

    def work() -> Alternatives:
        found = _found(access, answer_id)
        near = service.pipeline(found.collection).alternatives(found, asked.fact, asked.granularity, asked.k)
        return Alternatives(evidence=[alternative_json(one) for one in near])

    return await unless_gone(request, service.work.run(work))


@router.get("/v1/answers/{answer_id}/feedback", responses=PROBLEMS)
def feedback(access: Reader, answer_id: str) -> Said:
    """What was said of an answer's citations."""
    return Said(feedback=access.service.parts.feedback.of(_found(access, answer_id).id))


@router.post("/v1/answers/{answer_id}/feedback", responses=PROBLEMS, status_code=201)
def give_feedback(access: Reader, answer_id: str, said: FeedbackRequest) -> Feedback:
    """Say whether a citation is right.  The newest opinion of one person on one citation counts."""
    service, found = access.service, _found(access, answer_id)
    if said.words and said.opinion is not Opinion.BETTER:
        raise RequestError(422, f"words: they belong to the opinion {Opinion.BETTER.value!r}")
    better = None
    if said.words:
        service.needed()
        better = words_of_source(service.pipeline(found.collection), said.words)
    by = said.by or (access.key.name if access.key else "")
    given = opinion_on(
        found, str(said.fact), said.opinion, citation=str(said.citation), better=better, note=said.note, by=by
    )
    return service.parts.feedback.keep(given)


def _found(access: Access, answer_id: str) -> CitedAnswer:
    """An answer that this key may see."""
    missing = NotFoundError(f"no answer {answer_id[:40]!r}: GET /v1/answers lists those that are kept")
    if not answer_id.isalnum():
        raise missing
    try:
        found = access.service.parts.library.answer(answer_id)
    except NotFoundError as error:
        raise missing from error
    if access.key and not access.key.opens(found.collection):
        raise missing
    return found
