"""What is kept: SQLAlchemy tables, their migrations, the Library over them, keys, runs and opinions."""

from app.store.answers import Lacking
from app.store.contents import Content
from app.store.describing import Change
from app.store.documents import document_id
from app.store.feedback import Feedback, Feedbacks, Opinion, Words
from app.store.infos import (
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
from app.store.keys import Key, Keys, Scope
from app.store.library import Library
from app.store.runs import RunInfo, RunItem, Runs

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
