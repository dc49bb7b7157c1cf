"""Reading: a file or an upload becomes a Document; a file that cannot be read says why and what to do about it."""

from propcite.app.ingest.readers.files import (
    check_size,
    document_from_bytes,
    find_files,
    read_bytes,
    read_document,
    source_of,
)
from propcite.app.ingest.readers.kinds import ARCHIVES, KINDS, SUFFIXES

__all__ = [
    "ARCHIVES",
    "KINDS",
    "SUFFIXES",
    "check_size",
    "document_from_bytes",
    "find_files",
    "read_bytes",
    "read_document",
    "source_of",
]
