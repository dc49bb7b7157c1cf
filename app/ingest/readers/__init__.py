"""Read files of all supported types into Documents; an error says why a file cannot be read and what to do."""

from propcite.app.ingest.readers.files import (
    check_size,
    document_from_bytes,
    document_parts,
    find_files,
    read_bytes,
    read_document,
    source_path,
)
from propcite.app.ingest.readers.kinds import ARCHIVES, KINDS, PICTURE_SUFFIXES, SUFFIXES

__all__ = [
    "ARCHIVES",
    "KINDS",
    "PICTURE_SUFFIXES",
    "SUFFIXES",
    "check_size",
    "document_from_bytes",
    "document_parts",
    "find_files",
    "read_bytes",
    "read_document",
    "source_path",
]
