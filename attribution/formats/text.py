"""Prepare texts for files: printable characters, UTF-8, JSON, and web addresses that lead to words."""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any
from urllib.parse import quote, urldefrag

NUM_END_WORDS = 5  # a longer quote is located by this many words of its beginning and of its end

_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK_CONTROL = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """Replace control characters, one for one: by a space where they separate words, else by �."""
    return _CONTROL.sub("\ufffd", _BLANK_CONTROL.sub(" ", text))


def safe(text: str) -> str:
    """Escape any text for HTML; a carriage return becomes a reference, as parsers would read it as a line feed."""
    return escape(printable(text)).replace("\r", "&#13;")


def one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot hold, by �; every other character keeps its place."""
    return _SURROGATE.sub("\ufffd", text)


def utf8(text: str) -> bytes:
    return without_surrogates(text).encode()


def json_text(data: Any, *, indented: bool = True) -> str:
    """Return the text of a JSON file, which ends with a line break."""
    return without_surrogates(json.dumps(data, ensure_ascii=False, indent=2 if indented else None)) + "\n"


def is_address(source: str) -> bool:
    return source.lower().startswith(("http://", "https://"))


def link_to_words(address: str, words: str) -> str:
    """Return a link to a web page on which browsers highlight these words (a text fragment).

    >>> link_to_words("https://example.org/a#top", "It cost 5-6 million.")
    'https://example.org/a#:~:text=It%20cost%205%2D6%20million.'
    >>> link_to_words("https://example.org/a", "one two three four five six seven eight nine ten eleven")
    'https://example.org/a#:~:text=one%20two%20three%20four%20five,seven%20eight%20nine%20ten%20eleven'
    """
    parts = words.split()
    ends = [parts] if len(parts) <= 2 * NUM_END_WORDS else [parts[:NUM_END_WORDS], parts[-NUM_END_WORDS:]]
    return f"{urldefrag(address).url}#:~:text={','.join(map(_percent_encoded, ends))}"


def _percent_encoded(words: list[str]) -> str:
    # In a text fragment `-` and `,` are syntax; quote() encodes the comma but not the dash.
    return quote(" ".join(words), safe="", errors="replace").replace("-", "%2D")
