"""What the server sends and a client returns as it is; nothing heavy is imported here."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from propcite.app.ingest.outcomes import Outcome
from propcite.app.library.records import Note, ReviewState
from propcite.app.overview.records import Line, SuggestedQuestion
from propcite.attribution.citations import Label
from propcite.attribution.formats.json.schema import AnswerJson, VerdictJson
from propcite.attribution.formats.reviewed.decisions import Choice


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
    """Files that are added to a collection; `done` of `total` have an outcome, and a job read by its id lists these."""

    id: str
    collection: str
    state: Literal["waiting", "reading", "done", "failed"]
    done: int
    total: int
    passages_per_second: float | None
    seconds_left: float | None
    outcomes: list[Outcome]
    reason: str


class JobList(BaseModel):
    """Jobs without their outcomes; `total` is the number of all."""

    jobs: list[ReadingJob]
    total: int


class SuggestedQuestions(BaseModel):
    collection: str
    questions: list[SuggestedQuestion]


class DocumentOverview(BaseModel):
    """A document in short; `outline` is empty where no headings were found."""

    id: str
    summary: list[Line]
    outline: list[Line]


class StoredNote(BaseModel):
    """A note; `cited` is its text with citations, null until it is cited and once it was changed.

    `answer` is the id of the answer that it was pinned from; empty where nothing is, or that is not known.
    """

    id: str
    collection: str
    by: str
    text: str
    pinned: AnswerJson | None
    cited: AnswerJson | None
    version: int
    made_at: datetime
    changed_at: datetime
    answer: str = ""


def stored_note(note: Note) -> StoredNote:
    """Return a note as it is sent."""
    from propcite.attribution.formats.json import to_dict

    pinned, cited = (to_dict(answer) if answer else None for answer in (note.pinned, note.cited))
    return StoredNote(
        id=note.id,
        collection=note.collection,
        by=note.by,
        text=note.text,
        pinned=pinned,
        cited=cited,
        version=note.version,
        made_at=note.made_at,
        changed_at=note.changed_at,
        answer=note.answer,
    )


class NoteList(BaseModel):
    collection: str
    notes: list[StoredNote]


class Review(BaseModel):
    """A draft: how far it is cited, and how many of its facts are decided on."""

    id: str
    collection: str
    name: str
    by: str
    state: ReviewState
    reason: str
    share: float = Field(description="how much of it is cited, 0 to 1")
    answer_id: str = Field(description="the stored answer with its citations; empty while there are none")
    begun_at: datetime
    num_facts: int
    num_decided: int


class ReviewList(BaseModel):
    reviews: list[Review]


class ReviewQuote(BaseModel):
    quote: str
    title: str
    place: str
    document_id: str


class ReviewFact(BaseModel):
    """A fact of a draft: its verdict, the quotes that support it or come nearest, and the decision that counts."""

    number: int
    id: str
    text: str
    verdict: Label
    probability: float | None
    reason: str
    is_cited: bool
    quotes: list[ReviewQuote]
    choice: Choice
    words: str
    note: str
    by: str
    at: datetime | None


class ReviewFacts(BaseModel):
    facts: list[ReviewFact]


class DecidedAtOnce(BaseModel):
    """How many facts one decision was kept on, and the draft after it."""

    decided: int
    review: Review


class Problem(BaseModel):
    """RFC 9457 problem details."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] = []
