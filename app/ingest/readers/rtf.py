"""Rich text files: headings by style, lists with their labels, tables row by row, notes; not deleted or hidden text."""

from __future__ import annotations

from propcite.app.ingest.readers.archive import damaged
from propcite.app.ingest.readers.draft import Draft
from propcite.app.ingest.readers.office import open_zip
from propcite.app.ingest.readers.rtf_blocks import Blocks
from propcite.app.ingest.readers.rtf_text import TextReader
from propcite.retrieval.text import Document


def read_rtf(name: str, data: bytes) -> Document:
    if not data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{\\rtf"):
        open_zip(name, data, "word/")  # raises an error that names the actual type, if it is known
        raise damaged(name)
    draft = Draft()
    reader = TextReader(Blocks(name, draft))
    reader.read(data.decode("latin-1"))
    fields = {"kind": "rtf", "author": reader.field("author"), "date": reader.date}
    return draft.document(name, reader.blocks.title or reader.field("title"), fields)
