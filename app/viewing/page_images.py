"""Documents are drawn and rendered in another process, so that a damaged or hostile file does no harm."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore, Lock

from propcite.app.errors import AppError, BusyError, NotFoundError, ReadError
from propcite.app.ingest.readers.kinds import PAGED
from propcite.app.library.originals import Original
from propcite.app.processes import HelperProcess, ProcessEndedError
from propcite.app.viewing.drawing import DrawingFailure, PageRequest
from propcite.app.viewing.rendering import RenderRequest

MIN_WIDTH, DEFAULT_WIDTH, MAX_WIDTH = 200, 1000, 2000
SECONDS, RENDER_S, MEGABYTES = 20.0, 5.0, 2048
MAX_WAITING = 12  # requests at once, of which one is worked on: each holds a thread
CACHE_SIZE = 64  # images of about 200 KB each


class PageImages:
    """Draws one page or renders one document at a time, and caches the latest pages."""

    def __init__(self) -> None:
        self._process = HelperProcess("propcite.app.viewing.process", str(MEGABYTES))
        self._lock, self._places = Lock(), BoundedSemaphore(MAX_WAITING)
        self._cache: OrderedDict[tuple[Original, int, int], bytes] = OrderedDict()

    def jpeg(self, original: Original, page: int, width: int = DEFAULT_WIDTH) -> bytes:
        if original.kind not in PAGED:
            raise ReadError(f"{original.name} is not a PDF or a picture, so it has no pages to draw: read it as text")
        if not MIN_WIDTH <= width <= MAX_WIDTH:
            raise AppError(f"the width of a page is {MIN_WIDTH} to {MAX_WIDTH} pixels, not {width}: give another")
        key = original, page, width
        with self._turn():
            if key not in self._cache:
                self._cache[key] = self._draw(*key)
                while len(self._cache) > CACHE_SIZE:
                    self._cache.popitem(last=False)
            self._cache.move_to_end(key)
            return self._cache[key]

    def html(self, request: RenderRequest) -> str:
        """Return a document as HTML; empty if it cannot be rendered in time."""
        with self._turn():
            try:
                return str(self._process.request(request, RENDER_S))
            except ProcessEndedError:
                return ""

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for the process; BusyError if too many do."""
        if not self._places.acquire(blocking=False):
            raise BusyError(SECONDS, "many pages are being drawn already")
        try:
            with self._lock:
                yield
        finally:
            self._places.release()

    def _draw(self, original: Original, page: int, width: int) -> bytes:
        try:
            image = self._process.request(PageRequest(original.path, page, width, original.kind), SECONDS)
        except ProcessEndedError as error:
            reason = f"took more than {SECONDS:g} seconds" if error.late else "crashed its drawing process"
            raise ReadError(f"page {page} of {original.name} {reason}: open the file itself") from error
        if isinstance(image, DrawingFailure):
            if image.pages:
                raise NotFoundError(f"{original.name} has {image.pages} pages, no page {page}")
            raise ReadError(f"{original.name} is damaged and cannot be drawn: open the file itself")
        assert isinstance(image, bytes)
        return image

    def start(self) -> None:
        """Start the process before the first page is requested."""
        with self._lock:
            self._process.request(PageRequest(Path(os.devnull), 1, DEFAULT_WIDTH), SECONDS)

    def close(self) -> None:
        self._process.kill()
