"""Drafts under review: send one, watch its citing, decide on its facts, and take it along with comments."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, File, Query, Request, Response, UploadFile
from pydantic import Field

from propcite.app.errors import NotFoundError
from propcite.app.ingest.names import safe_name
from propcite.app.library.store import Action, ReviewInfo, Scope
from propcite.app.reviewing.drafts import DRAFTS
from propcite.app.reviewing.exports import ReviewFormat, cited_draft, export_review
from propcite.app.reviewing.facts import MAX_WORDS, DraftFact, decide_open, draft_facts, fact_values, make_decision
from propcite.app.server.access import Access, CheckedRoute, ReadAccess, WriteAccess
from propcite.app.server.errors import RequestError
from propcite.app.server.results import DecidedAtOnce, Review, ReviewFact, ReviewFacts, ReviewList
from propcite.app.server.routes.shared import PROBLEMS, exported
from propcite.app.server.schemas import Name, RequestBody, Text
from propcite.app.turns.costs import Kind
from propcite.app.turns.jobs import Job
from propcite.attribution.citations import Label
from propcite.attribution.formats.reviewed.decisions import Choice

router = APIRouter(tags=["reviews"], route_class=CheckedRoute)
Verdicts = Annotated[list[Label] | None, Query(max_length=4, description="only facts with one of these verdicts")]


class DecisionRequest(RequestBody):
    """A decision on a fact; the newest one counts, `open` takes it back."""

    fact: Text | int = Field(description="the fact's number, from 1, or its id")
    choice: Choice
    words: Annotated[Text, Field(max_length=MAX_WORDS, description="with changed: the words that it is to have")] = ""
    note: Annotated[Text, Field(max_length=MAX_WORDS)] = ""
    by: Annotated[Text, Field(max_length=200)] = ""


class DecisionOnAll(RequestBody):
    """One decision on all facts that nobody decided on, or on those of them with one of these verdicts."""

    choice: Literal[Choice.ACCEPTED, Choice.REJECTED]
    verdicts: list[Label] = Field([], max_length=len(Label), description="empty: whatever their verdict")
    note: Annotated[Text, Field(max_length=MAX_WORDS)] = ""
    by: Annotated[Text, Field(max_length=200)] = ""


@router.post("/v1/reviews", responses=PROBLEMS, status_code=202)
async def begin_review(
    access: ReadAccess,
    response: Response,
    file: Annotated[UploadFile, File(description=f"a draft of one of these kinds: {', '.join(DRAFTS)}")],
    collection: Annotated[Name | None, Query(description="default: the server's own, PROPCITE_COLLECTION")] = None,
) -> Review:
    """Send a draft.  It is kept, and cited in the background; the response says where its state can be requested."""
    info = await asyncio.to_thread(send_draft, access, safe_name(file.filename), file.file.read, collection)
    response.headers["Location"] = f"/v1/reviews/{info.id}"
    return _json(info)


def send_draft(access: Access, name: str, content: Callable[[], bytes], collection: str | None) -> ReviewInfo:
    """Keep a draft, and begin to cite it in the background."""
    service = access.service
    service.require_models()
    if not name.lower().endswith(DRAFTS):
        raise RequestError(415, f"cannot read drafts of the kind of {name}: send one of {', '.join(DRAFTS)}")
    chosen = access.collection_name(collection)
    pipeline = service.pipeline(chosen)
    pipeline.retriever()  # an empty collection is refused here
    by = access.speaker() or access.account
    info = service.reviewing.begin(pipeline.collection, name, content, lambda: pipeline, _job(access), by)
    access.record(Action.BEGAN_REVIEW, chosen, info.id)
    return info


@router.get("/v1/reviews", responses=PROBLEMS)
def list_reviews(
    access: ReadAccess,
    collection: Annotated[Name | None, Query(description="only drafts of this collection")] = None,
) -> ReviewList:
    """List the drafts of a collection, or of all that the key opens, the newest first."""
    return ReviewList(reviews=list(map(_json, open_drafts(access, collection))))


def open_drafts(access: Access, collection: str | None = None) -> list[ReviewInfo]:
    """Return the drafts of a collection, or of all that the key opens, the newest first."""
    if collection is not None:
        chosen = [access.service.pipeline(access.collection_name(collection)).collection]
    else:
        chosen = access.collections()
    return access.service.parts.reviews.all(chosen)


@router.get("/v1/reviews/{review_id}", responses=PROBLEMS)
def get_review(access: ReadAccess, review_id: str) -> Review:
    """Show how far a draft is."""
    return _json(find_draft(access, review_id))


@router.delete("/v1/reviews/{review_id}", responses=PROBLEMS, status_code=204)
def remove_review(access: WriteAccess, review_id: str) -> None:
    """Remove a draft with its citations and the decisions on it."""
    info = find_draft(access, review_id)
    access.service.parts.reviews.remove(info.id)
    access.record(Action.REMOVED_REVIEW, info.collection, info.id)


@router.post("/v1/reviews/{review_id}/cancel", responses=PROBLEMS)
def cancel_review(access: ReadAccess, review_id: str) -> Review:
    """Stop the citing of a draft of one's own; keys of scope write stop every draft.  What was cited is kept."""
    return _json(stop_citing(access, find_draft(access, review_id)))


@router.post("/v1/reviews/{review_id}/restart", responses=PROBLEMS, status_code=202)
def restart_review(access: ReadAccess, review_id: str) -> Review:
    """Cite a draft of one's own again from its beginning; keys of scope write do so with every draft.

    The decisions on facts that stay the same are kept.
    """
    cite_again(access, find_draft(access, review_id))
    return _json(find_draft(access, review_id))


