"""The text of a draft, read from its file in a process of its own, as documents are."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePath

from propcite.app.errors import ReadError
from propcite.app.ingest.reader_pool import ParsedDocument, RawDocument, ReaderLimits, ReaderPool
from propcite.app.settings import Settings
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Heading

MAX_CHARACTERS = 3_000_000  # about a thousand pages
WORD, MARKDOWN = (".docx",), (".md", ".markdown")
DRAFTS = (*WORD, *MARKDOWN, ".txt", ".text", ".odt", ".rtf", ".html", ".htm", ".pdf")


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft: its text as it is cited, and the headings in it."""

    name: str
    text: str
    headings: tuple[Heading, ...] = ()


def read_draft(settings: Settings, name: str, data: bytes) -> Draft:
    """Return a draft's text; ReadError for a file that cannot be read, is empty or too long."""
    if not name.lower().endswith(DRAFTS):
        raise ReadError(f"{name} is no draft that can be read: give one of {', '.join(DRAFTS)}")
    if len(data) > settings.max_file_mb * 2**20:
        raise ReadError(f"{name} is larger than {settings.max_file_mb} MB: split it, or raise PROPCITE_MAX_FILE_MB")
    limits = ReaderLimits.of(1, settings.read_seconds, settings.read_memory_mb, settings.ocr)
    raw = RawDocument(name, name, data, sha256(data).hexdigest(), "draft")
    with ReaderPool(PassageSplitter(settings.passage_words), limits) as pool:
        parsed = _result(pool.submit(raw))
        if parsed.reason:
            raise ReadError(parsed.reason)
        text = "".join(passage.text for passage in parsed.passages)
    if not text.strip():
        raise ReadError(f"{name} has no text: give a file with words in it")
    if len(text) > MAX_CHARACTERS:
        raise ReadError(f"{name} has {len(text):,} characters, more than {MAX_CHARACTERS:,}: review it in parts")
    return Draft(name, text, parsed.document.headings)


def is_word(name: str) -> bool:
    return PurePath(name).suffix.lower() in WORD


def is_markdown(name: str) -> bool:
    return PurePath(name).suffix.lower() in MARKDOWN


def _result(parsed: ParsedDocument | Future[ParsedDocument]) -> ParsedDocument:
    return parsed.result() if isinstance(parsed, Future) else parsed
