"""The database: SQLAlchemy tables and their migrations, the Library over them, keys, runs and feedback."""

from __future__ import annotations

from propcite.app.library.store.answers import AnswerProblem, Answers
from propcite.app.library.store.catalogue import Catalogue
from propcite.app.library.store.collections import Collections
from propcite.app.library.store.database import Database
from propcite.app.library.store.details import DetailsChange
from propcite.app.library.store.documents import Documents, document_id
from propcite.app.library.store.feedback import Feedback, FeedbackStore, Opinion, QuotedSpan
from propcite.app.library.store.history import History
from propcite.app.library.store.keys import Key, Keys, Scope
from propcite.app.library.store.records import (
    AnswerInfo,
    CollectionInfo,
    DocumentInfo,
    DocumentQuery,
    DocumentState,
    FailureInfo,
    FormerReading,
    ResultPage,
    SortKey,
    Turn,
    VersionInfo,
)
from propcite.app.library.store.runs import RunInfo, RunItem, Runs
from propcite.app.library.store.sources import SourceFile, Sources
from propcite.app.library.store.versions import Versions

__all__ = [
    "AnswerInfo",
    "AnswerProblem",
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
    "Key",
    "Keys",
    "Library",
    "Opinion",
    "QuotedSpan",
    "ResultPage",
    "RunInfo",
    "RunItem",
    "Runs",
    "Scope",
    "SortKey",
    "SourceFile",
    "Turn",
    "VersionInfo",
    "document_id",
]


class Library(Collections, Documents, Catalogue, Sources, Versions, Answers, History):
    """Collections, their documents and passages, and the answers given over them.  Every method is one transaction."""