def cite_again(access: Access, info: ReviewInfo) -> None:
    """Cite a kept draft from its beginning; without effect where it is being cited."""
    service = access.service
    service.require_models()
    _check_own(access, info)
    by = access.speaker() or access.account
    service.reviewing.go_on(info, lambda: service.pipeline(info.collection), _job(access), by)


def stop_citing(access: Access, info: ReviewInfo) -> ReviewInfo:
    """Stop the citing of a draft, and return how it is then."""
    _check_own(access, info)
    access.service.parts.reviews.cancel(info.id)
    return find_draft(access, info.id)


def _check_own(access: Access, info: ReviewInfo) -> None:
    """Refuse a key of scope read that did not send the draft."""
    if info.by != access.speaker() and not access.rights.allow(Scope.WRITE, info.collection):
        raise RequestError(403, f"this draft is by {info.by or 'somebody else'}: a key of scope write may do this")


@router.get("/v1/reviews/{review_id}/facts", responses=PROBLEMS)
async def list_facts(
    request: Request,
    access: ReadAccess,
    review_id: str,
    verdict: Verdicts = None,
    choice: Annotated[list[Choice] | None, Query(max_length=4, description="only facts decided so, or open")] = None,
) -> ReviewFacts:
    """List the facts of a draft with their verdicts, quotes and decisions."""
    info, parts = await asyncio.to_thread(find_draft, access, review_id), access.service.parts

    def work() -> ReviewFacts:
        listed = draft_facts(cited_draft(parts, info), parts.reviews.decisions(info.id), verdict or (), choice or ())
        return ReviewFacts(facts=[ReviewFact(**fact_values(one)) for one in listed])

    return await exported(request, access, work, info.num_facts)


@router.post("/v1/reviews/{review_id}/decisions", responses=PROBLEMS, status_code=201)
def decide(access: ReadAccess, review_id: str, body: DecisionRequest) -> ReviewFact:
    """Accept, change or reject a fact, or open it again; earlier decisions are kept."""
    decided = keep_decision(
        access, find_draft(access, review_id), str(body.fact), body.choice, body.words, body.note, body.by
    )
    return ReviewFact(**fact_values(decided))


@router.post("/v1/reviews/{review_id}/decisions/all", responses=PROBLEMS, status_code=201)
def decide_all(access: ReadAccess, review_id: str, body: DecisionOnAll) -> DecidedAtOnce:
    """Accept or reject all facts that nobody decided on at once; each can be decided again."""
    info = find_draft(access, review_id)
    number = keep_decisions(access, info, body.choice, body.verdicts, body.note, body.by)
    return DecidedAtOnce(decided=number, review=_json(find_draft(access, info.id)))


def keep_decisions(
    access: Access, info: ReviewInfo, choice: Choice, verdicts: Sequence[Label], note: str, by: str = ""
) -> int:
    """Keep a decision on each fact that has none and one of the verdicts, and return how many these are."""
    parts = access.service.parts
    facts = draft_facts(cited_draft(parts, info), parts.reviews.decisions(info.id), verdicts)
    made = decide_open(facts, choice, note=note, by=access.speaker(by) or access.account)
    parts.reviews.decide_all(info.id, made)
    access.record(Action.DECIDED, info.collection, info.id)
    return len(made)


def keep_decision(
    access: Access, info: ReviewInfo, fact: str, choice: Choice, words: str, note: str, by: str = ""
) -> DraftFact:
    """Keep a decision on a fact, and return the fact with it."""
    parts = access.service.parts
    answer, who = cited_draft(parts, info), access.speaker(by) or access.account
    made = make_decision(answer, fact, choice, words=words, note=note, by=who)
    parts.reviews.decide(info.id, made)
    access.record(Action.DECIDED, info.collection, info.id)
    decided = draft_facts(answer, parts.reviews.decisions(info.id))
    return next(one for one in decided if one.cited.id == made.fact)


FILE: dict[int | str, dict[str, Any]] = {
    **PROBLEMS,
    200: {"content": {form.media_type: {} for form in ReviewFormat}, "description": "The draft as a file"},
}


@router.get("/v1/reviews/{review_id}/document", responses=FILE, response_class=Response)
async def get_reviewed_document(
    request: Request,
    access: ReadAccess,
    review_id: str,
    format: Annotated[ReviewFormat, Query()] = ReviewFormat.DOCX,  # noqa: A002
    verdict: Verdicts = None,
) -> Response:
    """Return the draft with a comment (Word) or a footnote (Markdown) at each fact."""
    info, parts = await asyncio.to_thread(find_draft, access, review_id), access.service.parts
    written = await exported(request, access, lambda: export_review(parts, info, format, verdict or ()), info.num_facts)
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(written.name, safe='')}"}
    return Response(written.data, media_type=written.media_type, headers=headers)


def _job(access: Access) -> Job:
    """Return work that takes turns with all requests, for as long as it takes."""
    workers = access.service.workers
    return Job(workers.turns, workers.costs, access.asking.client, Kind.READ, math.inf)


def find_draft(access: Access, review_id: str, listed_by: str = "GET /v1/reviews") -> ReviewInfo:
    """Return a draft that the key may see."""
    missing = NotFoundError(f"no draft {review_id[:40]!r}: {listed_by} lists the drafts")
    if not review_id.isalnum():
        raise missing
    try:
        info = access.service.parts.reviews.find(review_id)
    except NotFoundError as error:
        raise missing from error
    if info.id != review_id or not access.opens(info.collection):
        raise missing
    return info


def _json(info: ReviewInfo) -> Review:
    fields = {name: getattr(info, name) for name in Review.model_fields}
    return Review(**fields)
