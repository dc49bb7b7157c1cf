"""The groups, control words and characters of a rich text file, in the order in which they stand."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

_TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<byte>[0-9a-fA-F]{2})|\\(?P<sign>[^a-zA-Z])"
    r"|(?P<brace>[{}])|[\r\n]+|(?P<text>[^\\{}\r\n]+)",
    re.DOTALL,
)
# The code pages of the character sets that fonts have.
_CHARSETS = {77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gbk", 136: "cp950", 161: "cp1253", 162: "cp1254"}
_CHARSETS |= {163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250"}
_WIDE = ("cp932", "cp949", "gbk", "cp950")  # of one or two bytes


class Token(NamedTuple):
    """A brace, a control word or sign with its number, or text as bytes of a code page."""

    kind: str
    word: str
    number: int | None = None


def tokens(source: str) -> Iterator[Token]:
    """Yield the tokens of a file whose bytes are the characters of `source`, without binary data."""
    place = 0
    while found := _TOKEN.match(source, place):
        place = found.end()
        kind = found.lastgroup
        if found["word"]:
            number = int(found["number"]) if found["number"] else None
            if found["word"] == "bin":
                place += max(number or 0, 0)
            else:
                yield Token("word", found["word"], number)
        elif kind == "byte":
            yield Token("byte", chr(int(found["byte"], 16)))
        elif kind:
            yield Token(kind, found[kind])


def code_page(charset: int, default: str) -> str:
    """Return the code page of a font's character set; the document's own if the font has none."""
    return _CHARSETS.get(charset, "cp1252" if charset == 0 else default)


def page_named(number: int) -> str:
    """Return the codec of a numbered code page; the western one if Python has none.

    >>> page_named(1251), page_named(99999)
    ('cp1251', 'cp1252')
    """
    try:
        return codecs.lookup({10000: "mac_roman", 65001: "utf-8"}.get(number, f"cp{number}")).name
    except LookupError:
        return "cp1252"


@dataclass(slots=True)
class Bytes:
    """Bytes of a code page that wait for the rest of their character."""

    page: str = "cp1252"
    pending: bytes = b""

    def add(self, char: str, page: str) -> str:
        """Return the characters that end with this byte; empty if more are to come."""
        self.page = page
        self.pending += char.encode("latin-1", errors="replace")
        if page in _WIDE and len(self.pending) == 1:
            try:
                self.pending.decode(page)
            except UnicodeDecodeError:
                return ""  # the first of two
        return self.end()

    def end(self) -> str:
        """Return what waits."""
        data, self.pending = self.pending, b""
        return data.decode(self.page, errors="replace")
