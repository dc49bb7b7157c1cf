"""PDFs that come inside a request: read as uploads are, in a process of their own, and remembered by content."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from hashlib import sha256
from threading import Lock
from typing import Protocol

from propcite.app.errors import ReadError
from propcite.app.ingest.reader_pool import RawDocument, ReaderLimits, ReaderPool
from propcite.app.ingest.readers import check_size
from propcite.app.server.access import Access
from propcite.app.server.errors import RequestError
from propcite.app.server.service import Service
from propcite.app.turns.costs import Kind, Size
from propcite.retrieval.interrupting import check_interrupt
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Passage

MAX_REMEMBERED = 32  # documents: a chat sends the same ones with each of its messages
LOOK_S = 0.1  # between two looks whether the client still waits
INSTEAD = "; or set propcite.cite to false, and the model server alone reads it"
DOCUMENT = "document"  # what the remembered passages are named after


class ReadPdf(Protocol):
    """Reads a PDF; the passages' ids begin with its own id."""

    async def __call__(self, id_: str, name: str, title: str, data: bytes) -> Sequence[Passage]: ...


class SentPdfs:
    """Reads the PDFs of requests, each in its client's turn."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._remembered: OrderedDict[str, Sequence[Passage]] = OrderedDict()
        self._lock = Lock()

    def reader(self, access: Access) -> ReadPdf:
        """Return what reads for one request; it raises RequestError for a PDF that cannot be read or is too large."""

        async def read(id_: str, name: str, title: str, data: bytes) -> Sequence[Passage]:
            key = sha256(data).hexdigest()
            passages = self._recall(key)
            if passages is None:
                size = Size(passages=len(data))
                passages = await self._service.workers.run(
                    access.asking, Kind.DOCUMENT, size, lambda: self._read(name, data, key)
                )
                self._remember(key, passages)
            return [
                replace(passage, id=f"{id_}:{number}", title=title or passage.title)
                for number, passage in enumerate(passages)
            ]

        return read

    def _read(self, name: str, data: bytes, key: str) -> Sequence[Passage]:
        settings = self._service.settings
        try:
            check_size(name, len(data), settings.max_file_mb * 2**20)
        except ReadError as error:
            raise RequestError(413, str(error)) from error
        seconds = min(settings.read_seconds, settings.serve_seconds)
        limits = ReaderLimits.of(1, seconds, settings.read_memory_mb, settings.ocr)
        with ReaderPool(PassageSplitter(settings.passage_words), limits) as pool:
            parsed = pool.submit(RawDocument("", name, data, key, DOCUMENT))
            while isinstance(parsed, Future):
                check_interrupt()  # it ends the process too
                try:
                    parsed = parsed.result(LOOK_S)
                except TimeoutError:
                    continue
            if parsed.reason:
                raise RequestError(422, parsed.reason + INSTEAD)
            own_title = parsed.document.title if f"{parsed.document.title}.pdf" != name else ""
            passages = [replace(passage, title=own_title, document_id="") for passage in parsed.passages]
        self._service.limits.check_characters("", passages)
        return passages

    def _recall(self, key: str) -> Sequence[Passage] | None:
        with self._lock:
            if key in self._remembered:
                self._remembered.move_to_end(key)
            return self._remembered.get(key)

    def _remember(self, key: str, passages: Sequence[Passage]) -> None:
        with self._lock:
            self._remembered[key] = passages
            while len(self._remembered) > MAX_REMEMBERED:
                self._remembered.popitem(last=False)
