"""The answers that are kept: listed, and each in any format."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.errors import NotFoundError
from app.server.access import Reader
from app.server.routes.shared import ANSWER, PROBLEMS, form_of
from app.server.shapes import Answers, Name, Written

router = APIRouter(tags=["answers"])


@router.get("/v1/answers", responses=PROBLEMS)
def answers(
    access: Reader,
    collection: Annotated[Name | None, Query(description="none: the server's own, PROPCITE_COLLECTION")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Answers:
    """The newest answers of a collection."""
    info = access.service.pipeline(access.name(collection)).collection
    found = access.service.parts.library.answers(info, limit)
    return Answers(answers=found)


@router.get("/v1/answers/{answer_id}", responses=ANSWER, response_class=Response)
def answer(access: Reader, answer_id: str, wanted: Annotated[Written, Query()]) -> Response:
    """A kept answer, as it was given, in the form that is asked for."""
    missing = NotFoundError(f"no answer {answer_id[:40]!r}: GET /v1/answers lists those that are kept")
    if not answer_id.isalnum():
        raise missing
    try:
        found = access.service.parts.library.answer(answer_id)
    except NotFoundError as error:
        raise missing from error
    if access.key and not access.key.opens(found.collection):
        raise missing
    return form_of(found, wanted)
