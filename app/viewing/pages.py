"""Pages of PDFs as pictures; a damaged or hostile one takes neither the server nor the others along."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from propcite.app.errors import AppError, NotFoundError, ReadError
from propcite.app.library.originals import Original
from propcite.app.processes import EndedError, Process
from propcite.app.viewing.drawing import Asked, NotDrawn

NARROWEST, WIDTH, WIDEST = 200, 1000, 2000
SECONDS, MEGABYTES = 20.0, 2048
MOST_KEPT = 64  # pictures, of about 200 KB


class Pages:
    """Draws one page at a time, and remembers the last ones."""

    def __init__(self) -> None:
        self._process = Process("propcite.app.viewing.process", str(MEGABYTES))
        self._drawing = Lock()
        self._kept: OrderedDict[tuple[Original, int, int], bytes] = OrderedDict()

    def jpeg(self, original: Original, page: int, width: int = WIDTH) -> bytes:
        if original.kind != "pdf":
            raise ReadError(f"{original.name} is no PDF, so it has no pages to draw: read it as text")
        if not NARROWEST <= width <= WIDEST:
            raise AppError(f"a page is drawn {NARROWEST} to {WIDEST} points wide, not {width}")
        key = original, page, width
        with self._drawing:
            if key not in self._kept:
                self._kept[key] = self._drawn(*key)
                while len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]

    def _drawn(self, original: Original, page: int, width: int) -> bytes:
        try:
            found = self._process.ask(Asked(original.path, page, width), SECONDS)
        except EndedError as error:
            why = f"took more than {SECONDS:g} seconds" if error.late else "ended its drawing"
            raise ReadError(f"page {page} of {original.name} {why}: open the file itself") from error
        if isinstance(found, NotDrawn):
            if found.pages:
                raise NotFoundError(f"{original.name} has {found.pages} pages, no page {page}")
            raise ReadError(f"{original.name} cannot be drawn, it is damaged: open the file itself")
        assert isinstance(found, bytes)
        return found

    def begin(self) -> None:
        """Start the process before the first page is asked for."""
        with self._drawing:
            self._process.ask(Asked(Path(os.devnull), 1, WIDTH), SECONDS)

    def close(self) -> None:
        self._process.kill()
