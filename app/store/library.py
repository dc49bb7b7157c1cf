"""The library: collections, their documents and passages, and the answers given over them."""

from __future__ import annotations

from app.store.answers import Answers
from app.store.catalogue import Catalogue
from app.store.collections import Collections
from app.store.contents import Contents
from app.store.documents import Documents
from app.store.failures import Failures
from app.store.history import History
from app.store.versions import Versions


class Library(Collections, Documents, Catalogue, Contents, Versions, Answers, History, Failures):
    """What is kept.  Every method is one transaction."""
