"""What is kept: SQLAlchemy tables, their migrations, the Library over them, keys, runs and opinions."""

from propcite.app.library.store.answers import Lacking
from propcite.app.library.store.contents import Content
from propcite.app.library.store.describing import Change
from propcite.app.library.store.documents import document_id
from propcite.app.library.store.feedback import Feedback, Feedbacks, Opinion, Words
from propcite.app.library.store.infos import (
    AnswerInfo,
    CollectionInfo,
    DocumentInfo,
    DocumentState,
    FailureInfo,
    Order,
    Part,
    Turn,
    VersionInfo,
    Wanted,
)
from propcite.app.library.store.keys import Key, Keys, Scope
from propcite.app.library.store.library import Library
from propcite.app.library.store.runs import RunInfo, RunItem, Runs

__all__ = [
    "AnswerInfo",
    "Change",
    "CollectionInfo",
    "Content",
    "DocumentInfo",
    "DocumentState",
    "FailureInfo",
    "Feedback",
    "Feedbacks",
    "Key",
    "Keys",
    "Lacking",
    "Library",
    "Opinion",
    "Order",
    "Part",
    "RunInfo",
    "RunItem",
    "Runs",
    "Scope",
    "Turn",
    "VersionInfo",
    "Wanted",
    "Words",
    "document_id",
]
