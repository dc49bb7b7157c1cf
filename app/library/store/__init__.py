"""The database: SQLAlchemy tables, their migrations, the Library over them; keys, people, audit log, runs, feedback."""

from __future__ import annotations

from propcite.app.library.jobs import Job
from propcite.app.library.records import (
    AnswerInfo,
    CollectionInfo,
    DocumentInfo,
    DocumentQuery,
    DocumentState,
    FailureInfo,
    Feedback,
    FormerReading,
    Note,
    Opinion,
    QuotedSpan,
    ResultPage,
    ReviewInfo,
    ReviewState,
    SortKey,
    Turn,
    VersionInfo,
)
from propcite.app.library.store.answers import AnswerProblem, Answers
from propcite.app.library.store.catalogue import Catalogue
from propcite.app.library.store.collections import Collections
from propcite.app.library.store.database import Database
from propcite.app.library.store.details import DetailsChange
from propcite.app.library.store.documents import Documents, document_id
from propcite.app.library.store.feedback import FeedbackStore
from propcite.app.library.store.fields import DocumentFields
from propcite.app.library.store.history import History
from propcite.app.library.store.jobs import Jobs
from propcite.app.library.store.keys import Key, Keys
from propcite.app.library.store.overviews import OverviewKind, Overviews
from propcite.app.library.store.people.audit import Action, AuditEntry, AuditLog, Via
from propcite.app.library.store.people.rights import Rights, Scope
from propcite.app.library.store.people.roles import People, Role, person_name
from propcite.app.library.store.people.secrets import LinkSecrets
from propcite.app.library.store.people.sign_ins import SignIns, SignInState
from propcite.app.library.store.runs import RunInfo, RunItem, Runs
from propcite.app.library.store.sources import SourceFile, Sources
from propcite.app.library.store.versions import Versions
from propcite.app.library.store.writing.notes import ChangedNoteError, Notes
from propcite.app.library.store.writing.reviews import Reviews

__all__ = [
    "Action",
    "AnswerInfo",
    "AnswerProblem",
    "AuditEntry",
    "AuditLog",
    "ChangedNoteError",
    "CollectionInfo",
    "Database",
    "DetailsChange",
    "DocumentInfo",
    "DocumentQuery",
    "DocumentState",
    "FailureInfo",
    "Feedback",
    "FeedbackStore",
    "FormerReading",
    "Job",
    "Jobs",
    "Key",
    "Keys",
    "Library",
    "LinkSecrets",
    "Note",
    "Notes",
    "Opinion",
    "OverviewKind",
    "Overviews",
    "People",
    "QuotedSpan",
    "ResultPage",
    "ReviewInfo",
    "ReviewState",
    "Reviews",
    "Rights",
    "Role",
    "RunInfo",
    "RunItem",
    "Runs",
    "Scope",
    "SignInState",
    "SignIns",
    "SortKey",
    "SourceFile",
    "Turn",
    "VersionInfo",
    "Via",
    "document_id",
    "person_name",
]


class Library(Collections, Documents, DocumentFields, Catalogue, Sources, Versions, Answers, History):
    """Collections, their documents and passages, and the answers given over them.  Every method is one transaction."""
