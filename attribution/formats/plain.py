"""Texts as files can hold them, character for character in the same places."""

from __future__ import annotations

import json
import re
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK_CONTROL = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """The same text for a document: a control character is a space where it parts words, else �."""
    return _CONTROL.sub("\ufffd", _BLANK_CONTROL.sub(" ", text))


def one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def encoded(text: str) -> bytes:
    """UTF-8; half a character (a lone surrogate) is written as �."""
    return _SURROGATE.sub("\ufffd", text).encode()


def json_text(data: Any, *, indented: bool = True) -> str:
    return _SURROGATE.sub("\ufffd", json.dumps(data, ensure_ascii=False, indent=2 if indented else None)) + "\n"
