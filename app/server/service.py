"""What all requests share: the models, loaded once; each collection's pipeline, opened once; the threads."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Event, Lock
from typing import TYPE_CHECKING

from propcite.app.errors import AppError
from propcite.app.ingest.uploads import Uploads
from propcite.app.library.store import CollectionInfo
from propcite.app.parts import Parts
from propcite.app.server.batching import CitingDesk
from propcite.app.server.errors import RequestError, hidden, not_ready
from propcite.app.server.metrics import Metrics
from propcite.app.server.rates import Rates
from propcite.app.server.work import Work
from propcite.app.viewing import Viewer
from propcite.retrieval.errors import PropCiteError, RetrievalError
from propcite.retrieval.text import Granularity

if TYPE_CHECKING:
    from propcite.app.answering.pipeline import Pipeline

log = logging.getLogger("propcite.server")
AGAIN_S = 10.0  # between two tries to load what could not be loaded


class Service:
    """One process's parts.  `asks_for_keys` is false only where nobody but this machine can call."""

    def __init__(self, parts: Parts, *, asks_for_keys: bool) -> None:
        settings = parts.settings
        self.parts, self.settings, self.asks_for_keys = parts, settings, asks_for_keys
        self.metrics = Metrics()
        self.work = Work(settings.serve_threads, settings.serve_waiting)
        self.streams = Work(settings.serve_streams, settings.serve_waiting, "propcite-streams")
        self.desk = CitingDesk(lambda: parts.propcite, self.work, self.metrics.batches.observe)
        self.metrics.watch("work", self.work)
        self.metrics.watch("streams", self.streams)
        self.metrics.line("cite", lambda: self.desk.waiting)
        self.trouble = ""  # why the models could not be loaded
        self.rates = Rates(settings.serve_rate)
        self.uploads = Uploads(parts)
        self.viewer = Viewer(parts)
        self._loaded, self._closing = False, Event()
        self._pipelines: dict[int, Pipeline] = {}
        self._lock = Lock()

    def load(self) -> None:
        """Load every model, so that the first request waits for none.  What goes wrong is told, and tried again."""
        while not self._closing.is_set():
            try:
                self.parts.propcite.cite("It rained.", ["It rained in the town."])
                self._search_once()
                self.uploads.resume()
                self.trouble, self._loaded = "", True
                return
            except PropCiteError as error:
                self.trouble = str(error)
            except Exception as error:  # a thread's error would be heard by nobody
                self.trouble = f"the models could not be loaded ({type(error).__name__}: {error})"
            log.warning("not ready: %s", self.trouble)
            self._closing.wait(AGAIN_S)

    def _search_once(self) -> None:
        """The first search of a process reads an index and loads what was compiled for it: here nobody waits for it."""
        known = [c.name for c in self.parts.library.collections() if c.num_passages]
        first = self.settings.collection if self.settings.collection in known else next(iter(known), None)
        with suppress(RetrievalError, AppError):  # told to who asks that collection: the others can be asked
            if first is not None:
                self.pipeline(first).search("a first search", Granularity.SENTENCE, 1)

    def needed(self) -> None:
        """Refuse what needs models until they are there."""
        if not self._loaded:
            raise RequestError(503, self.trouble, Retry_After="10") if self.trouble else not_ready()

    def pipeline(self, name: str, documents: Sequence[str] = (), where: Sequence[str] = ()) -> Pipeline:
        """A collection's pipeline; its index stays open, and is read again only when it has changed."""
        whole = self._whole(name)
        if not documents and not where:
            return whole
        from propcite.app.library.narrowing import passages_within

        return replace(whole, within=passages_within(self.parts.library, whole.collection, documents, where))

    def _whole(self, name: str) -> Pipeline:
        library = self.parts.library
        id_ = library.collection_id(name)
        if id_ is None:
            raise hidden(name)
        with self._lock:
            if id_ not in self._pipelines:
                self._pipelines[id_] = self.parts.pipeline(library.collection(name))
            return self._pipelines[id_]

    def forget(self, collection: CollectionInfo) -> None:
        with self._lock:
            self._pipelines.pop(collection.id, None)

    def close(self) -> None:
        self._closing.set()
        for part in (self.uploads, self.streams, self.work, self.viewer.pages):
            part.close()
        self.parts.library.close()
