"""The tables (SQLAlchemy 2 declarative).  A document's text is stored once: in its passages, which cover it exactly."""

from __future__ import annotations

from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


def now() -> datetime:
    return datetime.now(UTC)


def new_history() -> str:
    """Return a name of a collection's numbered changes, which no other collection has, nor an earlier copy of it."""
    return token_hex(8)


class Table(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMING)


class CollectionRow(Table):
    """`changes` counts the changes of documents, `passage_set` names the set of passages, null if it is not known.

    `index_versions` names the versions of the index's shards that belong to the documents, null if it is not known.
    """

    __tablename__ = "collections"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    alignment: Mapped[str] = mapped_column(String(100), server_default="")
    owner: Mapped[str] = mapped_column(String(200), server_default="", default="")
    changes: Mapped[int] = mapped_column(Integer, server_default="0", default=0)
    history: Mapped[str] = mapped_column(String(16), server_default="", default=new_history)
    passage_set: Mapped[str | None] = mapped_column(String(48))
    index_versions: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)


class DocumentRow(Table):
    """`changed` is the number of the change that wrote the row last."""

    __tablename__ = "documents"
    __table_args__ = (
        UniqueConstraint("collection_id", "source"),
        Index("ix_documents_changed", "collection_id", "changed"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collections.id", ondelete="CASCADE"), index=True)
    source: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    sha256: Mapped[str] = mapped_column(String(64))
    headings: Mapped[list[list[int]]] = mapped_column(JSON)
    pages: Mapped[list[list[int]]] = mapped_column(JSON)
    details: Mapped[dict[str, Any]] = mapped_column(JSON)
    described: Mapped[dict[str, Any]] = mapped_column(JSON, server_default="{}")
    signature: Mapped[bytes | None] = mapped_column(LargeBinary)
    read_with: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    changed: Mapped[int] = mapped_column(Integer, server_default="0", default=0)
    added_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)
    passages: Mapped[list[PassageRow]] = relationship(
        cascade="all, delete-orphan", passive_deletes=True, order_by="PassageRow.start"
    )


class PassageRow(Table):
    __tablename__ = "passages"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    document_id: Mapped[str] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), index=True)
    title: Mapped[str] = mapped_column(Text)
    start: Mapped[int] = mapped_column(Integer)
    text: Mapped[str] = mapped_column(Text)
    sentences: Mapped[list[list[int]]] = mapped_column(JSON)
    pages: Mapped[list[list[int]]] = mapped_column(JSON)
    boxes: Mapped[list[list[int]]] = mapped_column(JSON, server_default="[]")
    places: Mapped[list[tuple[str, int, int]]] = mapped_column(JSON, server_default="[]")


class FailureRow(Table):
    """A source that could not be read at the last attempt."""

    __tablename__ = "failures"
    __table_args__ = (UniqueConstraint("collection_id", "source"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collections.id", ondelete="CASCADE"))
    source: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text)
    failed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)


class VersionRow(Table):
    """A former document; `changed` is the number of the change that ended it.

    `document_id` is no foreign key: its source may have a new version, or none.
    """

    __tablename__ = "versions"
    __table_args__ = (Index("ix_versions_changed", "collection_id", "changed"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collections.id", ondelete="CASCADE"), index=True)
    document_id: Mapped[str] = mapped_column(String(32), index=True)
    source: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    sha256: Mapped[str] = mapped_column(String(64))
    details: Mapped[dict[str, Any]] = mapped_column(JSON)
    num_passages: Mapped[int] = mapped_column(Integer)
    num_characters: Mapped[int] = mapped_column(Integer)
    read_with: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    changed: Mapped[int] = mapped_column(Integer, server_default="0", default=0)
    added_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    ended_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)


class AnswerRow(Table):
    """An answer as it was given: `body` is the CitedAnswer's JSON, so its quotes outlive their documents.

    `after` is the id of the answer that it follows, no foreign key, since that may be removed.  `words` is the text
    for searching.  One that only drafts under review have is `of_draft`.
    """

    __tablename__ = "answers"
    __table_args__ = (Index("ix_answers_after", "after"), Index("ix_answers_asked_at", "asked_at"))

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collections.id", ondelete="CASCADE"), index=True)
    question: Mapped[str] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)
    after: Mapped[str] = mapped_column(String(32), server_default="")
    words: Mapped[str] = mapped_column(Text, server_default="")
    num_facts: Mapped[int] = mapped_column(Integer, server_default="0")
    num_cited: Mapped[int] = mapped_column(Integer, server_default="0")
    num_contradicted: Mapped[int] = mapped_column(Integer, server_default="0")
    of_draft: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())
    asked_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)
    citations: Mapped[list[CitationRow]] = relationship(cascade="all, delete-orphan", passive_deletes=True)


