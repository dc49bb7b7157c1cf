"""Bytes to text: a byte order mark, then UTF-8, then what the file declares, then a guess."""

from __future__ import annotations

import codecs
import re

from propcite.app.errors import ReadError

# The mark of UTF-32 begins with that of UTF-16, so it is asked first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# What pages call by these names is the larger encoding (WHATWG Encoding Standard, labels).
_LARGER = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
}
# The letters beyond ASCII of languages written in cp1252.  A file of another code page comes out as a mix of them.
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
_WESTERN_SIGNS = frozenset("“”„‘’‚‹›«»–—…•·¡¿€£¥¢©®™°§¶†‡ªº²³¹½¼¾±×÷µ´\xa0\xad")
_SIGN_IN_WORD = re.compile("[a-z][¡¿€£¥¢©®™§¶†‡ªº²³¹½¼¾±×÷µ„‚‹›«»•…“”]+[a-z]", re.IGNORECASE)
_GUESSES = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp874 koi8_r koi8_u mac_roman cp437 cp850 "
    "cp932 euc_jis_2004 gb18030 big5 big5hkscs cp949"
).split()
_CONTROLS = re.compile("[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")
_SAMPLE = 64 * 1024


def decode(name: str, data: bytes, declared: str = "") -> str:
    """The file's text.  Bytes that are no text are a ReadError."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _text_only(name, data[len(mark) :].decode(encoding, errors="replace"))
    if b"\0" in data:
        raise _binary(name)
    text = _utf8(data)
    if text is None:
        encoding = _known(declared) or ("cp1252" if _is_western(data) else _guess(data))
        if not encoding:
            raise _binary(name)
        text = data.decode(encoding, errors="replace")
    return _text_only(name, text)


def _utf8(data: bytes) -> str | None:
    """The text if it is UTF-8, also where a few bytes are damaged: any guess would garble every other letter."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
    damaged = text.count("\ufffd")
    beyond_ascii = sum(1 for char in text if char > "\x7f") - damaged
    return text if damaged * 20 <= beyond_ascii else None


def _known(declared: str) -> str:
    try:
        name = codecs.lookup(declared.strip()).name if declared.strip() else ""
        b"".decode(name or "ascii")  # a codec such as rot13 is known, but decodes no bytes
    except (LookupError, ValueError):
        return ""
    return _LARGER.get(name, name)


def _is_western(data: bytes) -> bool:
    """Whether one Western alphabet explains the bytes as cp1252.

    Asked before the guess, because charset-normalizer takes plain French for cp1257 and `café` for UTF-16.
    """
    try:
        text = data.decode("cp1252")[: 4 * _SAMPLE].lower()
    except UnicodeDecodeError:
        return False
    letters = [char for char in text if char.isalpha()]
    beyond = [char for char in letters if char > "\x7f"]
    signs = {char for char in text if char > "\x7f" and not char.isalpha()}
    if not signs <= _WESTERN_SIGNS or _SIGN_IN_WORD.search(text) or len(beyond) > 0.4 * len(letters):
        return False
    return any(sum(char in alphabet for char in beyond) >= 0.9 * len(beyond) for alphabet in _WESTERN)


def _guess(data: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(_telling_lines(data), cp_isolation=list(_GUESSES)).best()
    return best.encoding if best else ""


def _telling_lines(data: bytes) -> bytes:
    """Lines with bytes beyond ASCII, whole, so that no letter of two bytes is cut; the rest tells nothing."""
    lines: list[bytes] = []
    size = 0
    for line in data.splitlines(keepends=True):
        if not line.isascii():
            lines.append(line)
            size += len(line)
        if size > _SAMPLE:
            break
    return b"".join(lines)


def _text_only(name: str, text: str) -> str:
    sample = text[:_SAMPLE]
    if "\0" in text or len(_CONTROLS.findall(sample)) > 0.05 * len(sample):
        raise _binary(name)
    return text


def _binary(name: str) -> ReadError:
    return ReadError(f"{name} is not text (binary content): save it as UTF-8 text and add it again")
