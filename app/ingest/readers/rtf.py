"""Rich text files, without formatting."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from propcite.app.ingest.readers.archive import damaged
from propcite.app.ingest.readers.draft import Draft, clean, one_line
from propcite.app.ingest.readers.office import open_zip
from propcite.app.ingest.readers.rows import Row, write_rows
from propcite.retrieval.text import Document

_ITEM = re.compile(r"^(?:[\uf0b7\uf0a7•◦▪–-]|((?:\d{1,3}|[a-zA-Z])[.)]))\t\s*")
_FIELD = r"\{\\%s\s+((?:[^{}\\]|\\'[0-9a-f]{2}|\\[{}\\])*)\}"


def read_rtf(name: str, data: bytes) -> Document:
    if not data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{\\rtf"):
        open_zip(name, data, "word/")  # raises an error that names the actual type, if it is known
        raise damaged(name)
    source = data.decode("latin-1")
    try:
        words = _plain(source)
    except Exception as error:  # striprtf checks nothing, so a damaged file may raise any error
        raise damaged(name) from error
    draft = Draft()
    for is_row, lines in groupby(clean(words).split("\n"), key=lambda line: line.endswith("|")):
        if is_row:
            write_rows(draft, [Row(line[:-1].split("|")) for line in lines], named=False)
        else:
            for line in lines:
                draft.block(_ITEM.sub(_marker, line.strip()))
    return draft.document(name, _field(source, "title"), {"kind": "rtf", "author": _field(source, "author")})


def _marker(item: re.Match[str]) -> str:
    return f"{item[1]} " if item[1] else "- "


def _plain(source: str) -> str:
    from striprtf import striprtf

    untyped: Any = striprtf
    words: str = untyped.rtf_to_text(source, errors="replace")
    return words


def _field(source: str, name: str) -> str:
    field = re.search(_FIELD % name, source, re.IGNORECASE)
    return one_line(_plain(f"{{\\rtf1 {field[1]}}}")) if field else ""