class CitationRow(Table):
    """A citation of an answer; `document_id` is no foreign key, since a document may be removed."""

    __tablename__ = "citations"
    __table_args__ = (Index("ix_citations_document_id", "document_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    answer_id: Mapped[str] = mapped_column(ForeignKey("answers.id", ondelete="CASCADE"), index=True)
    document_id: Mapped[str] = mapped_column(String(32))
    passage_id: Mapped[str] = mapped_column(String(64))
    start: Mapped[int] = mapped_column(Integer)
    end: Mapped[int] = mapped_column(Integer)
    quote: Mapped[str] = mapped_column(Text)
    score: Mapped[float] = mapped_column(Float)


class KeyRow(Table):
    """A key of the HTTP server; `collections` is null if it opens all, or those of its owner."""

    __tablename__ = "keys"

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    digest: Mapped[str] = mapped_column(String(64))
    scope: Mapped[str] = mapped_column(String(16))
    collections: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))
    owner: Mapped[str | None] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)
    revoked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


OVER_ALL = text("collection_id IS NULL")


class RoleRow(Table):
    """A person's role in a collection; `collection_id` is null if it is one in all."""

    __tablename__ = "roles"
    __table_args__ = (
        UniqueConstraint("person", "collection_id"),
        Index(
            "uq_roles_over_all",
            "person",
            unique=True,
            sqlite_where=OVER_ALL,
            postgresql_where=OVER_ALL,
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    person: Mapped[str] = mapped_column(String(200))
    collection_id: Mapped[int | None] = mapped_column(ForeignKey("collections.id", ondelete="CASCADE"), index=True)
    scope: Mapped[str] = mapped_column(String(16))
    granted_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)


class SignInRow(Table):
    """A sign-in on the page; `id` is a digest, which opens nothing."""

    __tablename__ = "sign_ins"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    person: Mapped[str] = mapped_column(String(200))
    last_used_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)
    ended: Mapped[bool] = mapped_column(Boolean)


class SecretRow(Table):
    """A secret that signs links to documents; the newest signs, older ones are still believed."""

    __tablename__ = "secrets"

    id: Mapped[int] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)


