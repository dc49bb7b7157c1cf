"""The library: collections, their documents and passages, and the answers given over them."""

from __future__ import annotations

from propcite.app.library.store.answers import Answers
from propcite.app.library.store.catalogue import Catalogue
from propcite.app.library.store.collections import Collections
from propcite.app.library.store.contents import Contents
from propcite.app.library.store.documents import Documents
from propcite.app.library.store.failures import Failures
from propcite.app.library.store.history import History
from propcite.app.library.store.versions import Versions


class Library(Collections, Documents, Catalogue, Contents, Versions, Answers, History, Failures):
    """What is kept.  Every method is one transaction."""
