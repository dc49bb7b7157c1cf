"""JSON and JSON lines: an object with a text becomes a section; other values are written with their paths."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from typing import Any

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.draft import PART, Draft, one_line
from propcite.app.ingest.readers.plain_text import decode
from propcite.app.ingest.readers.rows import row_sentence
from propcite.retrieval.text import Document

_TEXT_KEYS = ("text", "content", "body", "page_content", "passage", "contents", "abstract", "description", "summary")
_TITLE_KEYS = ("title", "headline", "heading", "name", "subject")
_MAX_TITLE = 300
_SPACE = re.compile(r"[ \t\n\r]*")
_LINE = re.compile(r"[^\n]*(?:\n|$)")


def read_json(name: str, data: bytes) -> Document:
    return next(json_parts(name, data, inf))


def read_jsonl(name: str, data: bytes) -> Document:
    return next(jsonl_parts(name, data, inf))


def json_parts(name: str, data: bytes, size: float = PART) -> Iterator[Document]:
    """Yield a file in parts of whole items.  The items of a list are parsed one by one, an object as a whole."""
    text, draft = decode(name, data), Draft()
    if text.startswith("[", _after_space(text, 0)):
        return draft.parts(_written_list(draft, _items(name, text), "item"), name, "", {"kind": "json"}, size)
    value = _parsed(name, text)
    title = value.get("title") if isinstance(value, dict) else None
    return draft.parts(_written(draft, value), name, title if isinstance(title, str) else "", {"kind": "json"}, size)


def jsonl_parts(name: str, data: bytes, size: float = PART) -> Iterator[Document]:
    """Yield a file in parts of whole lines."""
    draft = Draft()
    return draft.parts(_written_lines(draft, name, decode(name, data)), name, "", {"kind": "json"}, size)


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Turn the errors of parsing into a ReadError."""
    try:
        yield
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise ReadError(f"{name} is not valid JSON ({error.msg} at {where}): fix it and add it again") from error
    except (RecursionError, ValueError) as error:
        raise ReadError(f"{name} is JSON nested too deeply or with too long a number: flatten it first") from error


def _parsed(name: str, text: str) -> Any:
    with _explained(name):
        return json.loads(text)


def _items(name: str, text: str) -> Iterator[Any]:
    """Yield the items of a list one by one."""
    decoder = json.JSONDecoder()
    at = _after_space(text, text.index("[") + 1)
    is_open = text[at : at + 1] != "]"
    while is_open:
        with _explained(name):
            item, at = decoder.raw_decode(text, at)
        yield item
        at = _after_space(text, at)
        is_open = text[at : at + 1] == ","
        at = _after_space(text, at + 1) if is_open else at
    with _explained(name):
        if text[at : at + 1] != "]":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
        if (rest := _after_space(text, at + 1)) < len(text):
            raise json.JSONDecodeError("Extra data", text, rest)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _written_lines(draft: Draft, name: str, text: str) -> Iterator[None]:
    """Yield after each line that is written."""
    for number, line in enumerate(_LINE.finditer(text), 1):
        if line[0].strip():
            with draft.place(f"line {number}"):
                _write_item(draft, _parsed(f"{name}, line {number},", line[0]))
            yield


def _written(draft: Draft, value: Any) -> Iterator[None]:
    """Write a list's items, and an object's lists of objects, one by one; write other values with their paths."""
    if isinstance(value, dict) and _text_key(value):
        _write_item(draft, value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, list) and inner and all(isinstance(item, dict) for item in inner):
                with draft.under(key, level=1):
                    yield from _written_list(draft, inner, f"{one_line(key)}, item")
            else:
                with draft.place(one_line(key) or "item 1"):
                    _write_lines(draft, inner, key)
            yield
    else:
        draft.block(_scalar(value))
    yield


def _written_list(draft: Draft, values: Iterable[Any], name: str) -> Iterator[None]:
    """Yield after each item that is written."""
    for number, value in enumerate(values, 1):
        with draft.place(f"{name} {number}"):
            _write_item(draft, value)
        yield


def _write_item(draft: Draft, value: Any) -> None:
    """Write an object: its title as a heading, its other fields, its text.  Without a text it is one sentence."""
    if not isinstance(value, dict):
        _write_lines(draft, value, "")
        return
    text_key = _text_key(value)
    if not text_key:
        fields = dict(_leaves(value, ""))
        draft.block(row_sentence(list(fields), list(fields.values())))
        return
    title_key = _title_key(value)
    draft.block(str(value.get(title_key, "")), level=2)
    others = {key: field for key, field in value.items() if key not in (text_key, title_key)}
    for number, (path, words) in enumerate(_leaves(others, "")):
        draft.block(f"{path}: {words}", tight=number > 0)
    draft.block(str(value[text_key]))


def _text_key(value: Mapping[str, Any]) -> str:
    """Return the key of an object's text, by the order of `_TEXT_KEYS`, or an empty string."""
    keys = {key.lower(): key for key in value if isinstance(value[key], str) and value[key].strip()}
    return next((keys[key] for key in _TEXT_KEYS if key in keys), "")


def _title_key(value: Mapping[str, Any]) -> str:
    keys = {key.lower(): key for key in value if isinstance(value[key], str) and len(value[key]) <= _MAX_TITLE}
    return next((keys[key] for key in _TITLE_KEYS if key in keys), "")


def _write_lines(draft: Draft, value: Any, path: str) -> None:
    for number, (place, words) in enumerate(_leaves(value, path)):
        draft.block(f"{place}: {words}" if place else words, tight=number > 0)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield each string or number that is not empty with its path, list items counted from 1."""
    pending = [(path, value)]  # a stack, since values may be nested almost as deep as the recursion limit
    while pending:
        place, inner = pending.pop()
        if isinstance(inner, dict):
            pending += [(f"{place}.{key}" if place else key, field) for key, field in reversed(inner.items())]
        elif isinstance(inner, list) and all(not isinstance(item, dict | list) for item in inner):
            inner = ", ".join(filter(None, map(_scalar, inner)))
            if inner:
                yield one_line(place), inner
        elif isinstance(inner, list):
            pending += [(f"{place}[{number}]", item) for number, item in reversed(list(enumerate(inner, 1)))]
        elif words := _scalar(inner):
            yield one_line(place), words


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    return one_line(value) if isinstance(value, str) else json.dumps(value)
