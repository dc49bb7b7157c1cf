"""What is kept: SQLAlchemy tables, their migrations, the Library over them, keys and evaluation runs."""

from app.store.keys import Key, Keys, Scope
from app.store.library import AnswerInfo, CollectionInfo, DocumentInfo, Library, document_id
from app.store.runs import RunInfo, RunItem, Runs

__all__ = [
    "AnswerInfo",
    "CollectionInfo",
    "DocumentInfo",
    "Key",
    "Keys",
    "Library",
    "RunInfo",
    "RunItem",
    "Runs",
    "Scope",
    "document_id",
]
