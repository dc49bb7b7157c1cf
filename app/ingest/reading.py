"""Reading one source: bytes to a document and its passages, in whichever process that is done."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from propcite.app.errors import ReadError
from propcite.app.ingest.likeness import signature
from propcite.app.ingest.readers import document_from_bytes
from propcite.retrieval.splitter import PassageSplitter
from propcite.retrieval.text import Document, Passage


@dataclass(frozen=True, slots=True)
class Job:
    """A source's bytes; once it is to be read, its passages are named after `document_id`."""

    place: str
    name: str
    data: bytes
    sha256: str
    document_id: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of a job; or the reason why nothing was."""

    place: str
    sha256: str
    document: Document
    passages: list[Passage] = field(default_factory=list)
    signature: bytes = b""
    reason: str = ""
    parse_ms: float = 0.0
    split_ms: float = 0.0


def read(job: Job, splitter: PassageSplitter) -> Read:
    """No file stops the others: whatever goes wrong is told as this one's reason."""
    start = time.perf_counter()
    try:
        document = replace(document_from_bytes(job.name, job.data, job.place), id=job.document_id)
        parsed = time.perf_counter()
        passages = splitter.split(document)
        told = signature(document.text)
    except ReadError as error:
        return failed(job, str(error))
    except MemoryError:
        return failed(job, f"{job.name} needs more memory than PROPCITE_READ_MEMORY_MB allows: split it, or raise that")
    except Exception as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        return failed(job, f"{job.name} cannot be read ({what[:200]}): save it anew, or as another kind")
    split = time.perf_counter()
    return Read(job.place, job.sha256, document, passages, told, "", 1000 * (parsed - start), 1000 * (split - parsed))


def failed(job: Job, reason: str) -> Read:
    return Read(job.place, job.sha256, Document(job.document_id, "", source=job.place), reason=reason)
