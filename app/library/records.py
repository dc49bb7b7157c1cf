"""Records that the library returns, and queries that it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.fidelity import WHOLE, Fidelity

T = TypeVar("T")


class DocumentState(StrEnum):
    """States by which documents are filtered."""

    CITED = "cited"  # by a stored answer
    CHANGED = "changed"  # there was an earlier version
    DESCRIBED = "described"  # users set details
    PARTLY = "partly"  # something is missing from its text, or was recognised in pictures


class SortKey(StrEnum):
    """What documents are sorted by."""

    TITLE = "title"
    SOURCE = "source"
    ADDED = "added"
    PASSAGES = "passages"


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    id: int
    name: str
    num_documents: int
    num_passages: int
    created_at: datetime
    alignment: str = ""  # the name of the collection's own alignment
    owner: str = ""


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document without its text; `details` are the file's, overridden by those that users set.

    `read_with` is the version of the reader that read it.
    """

    id: str
    title: str
    source: str
    sha256: str
    num_passages: int
    num_characters: int
    details: Mapping[str, Any]
    added_at: datetime
    fidelity: Fidelity = WHOLE
    read_with: int = 1


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """A former document: `replaced` by a new version of the same source, or else removed."""

    document_id: str
    title: str
    source: str
    sha256: str
    num_passages: int
    num_characters: int
    details: Mapping[str, Any]
    added_at: datetime
    ended_at: datetime
    replaced: bool


@dataclass(frozen=True, slots=True)
class FormerReading:
    """What a former document was read from, and with which version of its kind's reader."""

    source: str
    sha256: str
    document_id: str
    read_with: int
    kind: str


@dataclass(frozen=True, slots=True)
class AnswerInfo:
    """A stored answer in short: `num_cited` of its `num_facts` have support."""

    id: str
    question: str
    collection: str
    asked_at: datetime
    num_facts: int = 0
    num_cited: int = 0
    num_contradicted: int = 0
    after: str = ""  # the id of the answer that it follows


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation with its answer; `understood` is the question rewritten to stand alone."""

    id: str
    question: str
    understood: str
    text: str
    abstained: bool = False
    num_facts: int = 0
    num_cited: int = 0


@dataclass(frozen=True, slots=True)
class DocumentQuery:
    """Filters, order and page of a list of documents; empty filters match all."""

    words: str = ""  # in title or source
    kind: str = ""
    state: DocumentState | None = None
    ids: Collection[str] | None = None  # only these documents; None for all
    order: SortKey = SortKey.TITLE
    descending: bool = False
    first: int = 0
    limit: int = 25


@dataclass(frozen=True, slots=True)
class FailureInfo:
    """A source that could not be read at the last attempt, and why."""

    source: str
    reason: str
    failed_at: datetime


class Opinion(StrEnum):
    """Opinions on a citation, or on a fact without one."""

    RIGHT = "right"  # the cited words support the fact; for a fact without citation: nothing does
    WRONG = "wrong"  # they do not; for a fact without citation: something does
    TOO_BROAD = "too-broad"  # they do, with much else around
    BETTER = "better"  # other words support it better, or at all


@dataclass(frozen=True, slots=True)
class QuotedSpan:
    """A span of a passage, stored with its words, which outlive the document."""

    passage_id: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """One opinion; `fact` and `citation` are ids, `citation` is empty for a fact without one."""

    answer_id: str
    fact: str
    citation: str
    opinion: Opinion
    better: QuotedSpan | None = None
    note: str = ""
    by: str = ""
    id: str = ""
    given_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ResultPage(Generic[T]):
    """One page of results, and the number of all results."""

    items: Sequence[T]
    total: int


class ReviewState(StrEnum):
    """How far a draft is."""

    CITING = "citing"
    DONE = "done"
    CANCELLED = "cancelled"  # what was cited until then is kept
    FAILED = "failed"
    INTERRUPTED = "interrupted"  # the process that cited it ended


@dataclass(frozen=True, slots=True)
class ReviewInfo:
    """A draft without its file: `done` of its `total` characters are cited, `answer_id` holds the citations."""

    id: str
    collection: str
    name: str
    by: str
    state: ReviewState
    reason: str
    done: int
    total: int
    answer_id: str
    begun_at: datetime
    num_facts: int = 0
    num_decided: int = 0

    @property
    def share(self) -> float:
        return min(1.0, self.done / self.total) if self.total else 1.0


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody pinned, and wrote beside it.  `cited` is the text with its citations; None once it was changed.

    `version` counts its changes.  `answer` is the id of the answer that it was pinned from; empty where nothing is
    pinned, and where that is not known.
    """

    id: str
    collection: str
    by: str
    text: str
    pinned: CitedAnswer | None
    cited: CitedAnswer | None
    version: int
    made_at: datetime
    changed_at: datetime
    answer: str = ""
