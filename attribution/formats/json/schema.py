"""Define the JSON schema of a cited answer, which `propcite schema` prints and a server has at /v1/schemas/answer.

All offsets are half-open and count Unicode code points from 0.  The docstrings of these types are the descriptions in
the published schema.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NotRequired

from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

SCHEMA: Literal["propcite/answer/6"] = "propcite/answer/6"
VERSION_1 = "propcite/answer/1"  # without ids, `shown`, boxes, `uncited_spans` and `index_version`
VERSION_2 = "propcite/answer/2"  # without `incomplete` and `notes`
VERSION_3 = "propcite/answer/3"  # with pages only, no named places such as slides and rows
VERSION_4 = "propcite/answer/4"  # without `after`, `understood` and `written_from`
VERSION_5 = "propcite/answer/5"  # without `answered` and `parts`


class VerdictJson(TypedDict):
    """What the judge said: `probability` is that of support."""

    label: Literal["supported", "partly", "unsupported", "contradicted", "unchecked"]
    probability: float
    reason: str


class BoxJson(TypedDict):
    """A line as it is seen: a rectangle in shares of its page, from the upper left corner."""

    page: int
    start: int
    end: int
    left: float
    top: float
    right: float
    bottom: float


class PartJson(TypedDict):
    """One of the things that the question asks.

    `start` and `end` are the sentence of the answer that comes nearest to answering it; null where there is none.
    """

    question: str
    answered: Literal["yes", "partly", "no"]
    probability: float
    start: int | None
    end: int | None


class CopyJson(TypedDict):
    """Words of a passage: `start` and `end` lie in the passage, the `document_` ones in its document.

    `places` are named where the document has no pages: `slide 3`, `Budget, row 14`.
    `link` opens the words in their document; it is there where a server has an address for browsers.
    """

    passage_id: str
    document_id: str
    title: str
    quote: str
    start: int
    end: int
    document_start: int
    document_end: int
    pages: list[int]
    places: list[str]
    link: NotRequired[str]


class EvidenceJson(CopyJson):
    """A sentence of a passage.

    `boxes` are the lines on which the quote is seen, where the document is one that is seen.
    `shown` is false for what was found elsewhere in the collection than in what the answer was written from.
    `copies` are other places of the same words; it is there where there are any.
    """

    boxes: list[BoxJson]
    score: float
    passage_score: float
    shown: bool
    copies: NotRequired[list[CopyJson]]


class CitationJson(EvidenceJson):
    """Accepted evidence; `number` is its marker in the answer, `id` the same for the same words in every answer."""

    id: str
    number: int
    verdict: VerdictJson


class PropositionJson(TypedDict):
    """A claim of the answer: `spans` are [start, end] in the answer, `nearest` the best evidence of an uncited one."""

    id: str
    text: str
    spans: list[tuple[int, int]]
    check_worthy: bool
    verdict: VerdictJson | None
    citations: list[CitationJson]
    nearest: EvidenceJson | None


class SentenceJson(TypedDict):
    """A sentence of the answer.  `citations` is the union over its propositions, one a passage, at most `most`."""

    text: str
    start: int
    end: int
    most: int
    citations: list[CitationJson]
    propositions: list[PropositionJson]


class SourceSentenceJson(TypedDict):
    start: int
    end: int
    is_heading: bool


class PageJson(TypedDict):
    number: int
    start: int
    end: int


class PlaceJson(TypedDict):
    """Where a person finds characters of a source without pages."""

    name: str
    start: int
    end: int


class PassageJson(TypedDict):
    """A passage that the answer cites or nearly cited; `start` is its place in the document."""

    id: str
    document_id: str
    title: str
    text: str
    start: int
    sentences: list[SourceSentenceJson]
    pages: list[PageJson]
    boxes: list[BoxJson]
    places: list[PlaceJson]


@with_config(ConfigDict(title="CitedAnswer"))
class AnswerJson(TypedDict):
    """An answer, its sentences, their propositions, the citations of each, and the propositions that stayed uncited.

    `incomplete` when its writing ended too soon; `notes` are what else a reader must know of how it was written.
    `after` is the id of the answer that it follows, `understood` the question as it was looked for where that is not
    `question` itself, `written_from` the ids of the passages that its writer was given; each may be empty.
    `answered` says whether the question is answered, `parts` the same per thing that it asks; null and empty where that
    is not known.
    """

    schema: Literal["propcite/answer/6"]
    id: str
    question: str
    understood: str
    after: str
    collection: str
    text: str
    answered: Literal["yes", "partly", "no"] | None
    parts: list[PartJson]
    abstained: bool
    incomplete: bool
    notes: list[str]
    coverage: float
    sentences: list[SentenceJson]
    uncited: list[str]
    uncited_spans: list[tuple[int, int]]
    passages: list[PassageJson]
    written_from: list[str]
    index_version: str
    models: dict[str, str]
    timings_ms: dict[str, float]


@cache
def answer_adapter() -> TypeAdapter[AnswerJson]:
    return TypeAdapter(AnswerJson)


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a cited answer.

    >>> json_schema()["title"]
    'CitedAnswer'
    """
    return schema_document(SCHEMA, answer_adapter())


def schema_document(name: str, adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """Return a self-contained JSON schema that names its dialect and its own id.

    >>> json_schema()["$id"]
    'urn:propcite:schema:answer:6'
    """
    identity = f"urn:propcite:schema:{name.removeprefix('propcite/').replace('/', ':')}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": identity, **adapter.json_schema()}
