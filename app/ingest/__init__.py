"""Reading: a file or an upload becomes a Document; a file that cannot be read says why and what to do about it."""

from app.ingest.files import (
    SUFFIXES,
    check_size,
    document_from_bytes,
    find_files,
    read_bytes,
    read_document,
    source_of,
)

__all__ = [
    "SUFFIXES",
    "check_size",
    "document_from_bytes",
    "find_files",
    "read_bytes",
    "read_document",
    "source_of",
]
