"""What the library tells of what it keeps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class DocumentState(StrEnum):
    """What may be asked of a document beside its words."""

    CITED = "cited"  # by a kept answer
    CHANGED = "changed"  # there was another version
    DESCRIBED = "described"  # people say something of it
    PARTLY = "partly"  # some of its pages hold no text


class Order(StrEnum):
    """By what documents are listed."""

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
    alignment: str = ""  # the collection's own, by its name
    owner: str = ""


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document as it stands; `details` is what its file says with what people say of it above that."""

    id: str
    title: str
    source: str
    sha256: str
    num_passages: int
    num_characters: int
    details: Mapping[str, Any]
    added_at: datetime


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """A document that was here: what took its place has the same source; nothing has where it was removed."""

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
class AnswerInfo:
    """A kept answer: `num_cited` of its `num_facts` have support."""

    id: str
    question: str
    collection: str
    asked_at: datetime
    num_facts: int = 0
    num_cited: int = 0
    num_contradicted: int = 0
    after: str = ""  # the answer that it follows


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation with its answer, in short; `understood` is the question as it stands alone."""

    id: str
    question: str
    understood: str
    text: str
    abstained: bool = False
    num_facts: int = 0
    num_cited: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which documents of a collection are listed, and how; empty means all."""

    words: str = ""  # of titles and sources
    kind: str = ""
    state: DocumentState | None = None
    ids: Collection[str] | None = None  # these alone, where they are given
    order: Order = Order.TITLE
    descending: bool = False
    first: int = 0
    limit: int = 25


@dataclass(frozen=True, slots=True)
class FailureInfo:
    """A source that could not be read when it was tried last, and why."""

    source: str
    reason: str
    failed_at: datetime


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """Some of many: those of one page, and how many there are in all."""

    items: Sequence[T]
    total: int
