"""What all requests share: the models, loaded once; each collection's pipeline, opened once; the threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from app.bootstrap import Parts
from app.server.batching import CitingDesk
from app.server.errors import RequestError, not_ready
from app.server.metrics import Metrics
from app.server.work import Work
from app.store import CollectionInfo
from retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from app.pipeline import Pipeline
    from app.server.access import Rates
    from app.server.uploads import Uploads


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
        self.trouble = ""  # why the models could not be loaded
        self._loaded = False
        self._pipelines: dict[int, Pipeline] = {}
        self._lock = Lock()

    @cached_property
    def rates(self) -> Rates:
        from app.server.access import Rates

        return Rates(self.settings.serve_rate)

    @cached_property
    def uploads(self) -> Uploads:
        from app.server.uploads import Uploads

        return Uploads(self.parts)

    def load(self) -> None:
        """Load every model, so that the first request waits for none; what goes wrong is told by `readyz`."""
        try:
            self.parts.propcite.cite("It rained.", ["It rained in the town."])
            self._loaded = True
        except PropCiteError as error:
            self.trouble = str(error)
        except Exception as error:  # a thread's error would be heard by nobody
            self.trouble = f"the models could not be loaded ({type(error).__name__}: {error})"

    @property
    def is_ready(self) -> bool:
        return self._loaded

    def needed(self) -> None:
        """Refuse what needs models until they are there."""
        if self.trouble:
            raise RequestError(503, self.trouble)
        if not self._loaded:
            raise not_ready()

    def pipeline(self, name: str, documents: Sequence[str] = (), where: Sequence[str] = ()) -> Pipeline:
        """A collection's pipeline; its index stays open, and is read again only when it has changed."""
        whole = self._whole(name)
        if not documents and not where:
            return whole
        from app.narrowing import passages_within

        return replace(whole, within=passages_within(self.parts.library, whole.collection, documents, where))

    def _whole(self, name: str) -> Pipeline:
        library = self.parts.library
        id_ = library.collection_id(name)
        if id_ is None:
            from app.server.access import hidden

            raise hidden(name)
        with self._lock:
            if id_ not in self._pipelines:
                self._pipelines[id_] = self.parts.pipeline(library.collection(name))
            return self._pipelines[id_]

    def forget(self, collection: CollectionInfo) -> None:
        with self._lock:
            self._pipelines.pop(collection.id, None)

    def close(self) -> None:
        closing: list[Callable[[], None]] = [self.streams.close, self.work.close]
        if "uploads" in self.__dict__:
            closing.insert(0, self.uploads.close)
        for close in closing:
            close()
        self.parts.library.close()
