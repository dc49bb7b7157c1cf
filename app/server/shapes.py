"""Shapes of requests and responses; `propcite.attribution.formats.json` has that of a cited answer."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag

from propcite.app.ingest.outcomes import Outcome
from propcite.app.library.store import AnswerInfo, DocumentInfo, FailureInfo, Feedback, Opinion
from propcite.app.settings import alignment_name
from propcite.attribution.formats import FORMATS, Unit
from propcite.attribution.formats.json.alternatives import AlternativeJson
from propcite.retrieval.alignment import FORMS
from propcite.retrieval.text import Granularity


def cleaned(text: str) -> str:
    """Without halves of characters and without zeros, which JSON may hold and a database does not take."""
    return text.encode(errors="replace").decode().replace("\0", "\ufffd")


def cleaned_all(value: Any) -> Any:
    """The same for every text in a value."""
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, list):
        return [cleaned_all(one) for one in value]
    return {cleaned(k): cleaned_all(v) for k, v in value.items()} if isinstance(value, dict) else value


def _name(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("a name has visible characters")
    return text


def _wordy(text: str) -> str:
    if not text.strip():
        raise ValueError("it needs some words")
    return cleaned(text)


def _form(name: str) -> str:
    if name not in FORMATS:
        raise ValueError(f"no format {name!r}: it is one of {', '.join(FORMATS)}")
    return name


Text = Annotated[str, AfterValidator(cleaned)]
MOST_ASKED = 4000  # characters of a question or query: each token of it looks for passages of its own
Words = Annotated[str, AfterValidator(_wordy), Field(min_length=1)]
AlignmentName = Annotated[str, AfterValidator(alignment_name), Field(min_length=1)]
Name = Annotated[str, AfterValidator(_name), Field(min_length=1, max_length=200)]


class Given(BaseModel):
    """A request's body; a field that is misspelt is told, not passed over."""

    model_config = ConfigDict(extra="forbid")


class GivenPassage(Given):
    """A passage to cite from; without an id it is known by its number, from 1."""

    text: Text
    id: Text | int | None = None
    title: Text = ""
    document_id: Text = ""


def _kind(value: object) -> str:
    return "text" if isinstance(value, str) else "passage"


Passages = list[
    Annotated[Annotated[Words, Tag("text")] | Annotated[GivenPassage, Tag("passage")], Discriminator(_kind)]
]


class Written(Given):
    """In which form an answer is written."""

    format: Annotated[
        str, AfterValidator(_form), Field(description=f"one of {', '.join(FORMATS)}", examples=["json"])
    ] = "json"
    offsets: Annotated[Unit, Field(description="what places in JSON count")] = Unit.CODE_POINTS


class Narrowed(Given):
    """A collection, or some of its documents."""

    collection: Name | None = Field(None, description="none: the server's own, PROPCITE_COLLECTION")
    documents: list[Text] = Field([], max_length=100, description="only these, by id, source or file name")
    where: list[Text] = Field(
        [], max_length=20, description="only those of which each holds", examples=[["kind=pdf and date>=2024-05"]]
    )


class CiteRequest(Written):
    """A text to cite over passages, over a collection, or over the passages first and the collection for the rest."""

    answer: Words = Field(examples=["The barrier has fourteen steel gates."])
    passages: Passages = Field(
        [],
        max_length=1000,
        description="what the answer was written from; an empty list says that this was nothing",
        examples=[[{"id": "a", "text": "Fourteen steel gates close the barrier."}]],
    )
    collection: Name | None = Field(None, description="none, and no passages: the server's own")
    question: Text = ""
    keep: bool = Field(False, description="keep the answer in the library; it needs a collection")


class RepairRequest(Given):
    """A text whose own [n] count these passages from 1."""

    answer: Words = Field(examples=["The barrier has fourteen gates [2]."])
    passages: Passages = Field(min_length=1, max_length=1000)
    collection: Name | None = Field(None, description="looked into for what no passage supports")
    question: Text = ""


