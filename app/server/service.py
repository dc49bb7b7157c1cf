"""What all requests share: models that are loaded once, pipelines of collections that are opened once, threads."""

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
from propcite.app.reviewing.citing import Reviewing
from propcite.app.server.citing_queue import CitingQueue, Limits
from propcite.app.server.errors import RequestError, no_collection, not_ready
from propcite.app.server.limits import RateLimiter
from propcite.app.server.links import Links
from propcite.app.server.metrics import Metrics
from propcite.app.turns.costs import Costs
from propcite.app.turns.slots import Slots
from propcite.app.turns.turns import Turns
from propcite.app.turns.workers import Workers
from propcite.app.viewing.viewer import Viewer
from propcite.retrieval.errors import PropCiteError, RetrievalError
from propcite.retrieval.text import Granularity

if TYPE_CHECKING:
    from propcite.app.answering.pipeline import Pipeline
    from propcite.attribution.propcite import PropCite

log = logging.getLogger("propcite.server")
RETRY_S = 10.0  # between two attempts to load the models


class Service:
    """The parts of one server.  `requires_keys` is false only if no other machine can reach it."""

    def __init__(self, parts: Parts, *, requires_keys: bool) -> None:
        settings = parts.settings
        self.parts, self.settings, self.requires_keys = parts, settings, requires_keys
        self.metrics = Metrics()
        wait, costs = settings.serve_wait_seconds, Costs()
        turns = Turns(settings.serve_threads, wait)
        self.workers = Workers(turns, costs, settings.serve_seconds, self.metrics.observer("work", turns))
        views = Turns(1, wait)
        self.views = Workers(views, costs, settings.serve_seconds, self.metrics.observer("views", views))
        self.answers = self.slots("answers", costs)
        self.chats = self.slots("chats", costs)
        self.metrics.watch_verdicts(parts.verdicts)
        self.limits = Limits(settings.serve_characters, settings.serve_sentences)
        self.citing_queue = CitingQueue(lambda: self.propcite, self.workers, self.limits, self.metrics.batches.observe)
        self.load_error = ""  # why the models could not be loaded
        self.rate_limiter = RateLimiter(settings.serve_rate)
        self.uploads = Uploads(parts)
        self.reviewing = Reviewing(parts)
        self.viewer = Viewer(parts)
        self.links = Links(parts, expire=requires_keys)
        self._loaded, self._closing = False, Event()
        self._pipelines: dict[int, Pipeline] = {}
        self._lock = Lock()

    @property
    def propcite(self) -> PropCite:
        return self.parts.shared_propcite

    def slots(self, name: str, costs: Costs) -> Slots:
        """Return the slots of one kind of streams, of which as many are written at once as the settings say."""
        turns = Turns(self.settings.serve_streams, self.settings.serve_wait_seconds, pauses=False)
        return Slots(turns, costs, self.metrics.observer(name, turns))

    def load(self, *, uploads: bool = True) -> None:
        """Load every model, so that the first request waits for none; retry after an error.

        With `uploads`, this server works on the queue of uploads from then on.
        """
        while not self._closing.is_set():
            try:
                self.propcite.cite("It rained.", ["It rained in the town."])
                self._search_once()
                if uploads:
                    self.uploads.start()
                self.load_error, self._loaded = "", True
                return
            except PropCiteError as error:
                self.load_error = str(error)
            except Exception as error:  # in a thread it would go unnoticed
                self.load_error = f"the models could not be loaded ({type(error).__name__}: {error})"
            log.warning("not ready: %s", self.load_error)
            self._closing.wait(RETRY_S)

    def _search_once(self) -> None:
        """Run a first search, which reads an index and loads compiled code, before a request waits for it."""
        names = [c.name for c in self.parts.library.collections() if c.num_passages]
        name = self.settings.collection if self.settings.collection in names else next(iter(names), None)
        with suppress(RetrievalError, AppError):  # a broken index affects only requests to its collection
            if name is not None:
                self.pipeline(name).search("a first search", Granularity.SENTENCE, 1)

    @property
    def is_loaded(self) -> bool:
        return self._loaded

    def require_models(self) -> None:
        """Refuse a request that needs models until they are loaded."""
        if not self._loaded:
            raise RequestError(503, self.load_error, Retry_After="10") if self.load_error else not_ready()

    def pipeline(self, name: str, documents: Sequence[str] = (), where: Sequence[str] = ()) -> Pipeline:
        """Return a collection's pipeline; its index stays open and is read again only if it changed."""
        whole = self._whole_collection(name)
        if not documents and not where:
            return whole
        from propcite.app.library.selection import selected_passages

        return replace(whole, within=selected_passages(self.parts.library, whole.collection, documents, where))

    def _whole_collection(self, name: str) -> Pipeline:
        library = self.parts.library
        id_ = library.collection_id(name)
        if id_ is None:
            raise no_collection(name)
        with self._lock:
            if id_ not in self._pipelines:
                self._pipelines[id_] = replace(self.parts.pipeline(library.collection(name)), propcite=self.propcite)
            return self._pipelines[id_]

    def forget_collection(self, collection: CollectionInfo) -> None:
        with self._lock:
            self._pipelines.pop(collection.id, None)

    def close(self) -> None:
        self._closing.set()
        for part in (self.uploads, self.workers, self.views, self.viewer.page_images):
            part.close()
        self.parts.library.close()
