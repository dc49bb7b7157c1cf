"""Plain text: the words exactly as they stand in the file."""

from __future__ import annotations

from propcite.app.ingest.readers.decoding import decode
from propcite.app.ingest.readers.draft import clean, stem
from propcite.retrieval.text import Document


def read_plain(name: str, data: bytes) -> Document:
    return Document(id="", text=clean(decode(name, data)), title=stem(name), metadata={"kind": "text"})