class AuditRow(Table):
    """An action of somebody.  `collection` and `subject` are no foreign keys: what they name may be removed."""

    __tablename__ = "audit"
    __table_args__ = (Index("ix_audit_at", "at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)
    who: Mapped[str] = mapped_column(String(200))
    via: Mapped[str] = mapped_column(String(16))
    action: Mapped[str] = mapped_column(String(32))
    collection: Mapped[str] = mapped_column(String(200))
    subject: Mapped[str] = mapped_column(String(200))


class RunRow(Table):
    """An evaluation run: what was measured, how, and with which models."""

    __tablename__ = "runs"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    name: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(String(16))
    settings: Mapped[dict[str, Any]] = mapped_column(JSON)
    about: Mapped[dict[str, Any]] = mapped_column(JSON)
    judge: Mapped[str] = mapped_column(Text)
    started_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class RunItemRow(Table):
    """The measures of one item in one way."""

    __tablename__ = "run_items"
    __table_args__ = (UniqueConstraint("run_id", "way", "key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    way: Mapped[str] = mapped_column(String(200))
    key: Mapped[str] = mapped_column(String(500))
    measures: Mapped[dict[str, float | None]] = mapped_column(JSON)
    output: Mapped[dict[str, Any]] = mapped_column(JSON)
    cost: Mapped[dict[str, float]] = mapped_column(JSON)


class FeedbackRow(Table):
    """Feedback of a person on a citation, or on a fact without one: then `citation` is empty."""

    __tablename__ = "feedback"
    __table_args__ = (UniqueConstraint("answer_id", "fact", "citation", "by"),)

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    answer_id: Mapped[str] = mapped_column(ForeignKey("answers.id", ondelete="CASCADE"))
    fact: Mapped[str] = mapped_column(String(16))
    citation: Mapped[str] = mapped_column(String(16))
    opinion: Mapped[str] = mapped_column(String(16))
    better: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    note: Mapped[str] = mapped_column(Text)
    by: Mapped[str] = mapped_column(String(200))
    given_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)


class OverviewRow(Table):
    """What was made of a collection, an answer or a document, whose id is `of`; it holds while `made_from` does."""

    __tablename__ = "overviews"
    __table_args__ = (UniqueConstraint("collection_id", "kind", "of"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collections.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(16))
    of: Mapped[str] = mapped_column(String(32))
    made_from: Mapped[str] = mapped_column(String(500))
    body: Mapped[str] = mapped_column(Text)
    made_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)


class NoteRow(Table):
    """A note; `pinned` and `cited` are the JSON of cited answers, empty where there are none.

    `answer_id` is no foreign key: notes outlive the answers that they were pinned from.
    """

    __tablename__ = "notes"

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collections.id", ondelete="CASCADE"), index=True)
    by: Mapped[str] = mapped_column(String(200))
    text: Mapped[str] = mapped_column(Text)
    pinned: Mapped[str] = mapped_column(Text)
    answer_id: Mapped[str] = mapped_column(String(32), default="", server_default="")
    cited: Mapped[str] = mapped_column(Text)
    version: Mapped[int] = mapped_column(Integer)
    made_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)
    changed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)


class ReviewRow(Table):
    """A draft under review: its file, how far it is cited, and the answer that holds its citations.

    `answer_id` is no foreign key and empty until something is cited; `seen_at` is when its citing last gave a sign.
    """

    __tablename__ = "reviews"
    __table_args__ = (Index("ix_reviews_answer_id", "answer_id"),)

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collections.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(Text)
    content: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    by: Mapped[str] = mapped_column(String(200))
    state: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(Text, default="")
    done: Mapped[int] = mapped_column(Integer, default=0)
    total: Mapped[int] = mapped_column(Integer)
    answer_id: Mapped[str] = mapped_column(String(32), default="")
    begun_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)
    seen_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)


class DecisionRow(Table):
    """What a reader decided on a fact of a draft; the newest of a fact counts, earlier ones stay."""

    __tablename__ = "decisions"

    id: Mapped[int] = mapped_column(primary_key=True)
    review_id: Mapped[str] = mapped_column(ForeignKey("reviews.id", ondelete="CASCADE"), index=True)
    fact: Mapped[str] = mapped_column(String(16))
    choice: Mapped[str] = mapped_column(String(16))
    words: Mapped[str] = mapped_column(Text)
    note: Mapped[str] = mapped_column(Text)
    by: Mapped[str] = mapped_column(String(200))
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)


ONE_READING = text("state = 'reading'")


class JobRow(Table):
    """A job that reads documents.  The database lets one job of a collection be read at a time.

    `fetched` says what became of its web addresses, null until they are fetched.  `seen_at` is when the worker that
    has the job last gave a sign, null if none has it.  `on_page` keeps it listed there after its end.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index(
            "uq_jobs_reading",
            "collection_id",
            unique=True,
            sqlite_where=ONE_READING,
            postgresql_where=ONE_READING,
        ),
    )

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    collection_id: Mapped[int] = mapped_column(ForeignKey("collections.id", ondelete="CASCADE"), index=True)
    files: Mapped[list[str]] = mapped_column(JSON)
    sources: Mapped[list[str]] = mapped_column(JSON)
    again: Mapped[bool] = mapped_column(Boolean)
    by: Mapped[str] = mapped_column(String(200))
    on_page: Mapped[bool] = mapped_column(Boolean)
    state: Mapped[str] = mapped_column(String(16), default="waiting")
    reason: Mapped[str] = mapped_column(Text, default="")
    cancelled: Mapped[bool] = mapped_column(Boolean, default=False)
    done: Mapped[int] = mapped_column(Integer, default=0)
    progress: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    fetched: Mapped[list[list[str]] | None] = mapped_column(JSON(none_as_null=True))
    worker: Mapped[str] = mapped_column(String(200), default="")
    seen_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    accepted_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), default=now)
    ended_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class JobOutcomeRow(Table):
    """What became of one source of a job, in the order in which they were read."""

    __tablename__ = "job_outcomes"

    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), index=True)
    body: Mapped[dict[str, Any]] = mapped_column(JSON)
