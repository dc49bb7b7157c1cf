"""Shapes of requests and responses; `propcite.attribution.formats.json` has that of a cited answer."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag

from propcite.app.library.store import AnswerInfo, AuditEntry, DocumentInfo, FailureInfo, Feedback, Opinion
from propcite.app.setting_values import alignment_name
from propcite.app.storable_text import storable
from propcite.attribution.formats import FORMATS, Unit
from propcite.attribution.formats.json.hits import AlternativeJson, HitJson
from propcite.attribution.formats.json.schema import PassageJson
from propcite.retrieval.alignment import FORMS
from propcite.retrieval.text import Granularity
from propcite.retrieval.words.query import Way

MAX_TEXT = 4000  # characters of a question or query: each of its tokens is searched for


def clean_all(value: Any) -> Any:
    """Clean every text in a JSON value."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [clean_all(one) for one in value]
    return {storable(k): clean_all(v) for k, v in value.items()} if isinstance(value, dict) else value


def _check_name(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("a name needs visible characters")
    return text


def _check_words(text: str) -> str:
    if not text.strip():
        raise ValueError("it needs some words")
    return storable(text)


def _check_format(name: str) -> str:
    if name not in FORMATS:
        raise ValueError(f"no format {name!r}: give one of {', '.join(FORMATS)}")
    return name


Text = Annotated[str, AfterValidator(storable)]
NonBlankText = Annotated[str, AfterValidator(_check_words), Field(min_length=1)]
AlignmentName = Annotated[str, AfterValidator(alignment_name), Field(min_length=1)]
Name = Annotated[str, AfterValidator(_check_name), Field(min_length=1, max_length=200)]


class RequestBody(BaseModel):
    """Base of request bodies; an unknown field, which may be misspelt, is an error."""

    model_config = ConfigDict(extra="forbid")


class PassageInput(RequestBody):
    """A passage to cite from; without an id its number counts, from 1."""

    text: Text
    id: Text | int | None = None
    title: Text = ""
    document_id: Text = ""


def _passage_tag(value: object) -> str:
    return "text" if isinstance(value, str) else "passage"


Passages = list[
    Annotated[
        Annotated[NonBlankText, Tag("text")] | Annotated[PassageInput, Tag("passage")], Discriminator(_passage_tag)
    ]
]


class OffsetUnit(RequestBody):
    """The unit of the offsets in a response."""

    offsets: Annotated[
        Unit, Field(description="the unit that offsets count; default: the header PropCite-Offsets, else code-points")
    ] = Unit.CODE_POINTS


class AnswerFormat(OffsetUnit):
    """The format in which an answer is returned."""

    format: Annotated[
        str, AfterValidator(_check_format), Field(description=f"one of {', '.join(FORMATS)}", examples=["json"])
    ] = "json"


class DocumentSelection(RequestBody):
    """A collection, or some of its documents."""

    collection: Name | None = Field(None, description="default: the server's own, PROPCITE_COLLECTION")
    documents: list[Text] = Field([], max_length=100, description="only these, by id, source or file name")
    where: list[Text] = Field(
        [],
        max_length=20,
        description="only documents that meet all these conditions",
        examples=[["kind=pdf and date>=2024-05"]],
    )


class CiteRequest(AnswerFormat):
    """A text to cite over passages, over a collection, or over the passages first and the collection for the rest."""

    answer: NonBlankText = Field(examples=["The barrier has fourteen steel gates."])
    passages: Passages = Field(
        [],
        max_length=1000,
        description="what the answer was written from; an empty list says that it was written from nothing",
        examples=[[{"id": "a", "text": "Fourteen steel gates close the barrier."}]],
    )
    collection: Name | None = Field(None, description="default without passages: the server's own")
    question: Text = ""
    keep: bool = Field(False, description="store the answer in the library; this needs a collection")
    stream: bool = Field(False, description="send server-sent events while the text is cited")


class JudgeCase(RequestBody):
    """A claim, and the quotes that are read together as its evidence; `context` is text around the first."""

    claim: NonBlankText = Field(max_length=MAX_TEXT, examples=["The barrier has fourteen gates."])
    evidence: list[Text] = Field(min_length=1, max_length=20, examples=[["Fourteen steel gates close the barrier."]])
    context: Text = ""


class JudgeRequest(RequestBody):
    cases: list[JudgeCase] = Field(min_length=1, max_length=200)


class RepairRequest(OffsetUnit):
    """A text whose own markers [n] refer to these passages, counted from 1."""

    answer: NonBlankText = Field(examples=["The barrier has fourteen gates [2]."])
    passages: Passages = Field(min_length=1, max_length=1000)
    collection: Name | None = Field(None, description="searched for facts that no passage supports")
    question: Text = ""


class AskRequest(DocumentSelection, AnswerFormat):
    question: NonBlankText = Field(max_length=MAX_TEXT, examples=["How many gates has the barrier?"])
    stream: bool = Field(False, description="send server-sent events while the answer is written")
    after: Text = Field("", max_length=100, description="the id of the answer that the question follows", examples=[""])


class CompareRequest(OffsetUnit):
    """Two selections of documents of a collection, and a question for both; without one they are compared whole."""

    collection: Name | None = Field(None, description="default: the server's own, PROPCITE_COLLECTION")
    question: Text = Field(
        "",
        max_length=MAX_TEXT,
        description="without one, the sentences of both sides are compared",
        examples=["When must receipts be handed in?"],
    )
    left: list[Text] = Field(
        min_length=1, max_length=100, description="documents by id, source or file name", examples=[["policy_2023.pdf"]]
    )
    right: list[Text] = Field(
        min_length=1, max_length=100, description="documents of the other side", examples=[["policy_2025.pdf"]]
    )


class FeedbackRequest(RequestBody):
    """Feedback on a citation, or on a fact without one."""

    fact: Text | int = Field(description="the proposition's id, or its number among the facts, from 1", examples=[1])
    opinion: Opinion = Field(examples=["right"])
    citation: Text | int = Field("", description="the citation's id or marker, if the fact has several")
    words: Text = Field("", max_length=MAX_TEXT, description="words of a source that support the fact better")
    note: Text = Field("", max_length=MAX_TEXT)
    by: Text = Field("", max_length=200, description="who gives the feedback; default: the key's owner")


class ExplainRequest(OffsetUnit):
    """A fact and one of its citations, and how their words are compared."""

    fact: Text = Field("1", max_length=MAX_TEXT, description="its number among the facts, from 1, or its id")
    citation: Text = Field(
        "", max_length=MAX_TEXT, description="its marker or id; default: the first, or the nearest evidence"
    )
    granularity: Granularity | None = Field(None, description="default: as the answer was cited")
    alignment: AlignmentName | None = Field(
        None, description=f"which words count, as {FORMS}; default: as the answer was cited"
    )


class EvidenceRequest(OffsetUnit):
    """A fact, and the granularity at which evidence near it is ranked."""

    fact: Text = Field("1", max_length=MAX_TEXT, description="its number among the facts, from 1, or its id")
    granularity: Granularity = Granularity.SENTENCE
    k: int = Field(8, ge=1, le=100)


class AlternativeList(BaseModel):
    evidence: list[AlternativeJson]


class SearchRequest(DocumentSelection, OffsetUnit):
    query: NonBlankText = Field(
        max_length=MAX_TEXT,
        examples=["cost of the barrier"],
        description="every hit has the words that stand in double quotes, in their order",
    )
    granularity: Granularity = Granularity.PASSAGE
    k: int = Field(10, ge=1, le=200)
    alignment: AlignmentName | None = Field(
        None, description=f"which tokens are compared, as {FORMS}; default: the collection's own"
    )
    passages: bool = Field(False, description="return the passages of the hits and of their copies too")
    way: Way | None = Field(
        None, description="what ranks: both, vectors, or words alone; default: the setting search_way"
    )


class CollectionRequest(RequestBody):
    name: Name


class SearchResponse(BaseModel):
    """Hits, the best first, and the time of each step."""

    hits: list[HitJson]
    passages: list[PassageJson] = Field([], description="of the hits, each once, if `passages` asks for them")
    notes: list[str] = Field([], description="limitations, such as a model without a marker for this granularity")
    timings_ms: dict[str, float]


class AnswerList(BaseModel):
    answers: list[AnswerInfo]
    total: int


class AuditList(BaseModel):
    """Entries of the audit log, with names and ids alone; `total` is the number of all."""

    entries: list[AuditEntry]
    total: int


class FailureList(BaseModel):
    collection: str
    failures: list[FailureInfo]


class FeedbackList(BaseModel):
    feedback: list[Feedback]


class DocumentList(BaseModel):
    collection: str
    documents: list[DocumentInfo]


class DescribeRequest(RequestBody):
    """Details of a document that override those of its file."""

    fields: dict[Text, Any] = Field({}, max_length=100, examples=[{"author": "Ana Rossi", "date": "2024-05-17"}])
    tags: list[Text] = Field([], max_length=100)
    without: list[Text] = Field([], max_length=100, description="tags to remove")


class HealthFinding(BaseModel):
    where: str
    what: str
    mend: str


class Health(BaseModel):
    healthy: bool
    findings: list[HealthFinding]
