"""What the server sends and a client returns as it is; nothing heavy is imported here."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from propcite.app.ingest.outcomes import Outcome
from propcite.app.overview.records import Line, SuggestedQuestion
from propcite.attribution.formats.json.schema import VerdictJson


class Collection(BaseModel):
    name: str
    num_documents: int
    num_passages: int
    created_at: datetime
    alignment: str = Field("", description="the collection's own; empty: that of the settings")
    owner: str = Field("", description="empty: no owner")


class CollectionList(BaseModel):
    collections: list[Collection]


class RemovedAnswers(BaseModel):
    id: str
    removed: int = Field(description="the answer and those that followed it")


class RemovedDocument(BaseModel):
    id: str
    answers_citing: int = Field(description="stored answers that still quote it")


class Verdicts(BaseModel):
    """One verdict per case, in their order, and the judge's name with its version."""

    judge: str
    verdicts: list[VerdictJson]


class ReadingJob(BaseModel):
    """Files that are being added to a collection; `done` of `total` have an outcome."""

    id: str
    collection: str
    state: Literal["waiting", "reading", "done", "failed"]
    done: int
    total: int
    passages_per_second: float | None
    seconds_left: float | None
    outcomes: list[Outcome]
    reason: str


class SuggestedQuestions(BaseModel):
    collection: str
    questions: list[SuggestedQuestion]


class DocumentOverview(BaseModel):
    """A document in short; `outline` is empty where no headings were found."""

    id: str
    summary: list[Line]
    outline: list[Line]


class Problem(BaseModel):
    """RFC 9457 problem details."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] = []