class AskRequest(Narrowed, Written):
    question: Words = Field(max_length=MOST_ASKED, examples=["How many gates has the barrier?"])
    stream: bool = Field(False, description="server-sent events while the answer is written")
    after: Text = Field(
        "", max_length=100, description="the answer, by its id, that the question goes on from", examples=[""]
    )


class FeedbackRequest(Given):
    """What somebody says of a citation, or of a fact that has none."""

    fact: Text | int = Field(description="the proposition's id, or its number among the facts, from 1", examples=[1])
    opinion: Opinion = Field(examples=["right"])
    citation: Text | int = Field("", description="the citation's id or marker, where the fact has several")
    words: Text = Field("", max_length=MOST_ASKED, description="of a source that supports the fact better")
    note: Text = Field("", max_length=MOST_ASKED)
    by: Text = Field("", max_length=200, description="who says so; the key's name otherwise")


class ExplainRequest(Given):
    """A fact and one of its citations, and what it is compared with."""

    fact: Text = Field("1", max_length=MOST_ASKED, description="its number among the facts, from 1, or its id")
    citation: Text = Field("", max_length=MOST_ASKED, description="its marker or id; none: the first, or the near miss")
    granularity: Granularity | None = Field(None, description="none: as the answer was cited")
    alignment: AlignmentName | None = Field(
        None, description=f"which words count, like {FORMS}; none: as the answer was cited"
    )


class EvidenceRequest(Given):
    """A fact, and how finely what comes near it is ranked."""

    fact: Text = Field("1", max_length=MOST_ASKED, description="its number among the facts, from 1, or its id")
    granularity: Granularity = Granularity.SENTENCE
    k: int = Field(8, ge=1, le=100)


class Alternatives(BaseModel):
    evidence: list[AlternativeJson]


class SearchRequest(Narrowed):
    query: Words = Field(max_length=MOST_ASKED, examples=["cost of the barrier"])
    granularity: Granularity = Granularity.PASSAGE
    k: int = Field(10, ge=1, le=200)
    alignment: AlignmentName | None = Field(
        None, description=f"which tokens are compared, like {FORMS}; none: the collection's own"
    )


class CollectionRequest(Given):
    name: Name


class Found(BaseModel):
    """Hits, the best first, and how long each stage took."""

    hits: list[dict[str, Any]]
    notes: list[str] = Field(
        [], description="what else a reader must know, as where the model has no marker for these units"
    )
    timings_ms: dict[str, float]


class CollectionShape(BaseModel):
    name: str
    num_documents: int
    num_passages: int
    created_at: datetime
    alignment: str = Field("", description="its own; empty: as the settings say")
    owner: str = Field("", description="whose it is; empty: nobody's")


class Collections(BaseModel):
    collections: list[CollectionShape]


class Answers(BaseModel):
    answers: list[AnswerInfo]
    total: int


class RemovedAnswers(BaseModel):
    id: str
    removed: int = Field(description="the answer and those that followed it")


class Failures(BaseModel):
    collection: str
    failures: list[FailureInfo]


class Said(BaseModel):
    feedback: list[Feedback]


class Documents(BaseModel):
    collection: str
    documents: list[DocumentInfo]


class DescribeRequest(Given):
    """What is said of a document, above what its file says."""

    fields: dict[Text, Any] = Field({}, max_length=100, examples=[{"author": "Ana Rossi", "date": "2024-05-17"}])
    tags: list[Text] = Field([], max_length=100)
    without: list[Text] = Field([], max_length=100, description="tags that are taken off")


class Removed(BaseModel):
    id: str
    answers_citing: int = Field(description="kept answers that still quote it")


class HealthFinding(BaseModel):
    where: str
    what: str
    mend: str


class Health(BaseModel):
    healthy: bool
    findings: list[HealthFinding]


class JobShape(BaseModel):
    """Files on their way into a collection: `done` of `total` have an outcome."""

    id: str
    collection: str
    state: Literal["waiting", "reading", "done", "failed"]
    done: int
    total: int
    passages_per_second: float | None
    seconds_left: float | None
    outcomes: list[Outcome]
    reason: str


class Problem(BaseModel):
    """RFC 9457 problem details."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] = []
