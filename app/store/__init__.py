"""What is kept: SQLAlchemy tables, their migrations, the Library over them, keys, runs and opinions."""

from app.store.feedback import Feedback, Feedbacks, Opinion, Words
from app.store.keys import Key, Keys, Scope
from app.store.library import AnswerInfo, CollectionInfo, DocumentInfo, Library, document_id
from app.store.runs import RunInfo, RunItem, Runs

__all__ = [
    "AnswerInfo",
    "CollectionInfo",
    "DocumentInfo",
    "Feedback",
    "Feedbacks",
    "Key",
    "Keys",
    "Library",
    "Opinion",
    "RunInfo",
    "RunItem",
    "Runs",
    "Scope",
    "Words",
    "document_id",
]
