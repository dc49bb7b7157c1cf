"""Parse documents in a pool of processes, so that a file may hang or crash its reader without harm to the others.

`python -m propcite.app.ingest.reader_pool WORDS MEGABYTES FOLDER OCR` is such a process: it reads pickled raw documents
from standard input and writes parsed ones, with the passages of large ones in files of the folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath
from threading import local
from types import TracebackType
from typing import cast

from propcite.app.errors import ReadError
from propcite.app.ingest.near_duplicates import GrowingSignature
from propcite.app.ingest.ocr.choosing import Choice, choose
from propcite.app.ingest.passage_spool import Passages, spooled
from propcite.app.ingest.readers import document_parts
from propcite.app.ingest.readers.kinds import READING_VERSIONS
from propcite.app.processes import HelperProcess, ProcessEndedError, Step, report_step, serve_requests
from propcite.retrieval.splitter import PassageSplitter, open_headings
from propcite.retrieval.text import Document, Heading, Page, Passage, Span
from propcite.retrieval.timing import Timer

IN_PROCESS_SUFFIXES = (".txt", ".text", ".md", ".markdown")  # parsing them is as quick as sending them elsewhere
MAX_IN_PROCESS_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A source's bytes; before parsing it gets the document id that its passages are named after."""

    location: str
    name: str
    data: bytes
    sha256: str
    document_id: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document with its passages, or the reason why it could not be parsed."""

    location: str
    sha256: str
    document: Document
    passages: Passages = field(default_factory=list)
    signature: bytes = b""
    reason: str = ""
    timings: dict[str, float] = field(default_factory=dict)  # ms per step

    @property
    def read_with(self) -> int:
        """The version of the reader of its kind."""
        return READING_VERSIONS.get(self.document.metadata.get("kind", ""), 1)


def parse(raw: RawDocument, splitter: PassageSplitter, folder: Path | None = None) -> ParsedDocument:
    """Parse a document and split it into passages; very many of them go into a file in the folder, if one is given.

    Any error becomes its reason, so that no file stops the others.
    """
    timer = Timer()
    whole = _Whole()
    try:
        with timer("parse"):
            passages = spooled(_passages(raw, splitter, whole, timer), folder)
        document, minhash = whole.document(raw.document_id), whole.signature.value
    except ReadError as error:
        return _failed(raw, str(error))
    except MemoryError:
        reason = f"{raw.name} needs more memory than PROPCITE_READ_MEMORY_MB allows: split it, or raise the limit"
        return _failed(raw, reason)
    except Exception as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        return _failed(raw, f"{raw.name} cannot be read ({what[:200]}): save it again, or convert it to another format")
    return ParsedDocument(raw.location, raw.sha256, document, passages, minhash, timings=timer.spent)


@dataclass(slots=True)
class _Whole:
    """What is known of a document once its parts were read."""

    signature: GrowingSignature = field(default_factory=GrowingSignature)
    length: int = 0
    last: Document | None = None
    above: list[tuple[int, str]] = field(default_factory=list)  # the headings that the next part lies under
    headings: list[Heading] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)

    def add(self, part: Document) -> None:
        self.signature.add(part.text)
        self.headings += (heading.shifted(self.length) for heading in part.headings)
        for page in part.pages:
            span = page.span.shifted(self.length)
            if self.pages and self.pages[-1].number == page.number:
                span = Span(self.pages.pop().span.start, span.end)
            self.pages.append(Page(page.number, span))
        self.above = open_headings(part, self.above)
        self.last = replace(part, text="", headings=(), pages=(), boxes=(), places=())
        self.length += len(part.text)

    def document(self, id_: str) -> Document:
        """Return the document without its text, boxes and places, which its passages have."""
        assert self.last, "a document has a part"
        return replace(self.last, id=id_, headings=tuple(self.headings), pages=tuple(self.pages))


def _passages(raw: RawDocument, splitter: PassageSplitter, whole: _Whole, timer: Timer) -> Iterator[Passage]:
    """Yield the passages of each part in turn, and add the parts to the whole."""
    num = 0
    for part in document_parts(raw.name, raw.data, raw.location):
        start, above = whole.length, whole.above
        whole.add(part)
        with timer("split", inside="parse"):
            passages = splitter.split(replace(part, id=raw.document_id), above)
        for passage in passages:
            yield replace(passage, id=f"{raw.document_id}:{num}", start=passage.start + start)
            num += 1
        if part.places and not part.pages:  # pages are reported by their readers
            report_step(part.places[-1].name)


def _failed(raw: RawDocument, reason: str) -> ParsedDocument:
    document = Document(raw.document_id, "", source=raw.location)
    return ParsedDocument(raw.location, raw.sha256, document, reason=reason)


@dataclass(frozen=True, slots=True)
class ReaderLimits:
    """The number of reader processes, the time and memory that each may take, and what recognises text in scans.

    The time is that for a document, and for each part of a long one, such as a page of a scan.
    """

    num: int = field(default_factory=lambda: max(1, min(4, (os.cpu_count() or 1) - 1)))
    seconds: float = 300.0
    megabytes: int = 4096
    ocr: Choice = "auto"

    @classmethod
    def of(cls, num: int, seconds: float, megabytes: int, ocr: Choice = "auto") -> ReaderLimits:
        """Build limits from settings, where 0 readers means as many as there are spare cores."""
        limits = cls(seconds=seconds, megabytes=megabytes, ocr=ocr)
        return replace(limits, num=num) if num else limits


class ReaderPool:
    """Parses documents in processes that are started when they are first needed."""

    def __init__(
        self,
        splitter: PassageSplitter,
        limits: ReaderLimits,
        on_step: Callable[[RawDocument, Step], object] = lambda _raw, _step: None,
    ) -> None:
        """`on_step` is called in threads of the pool after each part of a long document."""
        self.num = limits.num
        self._splitter, self._limits, self._on_step = splitter, limits, on_step
        self._folder = tempfile.TemporaryDirectory(prefix="propcite-")
        self._threads = ThreadPoolExecutor(limits.num, "propcite-readers")
        self._thread_data = local()  # one process per thread
        self._processes: list[HelperProcess] = []

    def __enter__(self) -> ReaderPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in list(self._processes):
            process.kill()
        self._threads.shutdown(wait=True)
        self._folder.cleanup()

    def submit(self, raw: RawDocument) -> ParsedDocument | Future[ParsedDocument]:
        """Begin to parse a document; small plain text is parsed before this returns."""
        if PurePath(raw.name).suffix.lower() in IN_PROCESS_SUFFIXES and len(raw.data) <= MAX_IN_PROCESS_BYTES:
            return parse(raw, self._splitter)
        return self._threads.submit(self._parse_in_process, raw)

    def _parse_in_process(self, raw: RawDocument) -> ParsedDocument:
        if not hasattr(self._thread_data, "process"):
            settings = str(self._splitter.num_words), str(self._limits.megabytes)
            arguments = *settings, self._folder.name, self._limits.ocr
            self._thread_data.process = HelperProcess(__name__, *arguments)
            self._processes.append(self._thread_data.process)
        try:
            parsed = self._thread_data.process.request(raw, self._limits.seconds, partial(self._on_step, raw))
        except ProcessEndedError as error:
            return _failed(raw, _ended(raw.name, self._limits.seconds if error.late else 0))
        assert isinstance(parsed, ParsedDocument)
        return parsed


def _ended(name: str, seconds: float) -> str:
    if seconds:
        return f"{name} was not read within {seconds:g} seconds: split it, or raise PROPCITE_READ_SECONDS"
    return f"{name} crashed its reader: it is damaged or malicious, save it again or leave it out"


def run_reader(words: str, megabytes: str, folder: str, ocr: str) -> None:
    """Parse what the parent process sends until it ends."""
    choose(cast(Choice, ocr))
    splitter = PassageSplitter(int(words))
    serve_requests(lambda raw: parse(raw, splitter, Path(folder)), int(megabytes))


if __name__ == "__main__":
    # The parent cannot unpickle classes of `__main__`, so this process uses those of the imported module.
    from propcite.app.ingest import reader_pool

    reader_pool.run_reader(*sys.argv[1:])
