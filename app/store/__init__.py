"""What is kept: SQLAlchemy tables, their migrations, and the Library over them."""

from app.store.keys import Key, Keys, Scope
from app.store.library import AnswerInfo, CollectionInfo, DocumentInfo, Library, document_id

__all__ = ["AnswerInfo", "CollectionInfo", "DocumentInfo", "Key", "Keys", "Library", "Scope", "document_id"]
