"""Decode text files: by byte order mark, as UTF-8, by the declared encoding, or by a guess."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.draft import PART, title_from_name
from propcite.app.ingest.readers.text.headings import text_headings
from propcite.app.ingest.readers.text.lines import LINE_END
from propcite.app.ingest.readers.text.wrapping import Unwrapped, unwrapped
from propcite.retrieval.text import Document

# The mark of UTF-32 begins with that of UTF-16, so it comes first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Pages that declare these encodings use supersets of them (WHATWG Encoding Standard, labels).
_SUPERSETS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
}
# The non-ASCII letters of languages written in cp1252.  Text in another code page decodes to a mix of them.
_WESTERN = (
    "àâæçéèêëîïôœùûüÿ",
    "äöüß",
    "áéíñóúü",
    "áâãàçéêíóôõú",
    "àèéìíîòóù",
    "åäöé",
    "æøåé",
    "áæéíðóöþúý",
    "àçéèíïóòúü",
)
_WESTERN_SYMBOLS = frozenset("“”„‘’‚‹›«»–—…•·¡¿€£¥¢©®™°§¶†‡ªº²³¹½¼¾±×÷µ´\xa0\xad")
_SYMBOL_IN_WORD = re.compile("[a-z][¡¿€£¥¢©®™§¶†‡ªº²³¹½¼¾±×÷µ„‚‹›«»•…“”]+[a-z]", re.IGNORECASE)
_GUESSES = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp874 koi8_r koi8_u mac_roman cp437 cp850 "
    "cp932 euc_jis_2004 gb18030 big5 big5hkscs cp949"
).split()
_CONTROLS = re.compile("[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_SAMPLE = 64 * 1024
_PIECE = 16 * _SAMPLE  # bytes that are decoded together
_BREAKS = (re.compile("\f"), re.compile(r"\n[ \t\r]*\n"))  # where a part ends: after a page, else a blank line


def read_plain(name: str, data: bytes) -> Document:
    """Return a document with the text of the file, in which each wrapped paragraph is one line."""
    return _document(name, unwrapped(decode(name, data)))


def plain_parts(name: str, data: bytes, size: int = PART) -> Iterator[Document]:
    """Yield a file in parts that end at the end of a page or after a blank line, else after any line."""
    text, line = "", 1
    for piece in chain(_pieces(name, data), [""]):
        text += piece
        while end := _part_end(text, size, is_last=not piece):
            part, text = text[:end], text[end:]
            document = _document(name, unwrapped(part, line))
            is_end = not (text or piece) or document.text.endswith("\n")
            yield document if is_end else replace(document, text=f"{document.text}\n\n")
            line += len(LINE_END.findall(part))


def _pieces(name: str, data: bytes) -> Iterator[str]:
    """Yield the text piece by piece if it is UTF-8, so that it is not held beside its bytes, else as a whole."""
    try:
        if b"\0" not in data and not data.startswith(tuple(mark for mark, _ in _MARKS)):
            for _ in _utf8_pieces(data):
                pass
            for at, piece in enumerate(_utf8_pieces(data)):
                yield piece if at else _checked(name, piece)
            return
    except UnicodeDecodeError:
        pass
    yield decode(name, data)


def _utf8_pieces(data: bytes) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    for at in range(0, len(data), _PIECE):
        if piece := decoder.decode(data[at : at + _PIECE], final=at + _PIECE >= len(data)):
            yield piece


def _part_end(text: str, size: int, *, is_last: bool) -> int:
    """Return where the first part of the text ends; 0 where this depends on what comes after it."""
    if len(text) <= 2 * size:
        return len(text) if is_last else 0
    for ends in _BREAKS:
        if found := ends.search(text, size, 2 * size):
            return found.end()
    end = text.find("\n", 2 * size - 1) + 1
    return end if end and (is_last or end < len(text)) else len(text) if is_last else 0


def _document(name: str, read: Unwrapped) -> Document:
    return Document(
        id="",
        text=read.text,
        title=title_from_name(name),
        headings=text_headings(read.text),
        places=read.places,
        metadata={"kind": "text"},
    )


def decode(name: str, data: bytes, declared: str = "") -> str:
    """Return the file's text, or raise a ReadError if the bytes are not text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _checked(name, data[len(mark) :].decode(encoding, errors="replace"))
    if b"\0" in data:
        raise _binary(name)
    text = _utf8(data)
    if text is None:
        encoding = _supported(declared) or ("cp1252" if _is_western(data) else _guess(data))
        if not encoding:
            raise _binary(name)
        text = data.decode(encoding, errors="replace")
    return _checked(name, text)


def _utf8(data: bytes) -> str | None:
    """Return the text if it is UTF-8, even with a few damaged bytes: any guess would garble every other letter."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
    damaged = text.count("\ufffd")
    non_ascii = sum(1 for char in text if char > "\x7f") - damaged
    return text if damaged * 20 <= non_ascii else None


def _supported(declared: str) -> str:
    """Return the codec for a declared encoding; empty if there is none."""
    try:
        name = codecs.lookup(declared.strip()).name if declared.strip() else ""
        b"".decode(name or "ascii")  # a codec such as rot13 exists but does not decode bytes
    except (LookupError, ValueError):
        return ""
    return _SUPERSETS.get(name, name)


def _is_western(data: bytes) -> bool:
    """Whether the bytes read as cp1252 use the letters of one Western language.

    This is checked before guessing, because charset-normalizer takes plain French for cp1257 and `café` for UTF-16.
    """
    try:
        text = data.decode("cp1252")[: 4 * _SAMPLE].lower()
    except UnicodeDecodeError:
        return False
    letters = [char for char in text if char.isalpha()]
    non_ascii = [char for char in letters if char > "\x7f"]
    symbols = {char for char in text if char > "\x7f" and not char.isalpha()}
    if not symbols <= _WESTERN_SYMBOLS or _SYMBOL_IN_WORD.search(text) or len(non_ascii) > 0.4 * len(letters):
        return False
    return any(sum(char in alphabet for char in non_ascii) >= 0.9 * len(non_ascii) for alphabet in _WESTERN)


def _guess(data: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(_non_ascii_lines(data), cp_isolation=list(_GUESSES)).best()
    return best.encoding if best else ""


def _non_ascii_lines(data: bytes) -> bytes:
    """Return whole lines with non-ASCII bytes, up to a size: only they show the encoding, and no letter is split."""
    lines: list[bytes] = []
    size = 0
    for line in data.splitlines(keepends=True):
        if not line.isascii():
            lines.append(line)
            size += len(line)
        if size > _SAMPLE:
            break
    return b"".join(lines)


def _checked(name: str, text: str) -> str:
    """Return the text, or raise an error if its control characters show that it is none."""
    sample = text[:_SAMPLE]
    if "\0" in text or len(_CONTROLS.findall(sample)) > 0.05 * len(sample):
        raise _binary(name)
    return text


def _binary(name: str) -> ReadError:
    return ReadError(f"{name} is not text (it has binary content): save it as UTF-8 text and add it again")
